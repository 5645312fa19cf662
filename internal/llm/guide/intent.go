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

// Parts of patterns.
const (
	// file is what looks like the name of a file.
	file = "[`\"'“]?" + `((?:[\w./@~-]|\p{Han})*[\w-]\.\w+|[\w.-]+/[\w./-]*|README|Makefile|Dockerfile|LICENSE)` + "[`\"'”]?"
	// project is what a person calls the whole.
	project = `(?:(?:this|the|your|my)\s+)?(?:whole\s+|entire\s+)?(?:project|repo|repository|code\s?base|code|program|folder|directory|app)`
	here    = `(?:这个|本|该|此|整个|当前)?(?:项目|仓库|代码库|代码|工程|程序|目录)`
	become  = `(?:替换为|替换成|替换|改成|改为|换成|换为)`
)

// patterns are tried in order; the first that matches wins.
var patterns = sync.OnceValue(func() []pattern {
	const before = `(?is)^\s*(?:please\s+|(?:can|could|would)\s+you\s+(?:please\s+)?|i(?:'d| would)\s+like\s+(?:you\s+)?to\s+|i\s+want\s+(?:you\s+)?to\s+|let's\s+|(?:请你?|麻烦你?|你?能不能|能否|可以)?(?:帮我|给我|为我)?(?:一下)?\s*)?`
	const after = `\s*(?:,?\s*please|吧|吗|呢|一下)?\s*[.!?。！？]*\s*$`
	var list []pattern
	add := func(make func(m []string) intent, exprs ...string) {
		for _, e := range exprs {
			list = append(list, pattern{regexp.MustCompile(before + e + after), make})
		}
	}
	always := func(i intent) func([]string) intent { return func([]string) intent { return i } }
	addTalk(add, always)
	addChanges(add)
	addWork(add, always)
	addLooks(add, always)
	return list
})

type adder func(make func(m []string) intent, exprs ...string)

// addTalk adds what is said rather than asked for.
func addTalk(add adder, always func(intent) func([]string) intent) {
	add(always(help{}), `(?:help|commands|menu|\?+|what\s+can\s+(?:you|i)\s+(?:do|ask|say).*|how\s+(?:do|can)\s+i\s+use\s+(?:this|it|lathe|you))`,
		`(?:帮助|菜单|命令|你?(?:能|会|可以)(?:做|干|帮我做)(?:什么|些什么|啥).*|怎么用|如何使用)`)
	add(always(greeting{}), `(?:hi+|hello+|hey+|yo|howdy|greetings|good\s+(?:morning|afternoon|evening|day))(?:[\s,]+(?:there|lathe|you|all|world|everyone))?`,
		`(?:你好+|您好|嗨|哈[喽啰]|早上好|下午好|晚上好|早|在)(?:呀|啊)?`)
	add(always(thanks{}), `(?:thanks?|thank\s+you|thx|cheers|great|nice|cool|ok(?:ay)?|good\s+job|bye|goodbye)(?:[\s,]+(?:a\s+lot|so\s+much|very\s+much|you|lathe))?`,
		`(?:谢谢|多谢|感谢|好的?|不错|再见)(?:你|您|啦|了)?`)
	add(always(about{}), `(?:who|what)\s+are\s+you`, `(?:what|which)\s+(?:llm|model|ai)\s+(?:is\s+this|are\s+you|do\s+you\s+use).*`, `what\s+is\s+lathe`, `are\s+you\s+(?:a|an)\s+.{1,40}`,
		`你是(?:谁|什么|哪个|啥).*`, `(?:用|使用)的?是?什么模型`)
	add(always(connect{}),
		`(?:how\s+(?:do|can|to)\s+(?:i\s+)?)?(?:connect|log\s?in|sign\s+in|set\s+up|configure|use|add|switch)\s*(?:to\s+|with\s+|in\s+|into\s+)?(?:an?\s+|the\s+|my\s+|another\s+|other\s+|real\s+)*(?:language\s+|llm\s+|ai\s+)?(?:models?|providers?|llms?|api\s+keys?|keys?|account|claude|gpt\S*|chatgpt|gemini|openai|anthropic|ollama|deepseek|qwen|openrouter|lm\s+studio)`,
		`(?:怎么|如何|怎样)?(?:连接|接入|配置|使用|设置|登录|换)(?:到|一个|其他)?(?:语言|大)?(?:模型|密钥|服务商|账号|claude|gpt\S*|gemini|openai|anthropic|ollama|deepseek|通义千问|qwen)`)
	add(always(undo{}), `(?:undo|revert|roll\s?back|take)(?:\s+(?:it|that|this|everything|all|the\s+(?:last\s+)?(?:changes?|edits?|demo)|my\s+(?:last\s+)?(?:changes?|edits?)))*(?:\s+back)?`,
		`(?:撤销|撤回|还原|回退|恢复)(?:刚才|上一步|上次|所有|全部)?的?(?:修改|改动|更改|操作|演示)?`)
	add(always(demo{}), `(?:(?:show|give|make|do|run|try|see)\s+)?(?:me\s+)?(?:(?:an?|the|some)\s+)?(?:(?:small|simple|harmless|example|sample|test|canned)\s+)*(?:demo|demonstration|change|edit|diff)`,
		`(?:演示|示范|展示|看看|看|做)(?:一下|一个|个|下)?(?:简单的|示例)?(?:修改|改动|更改|演示|示例|例子|差异)?`)
}

