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

// Request returns what a model is asked for a summary: the override if there is
// one, else the built-in text, then what plugins add.
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

// NoSummary stands in the place of a summary that could not be had.
const NoSummary = "No summary of the earlier conversation could be made. What lathe recorded of it follows."

// Letters that a summary has at the least: a word, a letter more for so many tokens
// of what it sums up, and never more than a short sentence.
const (
	leastLetters    = 4
	tokensPerLetter = 200
	mostLetters     = 24
)

// Useful reports whether an answer sums up a conversation of so many tokens: it has
// words, and is not a refusal or an echo of the request. What is short may be summed
// up shortly.
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

// leastBytes is how much of a tool's output a transcript shows at the least, and a
// quarter of what it shows of a message.
const leastBytes = 2000

// Transcript renders messages as plain text within a budget of tokens, for a
// model that is asked for a summary without the running prefix. All of the text is
// in it if it fits; else the longest texts are cut in the middle, as little as the
// budget allows, and at last the oldest messages are left out. An earlier summary
// is always shown.
func Transcript(view []lathe.Message, budget int64) string {
	least := longest(view)
	for least > leastBytes && weighAll(view, least) > budget {
		least /= 2
	}
	return transcript(view, budget, max(least, leastBytes))
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

func weighAll(view []lathe.Message, most int) (sum int64) {
	for i := range view {
		sum += int64(tokens.Count(render(&view[i], most)))
	}
	return sum
}

// transcript shows most bytes of each result.
func transcript(view []lathe.Message, budget int64, most int) string {
	var prior string
	var lines []string
	left := budget
	for i := range view {
		if a := Answer(&view[i]); a != nil && a.Summary {
			prior = clip(said(&view[i]), int(budget)) // about a quarter of it at most
			left -= int64(tokens.Count(prior))
		}
	}
	for i := len(view) - 1; i >= 0; i-- {
		m := &view[i]
		if a := Answer(m); a != nil && a.Summary {
			continue
		}
		text := render(m, most)
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
