package prompt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"lathe"
)

// CutNote is roughly how many tokens the note about a cut result takes.
const CutNote = 50

// Shown returns what a model is shown of a tool's output: all of it, or, if it did
// not fit with the others of its step, its beginning and how to get the rest.
func Shown(tool string, s *lathe.ToolDone) string {
	if s.Shown <= 0 || s.Shown >= len(s.Output) {
		return s.Output
	}
	text := strings.ToValidUTF8(s.Output[:s.Shown], "")
	note := "run a narrower call for the rest, or look it up with the recall tool"
	if next := lineAfter(text); tool == "read" && next > 0 {
		note = fmt.Sprintf("read from line %d (offset %d) for the rest", next, next)
	}
	return fmt.Sprintf("%s\n\n[cut to fit the window: %d of %d lines are shown; %s]", strings.TrimRight(text, "\n"),
		strings.Count(text, "\n"), strings.Count(s.Output, "\n")+1, note)
}

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*(\d+)[:|\t]`) })

// lineAfter returns the number of the line that follows the last numbered one, or 0.
func lineAfter(text string) int {
	all := numbered().FindAllStringSubmatch(text[max(0, len(text)-16<<10):], -1)
	if len(all) == 0 {
		return 0
	}
	n, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		return 0
	}
	return n + 1
}
