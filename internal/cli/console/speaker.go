package console

import (
	"io"
	"strings"

	"lathe/internal/say"
)

// Speaker is standard error as commands use it: what lathe tells a person there is said in
// their language. It is written to in whole lines, or in whole questions. What other programs
// print does not belong here, see [Raw].
type Speaker struct {
	To       io.Writer
	Language func() say.Language
}

// Write says what is written, line by line.
func (s *Speaker) Write(p []byte) (int, error) {
	l := s.Language()
	if l == say.English || len(p) > longestTold {
		return s.To.Write(p)
	}
	lines := strings.Split(string(p), "\n")
	for i, line := range lines {
		lines[i] = Told(l, line)
	}
	if _, err := io.WriteString(s.To, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// longestTold bounds, in bytes, what is looked up: nothing that lathe says is longer.
const longestTold = 8 << 10

// labels begin what lathe tells. They are the same in every language, so that scripts find them,
// but for the word after them.
var labels = []string{"lathe: ", "warning: ", "note: ", "hint: ", "error: "}

// Told returns a line that lathe tells in a language.
func Told(l say.Language, line string) string {
	before, rest := "", line
	for _, label := range labels {
		if after, ok := strings.CutPrefix(rest, label); ok {
			before, rest = before+l.Word(strings.TrimSuffix(label, " "))+" ", after
		}
	}
	return before + l.Text(rest)
}

// Raw returns standard error for what is not lathe's own words: the output of other programs,
// the log, and what is in the person's language already.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*Speaker); ok {
		return s.To
	}
	return w
}