// addChanges adds what changes files.
func addChanges(add adder) {
	unq := func(i ...int) func(m []string, n int) string {
		return func(m []string, n int) string { return unquote(m[i[n]]) }
	}
	swap := func(old, new, file int) func([]string) intent {
		at := unq(old, new, file)
		return func(m []string) intent { return replace{at(m, 0), at(m, 1), at(m, 2)} }
	}
	add(swap(1, 2, 3), `(?:replace|change|rename)\s+(.+?)\s+(?:with|to|by|into|->|=>)\s+(.+?)\s+in\s+(\S+?)`,
		`(?:替换|把|将)\s*(.+?)\s*`+become+`\s*(.+?)\s+in\s+(\S+?)`)
	add(swap(2, 3, 1), `in\s+(\S+?),?\s+(?:replace|change|rename)\s+(.+?)\s+(?:with|to|by|into|->|=>)\s+(.+?)`,
		`在\s*(\S+?)\s*(?:中|里面?)?\s*(?:把|将)\s*(.+?)\s*`+become+`\s*(.+?)`,
		`(?:把|将)\s*`+file+`\s*(?:中|里面?)?的?\s*(.+?)\s*`+become+`\s*(.+?)`)
	mend := func(m []string) intent { return proofread{readmeOr(m[1])} }
	add(mend,
		`(?:fix|correct|find|check|mend|repair|look\s+for)\s+(?:for\s+)?(?:(?:the|a|any|all|some)\s+)*(?:typos?|spelling(?:\s+(?:mistakes?|errors?))?|misspellings?)(?:\s+(?:in|of|from)\s+(?:the\s+)?(?:file\s+)?(\S+?))?`,
		`(?:spell\s?-?check|proof\s?-?read)\s+(?:the\s+)?(\S+?)`,
		`(?:修复|修正|改正|纠正|检查|修改|改|修)\s*(?:一下)?\s*(\S+?)?\s*(?:中|里面?|文件)*的?(?:错别字|拼写错误|拼写|笔误|错字)`)
	add(func(m []string) intent { return create{unquote(m[1]), unquote(m[2])} },
		`(?:create|write|make|add)\s+(?:an?\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?(\S+?)\s+(?:with(?:\s+(?:the\s+)?(?:content|text))?|containing|that\s+says|saying)\s*:?\s+(.+)`,
		`(?:create|write|make|add)\s+(?:an?\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?(\S+?)\s*[:：]\s*(.+)`,
		`(?:新建|创建|写|写入)\s*(?:一个)?(?:文件)?\s*(\S+?)\s*[,，]?\s*(?:内容为|内容是|写上|里面写|:|：)\s*(.+)`)
}

// readmeOr returns the file that a request names; none, or "the readme", is README.md.
func readmeOr(name string) string {
	switch name = unquote(name); strings.ToLower(name) {
	case "", "readme", "it", "this", "docs", "project", "repo", "here":
		return "README.md"
	}
	return name
}

