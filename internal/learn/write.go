package learn

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"lathe/internal/printable"
	"lathe/internal/redact"
)

// heading is the section that lines are put into.
const heading = "## Learned from corrections"

// Line returns a line as it goes into instructions: without marks of a list and what a
// terminal would act on. The error says for a model what is wrong with it.
func Line(text string) (string, error) {
	line := bare(text)
	switch {
	case line == "":
		return "", errors.New("line is required: one short rule")
	case strings.ContainsAny(strings.TrimSpace(text), "\r\n"):
		return "", errors.New("give one line, and call this again for another rule")
	case utf8.RuneCountInString(line) > maxLine:
		return "", fmt.Errorf("the line has more than %d characters: make it shorter", maxLine)
	case redact.Text(line) != line:
		return "", errors.New("the line looks as if it had a credential in it: leave that out")
	}
	return line, nil
}

// bare returns a text without marks of a list.
func bare(text string) string { return strings.TrimLeft(printable.Line(text), "-*# ") }

// Has reports whether the instructions have a line, in whatever case and list.
func Has(instructions, line string) bool {
	for have := range strings.Lines(instructions) {
		if strings.EqualFold(strings.TrimLeft(strings.TrimSpace(have), "-* "), line) {
			return true
		}
	}
	return false
}

// Add returns instructions with one more line, in a section of its own at the end unless
// there is one. Nothing else changes, and neither do the line endings.
func Add(instructions, line string) string {
	nl := "\n"
	if strings.Contains(instructions, "\r\n") {
		nl = "\r\n"
	}
	item := "- " + line + nl
	lines := strings.SplitAfter(instructions, "\n")
	at := -1
	for i, have := range lines {
		switch text := strings.TrimRight(have, " \t\r\n"); {
		case text == heading:
			at = i + 1
		case at >= 0 && strings.HasPrefix(text, "#"):
			return join(lines[:at], item, lines[at:], nl)
		case at >= 0 && text != "":
			at = i + 1
		}
	}
	if at >= 0 {
		return join(lines[:at], item, lines[at:], nl)
	}
	text := strings.TrimRight(instructions, "\r\n")
	if text != "" {
		text += nl + nl
	}
	return text + heading + nl + nl + item
}

func join(before []string, item string, after []string, nl string) string {
	text := strings.Join(before, "")
	if !strings.HasSuffix(text, "\n") {
		text += nl
	}
	if strings.TrimSpace(before[len(before)-1]) == heading {
		text += nl
		if len(after) > 0 && strings.TrimSpace(after[0]) == "" {
			after = after[1:]
		}
		if strings.TrimSpace(strings.Join(after, "")) != "" {
			item += nl
		}
	}
	return text + item + strings.Join(after, "")
}
