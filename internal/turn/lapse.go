package turn

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/prompt"
)

const (
	emptyText = "Your last answer was empty: it said nothing and called no tool. If work remains, go on with it now; otherwise answer the user."
	cutAnswer = "Your last answer was cut off at your output limit, and called no tool. If work remains, go on with it now; if it was your answer to the user, give it once more in full, and shorter."
	wroteCall = "Your last answer has a tool call in its text, so nothing was called. Make the call itself, through the tools that you are offered."
	announced = "Your last answer announces what you do next, but it called no tool, and so the turn would end. If you meant to do it now, do it; otherwise answer the user."
)

// nudges reports whether the answer that would end the turn is a lapse that the model can recover
// from, and has the next request point it out: once for each kind, except that an answer may be cut
// off up to [maxCuts] times.
func (t *Turn) nudges(user *lathe.Message) bool {
	if prompt.Mark(user) != nil {
		return false
	}
	text := t.lapse()
	if text == "" || slices.Contains(t.closing.nudged, text) && text != cutAnswer || t.closing.last && text != emptyText {
		return false
	}
	t.closing.nudged, t.closing.nudge = append(t.closing.nudged, text), text
	return true
}

// lapse returns what the model has to be told about its newest answer, or "".
func (t *Turn) lapse() string {
	last := &t.History[len(t.History)-1]
	info, ok := last.Info.(*lathe.Assistant)
	if !ok || info.Error != nil || info.Summary {
		return ""
	}
	var words []string
	for _, p := range last.Parts {
		if text, ok := p.Body.(*lathe.Text); ok && strings.TrimSpace(text.Text) != "" {
			words = append(words, strings.TrimSpace(text.Text))
		}
	}
	text := strings.Join(words, "\n")
	switch {
	case info.Finish == lathe.FinishLength:
		return cutAnswer
	case info.Finish != lathe.FinishStop:
		return ""
	case text == "":
		return emptyText
	case len(t.offered.defs) == 0:
		return ""
	case writesCall(text, t.offered.defs):
		return wroteCall
	case announces(text):
		return announced
	}
	return ""
}

// callMarks are how a call begins when whoever serves the model did not recognise it as one.
var callMarks = []string{"<tool_call>", "<function=", "<function_calls>", "<invoke name=", "<|tool_call", "[TOOL_CALLS]", "<｜tool▁call▁begin｜>", "<｜tool▁calls▁begin｜>"}

var callJSON = lazily(`"name"\s*:\s*"([\w-]+)"\s*,\s*"(?:arguments|parameters|input)"\s*:\s*\{`)

// writesCall reports whether an answer ends with a call to an offered tool written as text.
func writesCall(text string, tools []llm.Tool) bool {
	end := strings.TrimRight(text, " \n`")
	if end == "" || !strings.ContainsAny(end[len(end)-1:], ">}]") {
		return false
	}
	if strings.Contains(text, `"name"`) {
		for _, m := range callJSON().FindAllStringSubmatch(text, -1) {
			if offers(tools, m[1]) {
				return true
			}
		}
	}
	for _, mark := range callMarks {
		if i := strings.Index(text, mark); i >= 0 && (i == 0 || text[i-1] == '\n') {
			return slices.ContainsFunc(tools, func(t llm.Tool) bool { return strings.Contains(text[i:], t.Name) })
		}
	}
	return false
}

func offers(tools []llm.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
}

// starts are words of which each announcement contains at least one.
var starts = []string{"let me ", "let's ", "i'll ", "i will ", "i'm now ", "i am now ", "让我", "我来", "我现在", "接下来我"}

// announcement matches a last sentence that says what will be done now, in the words that models
// use. A question, or something left to the user, does not match.
var announcement = lazily(`^(?:(?:ok(?:ay)?|great|good|perfect|alright|right|now|next|first|then|so)[,.! ]+)*(?:let me|let's|i'll now|i will now|now i'll|now i will|i'm now going to|i am now going to)` +
	` (?:(?:now|first|also|then|just|quickly|go ahead and|start by|begin by) )*(?:check|look|read|edit|run|fix|update|create|write|add|search|open|examine|inspect|implement|apply|make|test|verify|start|modify|change|find|` +
	`explore|try|see|view|list|rename|remove|delete|install|build|proceed|continue|checking|looking|reading|editing|running|creating|writing)\b|` +
	`^(?:好的?[，,。]?|现在|接下来|首先|那么)*(?:让我|我现在|我来|接下来我)(?:先|来|再|将|会|要|就)*(?:看|读|查|检查|运行|修改|编辑|创建|写|执行|搜索|测试|验证|更新|添加|修复)`)

// announces reports whether an answer stops before doing what it announces: it ends with a colon,
// or with the words of somebody who is about to do something.
func announces(text string) bool {
	if strings.Count(text, "```")%2 != 0 {
		return false
	}
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	line = strings.Trim(line, "*_ ")
	if strings.ContainsAny(line, "?？|") {
		return false
	}
	if strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") {
		return !strings.HasPrefix(line, "#")
	}
	line = strings.ToLower(strings.ReplaceAll(lastSentence(line), "’", "'"))
	return slices.ContainsFunc(starts, func(s string) bool { return strings.Contains(line, s) }) && announcement().MatchString(line)
}

func lastSentence(line string) string {
	line = strings.TrimRight(line, ".!。…！ ")
	for _, end := range []string{". ", "! ", "。", "！"} {
		if i := strings.LastIndex(line, end); i >= 0 {
			line = line[i+len(end):]
		}
	}
	return strings.TrimSpace(line)
}

func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
