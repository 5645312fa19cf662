package compact

import (
	_ "embed" // the request for a summary
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lathe"
	"lathe/internal/prompt"
	"lathe/internal/tokens"
)

//go:embed summary.md
var summaryText string

// Request returns the request for a summary: the override if there is one, else
// the built-in text, then what plugins add.
func Request(override string, extra []string) string {
	text := strings.TrimSpace(override)
	if text == "" {
		text = strings.TrimSpace(summaryText)
	}
	for _, x := range extra {
		if x = strings.TrimSpace(x); x != "" {
			text += "\n\n" + x
		}
	}
	return text
}

// NoSummary replaces a summary that could not be obtained.
const NoSummary = "No summary of the earlier conversation could be made. What lathe recorded of it follows."

// The least number of letters in a summary: a word, plus one letter for a number of
// tokens that it sums up, and never more than a short sentence.
const (
	leastLetters    = 4
	tokensPerLetter = 200
	mostLetters     = 24
)

// Useful reports whether an answer is a summary of a conversation of that many
// tokens: it has words, and is neither a refusal nor an echo of the request. A short
// conversation may have a short summary.
func Useful(answer, request string, conversation int64) bool {
	answer = strings.TrimSpace(answer)
	letters := 0
	for _, r := range answer {
		if unicode.IsLetter(r) {
			letters++
			if r > 0x2E80 {
				letters++ // a character of these scripts says more
			}
		}
	}
	if int64(letters) < min(mostLetters, leastLetters+conversation/tokensPerLetter) || strings.Contains(request, answer) {
		return false
	}
	lower := strings.ToLower(answer)
	for _, no := range []string{"i can't help", "i cannot help", "i'm sorry, but", "i am sorry, but", "as an ai"} {
		if strings.HasPrefix(lower, no) && letters < 400 {
			return false
		}
	}
	return true
}

// leastBytes is the least that a transcript shows of a tool's output, and a
// quarter of the least it shows of a message.
const leastBytes = 2000

// Transcript renders messages as plain text within a budget of tokens, for a model that
// writes a summary without the running prefix. What stays word for word is shown briefly.
// All text that is about to go is included if it fits; otherwise the longest texts are cut
// in the middle, as little as possible, and finally the oldest messages are left out. An
// earlier summary is always included.
func Transcript(view []lathe.Message, stays map[lathe.MessageID]bool, budget int64) string {
	t := transcript{view: view, stays: stays, most: longest(view)}
	for t.most > leastBytes && t.weight() > budget {
		t.most /= 2
	}
	t.most = max(t.most, leastBytes)
	return t.text(budget)
}

// longest returns the length of the longest text of messages.
func longest(view []lathe.Message) int {
	n := leastBytes
	for i := range view {
		for _, p := range view[i].Parts {
			switch b := p.Body.(type) {
			case *lathe.Text:
				n = max(n, len(b.Text)/4)
			case *lathe.ToolCall:
				if done, ok := b.State.(*lathe.ToolDone); ok {
					n = max(n, len(done.Output), len(done.Input))
				}
			}
		}
	}
	return n
}

// transcript shows at most most bytes of each result that goes.
type transcript struct {
	view  []lathe.Message
	stays map[lathe.MessageID]bool
	most  int
}

func (t *transcript) render(m *lathe.Message) string {
	if t.stays[m.ID] {
		return render(m, leastBytes)
	}
	return render(m, t.most)
}

func (t *transcript) weight() (sum int64) {
	for i := range t.view {
		sum += int64(tokens.Count(t.render(&t.view[i])))
	}
	return sum
}

func (t *transcript) text(budget int64) string {
	var prior string
	var lines []string
	left := budget
	for i := range t.view {
		if a := Answer(&t.view[i]); a != nil && a.Summary {
			prior = clip(said(&t.view[i]), int(budget)) // about a quarter of it at most
			left -= int64(tokens.Count(prior))
		}
	}
	for i := len(t.view) - 1; i >= 0; i-- {
		m := &t.view[i]
		if a := Answer(m); a != nil && a.Summary {
			continue
		}
		text := t.render(m)
		w := int64(tokens.Count(text))
		if w > left {
			if left > 200 {
				lines = append(lines, clip(text, int(left)*2))
			}
			lines = append(lines, "[older messages are left out]")
			break
		}
		left -= w
		lines = append(lines, text)
	}
	slices.Reverse(lines)
	var b strings.Builder
	if prior != "" {
		fmt.Fprintf(&b, "<prior-summary>\n%s\n</prior-summary>\n\n", prior)
	}
	fmt.Fprintf(&b, "<conversation>\n%s\n</conversation>", strings.Join(lines, "\n"))
	return b.String()
}

func said(m *lathe.Message) string {
	var out []string
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Ignored {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, "\n")
}

func render(m *lathe.Message, most int) string {
	if prompt.Mark(m) != nil {
		return ""
	}
	who := "[User]: "
	if Answer(m) != nil {
		who = "[Assistant]: "
	}
	var out []string
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Ignored && b.Text != "" {
				out = append(out, who+clip(b.Text, 4*most))
			}
		case *lathe.File:
			out = append(out, fmt.Sprintf("[Attached %s: %s]", b.MIME, b.Filename))
		case *lathe.ToolCall:
			out = append(out, renderCall(b, most))
		}
	}
	return strings.Join(out, "\n")
}

func renderCall(c *lathe.ToolCall, most int) string {
	head := fmt.Sprintf("[Assistant tool call]: %s(%s)", c.Tool, clip(inputOf(c), most))
	switch s := c.State.(type) {
	case *lathe.ToolDone:
		if !s.Compacted.IsZero() {
			return head
		}
		return head + "\n[Tool result]: " + clip(s.Output, most)
	case *lathe.ToolFailed:
		return head + "\n[Tool error]: " + clip(s.Error, most)
	}
	return head
}

// clip cuts text in the middle to about n bytes.
func clip(s string, n int) string {
	if n = max(n, 0); len(s) <= n {
		return s
	}
	head := n * 2 / 3
	return strings.ToValidUTF8(s[:head], "") + " […] " + strings.ToValidUTF8(s[len(s)-(n-head):], "")
}
