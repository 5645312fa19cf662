package guide

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"lathe/internal/llm"
)

// state is what has happened since the user's newest request.
type state struct {
	prompt   string
	results  []llm.ToolResult // in the order of the calls
	dir      string           // where the session works; empty if the request does not say
	tools    []string         // that may be called
	attended bool
	chinese  bool // the language of the prompt
}

func readState(req *llm.Request) state {
	st := state{dir: workingDir(req.System)}
	for _, t := range req.Tools {
		st.tools = append(st.tools, t.Name)
	}
	for _, m := range req.Messages {
		switch m.Role {
		case llm.RoleUser:
			if p := userText(m); p != "" {
				st.prompt, st.results = p, nil
			}
		case llm.RoleTool:
			for _, c := range m.Content {
				if r, ok := c.(llm.ToolResult); ok {
					st.results = append(st.results, r)
				}
			}
		}
	}
	st.chinese = chinese(st.prompt)
	return st
}

// workingDir finds the directory of the session in the system prompt.
func workingDir(system []string) string {
	for _, block := range system {
		if _, rest, ok := strings.Cut(block, "Working directory: "); ok {
			dir, _, _ := strings.Cut(rest, "\n")
			return strings.TrimSpace(dir)
		}
	}
	return ""
}

// userText returns what the user typed last in a message, without lathe's own
// notes and the files that were expanded into it.
func userText(m llm.Message) string {
	for i := len(m.Content) - 1; i >= 0; i-- {
		t, ok := m.Content[i].(llm.Text)
		if !ok || strings.HasPrefix(t.Text, "<system-reminder>") || strings.HasPrefix(t.Text, "Called the ") || strings.HasPrefix(t.Text, "<path>") {
			continue
		}
		return strings.TrimSpace(t.Text)
	}
	return ""
}

// chinese reports whether a request is put in Chinese: it has more Chinese
// characters than words of other scripts, and no kana.
func chinese(prompt string) bool {
	han, words := 0, 0
	for word := range strings.FieldsSeq(prompt) {
		here := 0
		for _, r := range word {
			switch {
			case unicode.Is(unicode.Han, r):
				here++
			case unicode.In(r, unicode.Hiragana, unicode.Katakana):
				return false
			}
		}
		if han += here; here == 0 {
			words++
		}
	}
	return han > 0 && han >= words
}

// has reports whether a tool may be called.
func (s state) has(tool string) bool { return slices.Contains(s.tools, tool) }

// last returns the newest result.
func (s state) last() llm.ToolResult {
	if len(s.results) == 0 {
		return llm.ToolResult{}
	}
	return s.results[len(s.results)-1]
}

// failed returns the message of the newest result if it is a failure.
func (s state) failed() (string, bool) { return s.last().Output, s.last().Failed }

// in returns the text for the language of the person.
func (s state) in(english, chinese string) string {
	if s.chinese {
		return chinese
	}
	return english
}

// say is an answer in the person's language. Both texts take the same values in
// the same order.
func (s state) say(english, chinese string, values ...any) reply {
	text := s.in(english, chinese)
	if len(values) > 0 {
		text = fmt.Sprintf(text, values...)
	}
	return reply{text: text + s.in(note, noteChinese)}
}

const note = "\n\n---\nThis was the offline guide: it follows fixed rules and is not a language model. " +
	"To connect one, run `lathe auth login <provider>` or set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, " +
	"or start a local server such as Ollama; `lathe models` lists what is there."

const noteChinese = "\n\n---\n以上由离线向导回答：它按固定规则工作，不是语言模型。" +
	"要连接模型，请运行 `lathe auth login <provider>`，或设置 ANTHROPIC_API_KEY、OPENAI_API_KEY、GEMINI_API_KEY 等密钥，" +
	"或启动 Ollama 等本地服务；`lathe models` 会列出可用的模型。"

// short returns a path as a person would name it: below the working directory
// without it.
func (s state) short(path string) string {
	if rel, err := filepath.Rel(s.dir, path); err == nil && s.dir != "" && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
