package chat

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"lathe/internal/tui/change"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// numbered is a line of a file as the model reads it.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,9}): (.*)$`) })

// reading shows what was read of a file: its code in colours, after numbers that end in one column.
func (l pen) reading(c call) []styled.Line {
	var code []string
	var numbers []int
	last := 0
	for text := range strings.Lines(strings.Trim(c.output, "\n")) {
		if len(code) == detailLines {
			break
		}
		text, number := strings.TrimSuffix(text, "\n"), 0
		if m := numbered().FindStringSubmatch(text); m != nil {
			number, _ = strconv.Atoi(m[1])
			text = m[2]
		}
		last = max(last, number)
		numbers, code = append(numbers, number), append(code, strings.ReplaceAll(styled.Clean(text), "\n", " "))
	}
	digits := change.Digits(last)
	var out []styled.Line
	for i, line := range markdown.Highlight(path.Ext(c.arg("filePath")), code, l.MD) {
		for j, part := range styled.Hard(line, max(l.Width-9-digits, 8), l.Method) {
			if j > 0 {
				numbers[i] = 0
			}
			if last > 0 {
				part = append(styled.Line{{Text: change.Number(numbers[i], digits), Style: l.FG(theme.DiffNumber)}}, part...)
			}
			out = append(out, part)
		}
	}
	return l.gutter(out)
}