// addWork adds what runs commands and counts.
func addWork(add adder, always func(intent) func([]string) intent) {
	add(always(test{}), `(?:run|execute|do|start|try|check)\s+(?:(?:the|all|my|your|its|these|project's)\s+)*(?:unit\s+)?(?:tests?|test\s+suite)(?:\s+(?:of|in|for)\s+`+project+`)?`,
		`test(?:\s+(?:it|everything|`+project+`))?`, `(?:do|does|are)\s+(?:the\s+|all\s+)*tests?\s+(?:pass|passing|run|work|green).*`,
		`(?:运行|执行|跑|跑一下|做)\s*(?:一下)?(?:所有|全部|单元|`+here+`的?)*\s*(?:测试|tests?)`, `测试(?:一下)?(?:`+here+`)?`, `(?:所有)?测试(?:能|都)?(?:通过|过)(?:了)?`)
	add(always(test{build: true}), `(?:build|compile)(?:\s+(?:it|this|`+project+`))?`, `does\s+(?:it|this|`+project+`)\s+(?:build|compile)`, `(?:构建|编译)(?:一下)?(?:`+here+`)?`)
	add(func(m []string) intent { return run{gitFor(m[1])} },
		`(?:show\s+(?:me\s+)?)?(?:the\s+)?(what(?:'s|\s+has|\s+is)?\s+changed|recent\s+(?:changes|commits)|last\s+commits?|history|status)(?:\s+(?:here|recently|lately))?`,
		`(?:看看|查看)?(改了什么|有(?:哪些|什么)(?:修改|改动)|最近的?(?:提交|修改|改动|历史)|提交历史|提交记录|状态)`)
	command := func(m []string) intent { return run{unquote(m[1])} }
	add(command, "(?:run|execute)\\s+(?:the\\s+)?(?:command\\s+)?(.+?)", `(?:运行|执行)\s*(?:命令\s*)?(.+?)`, `((?:git\s+(?:status|diff|log|show|branch|remote)|ls|pwd)(?:\s[^;&|<>$()]*)?)`)
	add(func(m []string) intent { return countLines{referred(unquote(m[1]))} },
		`(?:how\s+many|count)\s+(?:the\s+|all\s+)?lines(?:\s+of(?:\s+code)?)?(?:\s+(?:are\s+there\s+|has\s+)?in\s+(?:`+project+`|(\S+?)))?(?:\s+(?:are\s+there|do\s+we\s+have|are\s+here))?`,
		`(?:`+here+`)?(?:一共|总共)?(?:有多少|数一下|统计|多少)\s*(?:(\S+?)\s*的?)?(?:代码)?行数?(?:代码)?`)
	add(func(m []string) intent { return countFiles{m[1]} },
		`(?:how\s+many|count)\s+(?:the\s+|all\s+)?(?:(\S+)\s+)?files(?:\s+(?:are\s+there|are\s+here|do\s+we\s+have|does\s+`+project+`\s+have|are))?(?:\s+in\s+`+project+`|\s+here)?`,
		`(?:`+here+`)?(?:里面?|中)?(?:一共|总共)?(?:有多少|数一下|统计|有几|多少)\s*(?:个)?\s*(\S*?)\s*(?:个)?文件(?:数|数量)?`)
	add(func(m []string) intent { return count{unquote(m[1])} },
		`(?:how\s+many|count)\s+(?:the\s+|all\s+|occurrences\s+of\s+)*(.+?)(?:\s+(?:are\s+there|are\s+here))?`, `统计\s*(.+?)\s*(?:的?(?:数量|次数|出现次数))?`)
}

// gitFor returns the command that answers a question about changes.
func gitFor(question string) string {
	for _, word := range []string{"recent", "last", "history", "最近", "历史", "记录"} {
		if strings.Contains(strings.ToLower(question), word) {
			return "git log --oneline -n 15"
		}
	}
	return "git status --short --branch"
}

