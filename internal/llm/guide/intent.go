package guide

import (
	"regexp"
	"strings"
	"sync"
)

// intent is a request that the guide recognised.
type intent interface {
	// next returns what to do after what has happened so far.
	next(state) reply
}

// pattern makes an intent of a prompt that matches.
type pattern struct {
	re   *regexp.Regexp
	make func(m []string) intent
}

// patterns are tried in order; the first that matches wins.
var patterns = sync.OnceValue(func() []pattern {
	p := func(expr string, mk func(m []string) intent) pattern {
		return pattern{regexp.MustCompile(`(?is)^\s*(?:please\s+|请)?` + expr + `\s*$`), mk}
	}
	return []pattern{
		p(`(?:replace|change|rename|替换|把)\s*(.+?)\s*(?:with|to|by|->|=>|替换为|替换成|改成|改为|换成)\s*(.+?)\s+in\s+(\S+?)[.。]?`,
			func(m []string) intent { return replace{old: unquote(m[1]), new: unquote(m[2]), file: unquote(m[3])} }),
		p(`在\s*(\S+?)\s*(?:中|里)\s*(?:把|将)\s*(.+?)\s*(?:替换为|替换成|改成|改为|换成)\s*(.+?)[.。]?`,
			func(m []string) intent { return replace{old: unquote(m[2]), new: unquote(m[3]), file: unquote(m[1])} }),
		p(`(?:create|write|make|add|新建|创建)\s+(?:a\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?(\S+?)\s*(?:with(?:\s+(?:the\s+)?(?:content|text))?|containing|that says|saying|内容为|内容是|:|：)\s*(.+)`,
			func(m []string) intent { return create{file: unquote(m[1]), content: unquote(m[2])} }),
		p(`(?:run|execute|运行|执行)\s+(?:the\s+|all\s+)?(?:(?:unit\s+)?tests?|测试)[.。!]?`, func([]string) intent { return test{} }),
		p(`(?:test|测试)(?:\s+(?:it|this|the project|项目))?[.。!]?`, func([]string) intent { return test{} }),
		p(`(?:run|execute|运行|执行)\s+(?:the\s+command\s+|command\s+|命令\s*)?(.+)`,
			func(m []string) intent { return run{command: unquote(m[1])} }),
		p(`(?:how many|count)\s+(?:the\s+|all\s+)?(?:lines)(?:\s+of(?:\s+code)?)?(?:\s+(?:are\s+there\s+)?in\s+(\S+?))?(?:\s+are there)?[?.]?`,
			func(m []string) intent { return countLines{path: unquote(m[1])} }),
		p(`(?:how many|count)\s+(?:the\s+|all\s+)?(?:(\S+)\s+)?files(?:\s+(?:are\s+there|do we have))?(?:\s+in\s+\S+)?[?.]?`,
			func(m []string) intent { return countFiles{kind: m[1]} }),
		p(`(?:有多少|数一下|统计)\s*(\S*?)\s*(?:个)?文件[?？.。]?`, func(m []string) intent { return countFiles{kind: m[1]} }),
		p(`(?:how many|count|统计)\s+(?:the\s+|all\s+|occurrences of\s+)*(.+?)[?.]?`,
			func(m []string) intent { return count{what: unquote(m[1])} }),
		p(`(?:find|search(?:\s+for)?|grep(?:\s+for)?|where\s+(?:is|are|do(?:es)?)|look\s+for|查找|搜索|找)\s*(?:the\s+|all\s+|uses\s+of\s+|usages\s+of\s+)*(.+?)(?:\s+(?:defined|used|in\s+(?:the|this)\s+(?:code|repo|repository|project)))?[?.]?`,
			func(m []string) intent { return find{what: unquote(m[1])} }),
		p(`(?:read|show(?:\s+me)?|open|cat|display|print|explain|看看|查看|读|打开)\s*(?:the\s+)?(?:file\s+)?([\w./@~-]*[\w-]\.[\w-]+|[\w.-]+/[\w./-]+|README|Makefile|Dockerfile|LICENSE|go\.mod)[?.]?`,
			func(m []string) intent { return read{file: unquote(m[1])} }),
		p(`.*(?:tour|overview|what(?:'s| is| does) (?:this|the) (?:project|repo|repository|code)|(?:explain|describe|summari[sz]e) (?:this|the) (?:project|repo|repository|codebase|code)|look around|introduce|介绍|概览|这是什么|项目结构).*`,
			func([]string) intent { return tour{} }),
	}
})

// parse recognises a request; anything else gets the help.
func parse(prompt string) intent {
	prompt = strings.TrimSpace(prompt)
	if len(prompt) <= 2000 {
		for _, p := range patterns() {
			if m := p.re.FindStringSubmatch(prompt); m != nil {
				return p.make(m)
			}
		}
	}
	return help{}
}

// unquote removes one pair of quotes around a phrase.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{"\"\"", "''", "``", "“”", "「」", "‘’"} {
		r := []rune(q)
		if strings.HasPrefix(s, string(r[0])) && strings.HasSuffix(s, string(r[1])) && len([]rune(s)) >= 2 {
			return strings.TrimSuffix(strings.TrimPrefix(s, string(r[0])), string(r[1]))
		}
	}
	return s
}