// addLooks adds what only reads. The most general come last.
func addLooks(add adder, always func(intent) func([]string) intent) {
	readFile := func(m []string) intent { return read{referred(m[1])} }
	add(readFile,
		`(?:read|show(?:\s+me)?|open|cat|display|print|view|explain|describe|summari[sz]e|see|look\s+at|what(?:'s|\s+is|\s+does)(?:\s+(?:in|inside|it\s+say\s+in))?)\s+(?:the\s+)?(?:(?:content|contents|text)\s+of\s+)?(?:the\s+)?(?:file\s+)?`+file+`(?:\s+(?:say|do|does|contain|about|file))?`,
		`(?:看看|看一下|看|查看|读取|阅读|读一下|读|打开|显示|解释一下|解释|总结一下|总结|说明)\s*(?:文件)?\s*`+file+`\s*(?:文件)?(?:的?内容|里?(?:面)?(?:的?内容|写了什么|有什么|说了什么|讲什么))?`,
		file+`\s*(?:文件)?\s*(?:里面?|中)?(?:是|有|写了|写的是|讲了|说了)?(?:些)?(?:什么|做什么|干什么|的?内容)(?:的)?`, file)
	add(func(m []string) intent { return read{strings.TrimSuffix(cmpOr(referred(unquote(m[1])), "."), "/")} },
		`(?:list|show(?:\s+me)?)\s+(?:me\s+)?(?:(?:the|all|all\s+the)\s+)?(?:files?|contents?|tree|structure|director(?:y|ies)|folders?)(?:\s+(?:in|of|under|below)\s+(?:`+project+`|(?:the\s+)?(?:folder\s+|directory\s+)?(\S+?)(?:\s+(?:folder|directory))?))?`,
		`what(?:'s|\s+is)\s+(?:in|inside)\s+`+project+`()`,
		`(?:what|which)\s+files\s+(?:are|do\s+we\s+have)(?:\s+(?:there|here))?(?:\s+in\s+(?:`+project+`|(\S+?)))?`,
		`(?:列出|显示|看看|查看|有哪些|有什么)\s*(?:(\S+?)\s*(?:里面?|中|下|目录下)?的?)?(?:所有|全部)?(?:文件|目录|结构|目录结构)`)
	add(always(tour{}),
		`.*\b(?:tour|overview|look\s+around)\b.*`, `what(?:'s|\s+is|\s+does)\s+(?:this|it|here|`+project+`)(?:\s+(?:project|repo|repository|code))?(?:\s+(?:do|for|about|all\s+about))?`, `what\s+(?:am\s+i\s+looking\s+at|does\s+it\s+do)`,
		`(?:explain|describe|summari[sz]e|analy[sz]e|introduce|tell\s+me\s+(?:more\s+)?about|walk\s+me\s+through|show\s+me|understand|review|look\s+at|explore)\s+(?:this|it|`+project+`)(?:\s+to\s+me)?(?:\s+structure)?`,
		`how\s+(?:do|can|should)\s+(?:i|we|you)\s+(?:run|start|use|build|test|install)\s+(?:this|it|the\s+(?:unit\s+)?tests?|`+project+`)`,
		`(?:explain|describe|show\s+me|what(?:'s|\s+is))\s+(?:the\s+)?(?:architecture|structure|layout|design)(?:\s+of\s+`+project+`)?`,
		`(?:`+here+`)?(?:怎么|如何|怎样)(?:运行|启动|使用|构建|测试|安装|开始)(?:`+here+`)?`,
		`how\s+(?:is|does)\s+(?:this|it|`+project+`)\s+(?:organi[sz]ed|structured|laid\s+out|built\s+up|work)`, `(?:where\s+(?:do|should)\s+i\s+(?:start|begin)|getting\s+started)`,
		`(?:介绍|概览|概述|总览|参观|讲解|分析|说明|解释|总结|浏览|了解|看看|看)(?:一下|下)?(?:我的|你的|我们的)?(?:`+here+`).*`, `(?:介绍|概览|概述|参观|导览)(?:一下|下)?`,
		`(?:这|它|`+here+`)(?:个)?(?:到底|主要|究竟)?(?:是|做|有|能|用来|是用来|是用来做|干)(?:些)?(?:做|干|用来做|关于)?(?:什么|啥|什么用|什么功能|什么项目|什么的).*`,
		`(?:`+here+`)的?(?:结构|架构|作用|功能|用途)(?:是(?:什么|怎样的|怎么样的)|怎么样)?`)
	add(func(m []string) intent { return find{unquote(m[1])} },
		`(?:find|search(?:\s+for)?|grep(?:\s+for)?|where\s+(?:is|are|do(?:es)?|do\s+(?:we|you|i))|look\s+(?:for|up)|who\s+(?:calls|uses)|what\s+(?:calls|uses))\s+(?:(?:the|all|every|any|uses\s+of|usages\s+of|definition\s+of|function|method|class|type|variable|word|files?|called|named|use|uses)\s+)*(.+?)(?:\s+(?:is\s+|are\s+|gets?\s+)?(?:defined|used|called|declared|implemented|live|in\s+`+project+`|here))*`,
		`(?:查找|搜索|寻找|找一下|找出|找到|找|查|搜)\s*(?:一下|所有|全部)?(?:的)?\s*(.+?)(?:在哪里?|的?(?:定义|用法|位置))?`, `(.+?)\s*(?:在哪里?|在哪儿|定义在哪里?|在什么地方)(?:定义|使用|调用)?(?:的)?`)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// longest is how long a prompt may be, in bytes, to be compared with patterns.
const longest = 2000

// parse recognises a request; anything else gets the nearest that can be done.
func parse(prompt string) intent {
	prompt = strings.TrimSpace(prompt)
	if prompt == "" {
		return help{}
	}
	if len(prompt) <= longest {
		for _, p := range patterns() {
			if m := p.re.FindStringSubmatch(prompt); m != nil {
				return p.make(m)
			}
		}
	}
	return nearestTo(prompt)
}

// referred is the name of a file without the "@" that attaches it to a prompt.
func referred(name string) string { return strings.TrimPrefix(name, "@") }

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

// lazily compiles an expression when it is first needed: most runs of lathe have
// no use for the guide.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
