package chat

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	severityError = 1 // as language servers count
	problemLines  = 3 // errors shown below a change
)

// problem is an error that a language server found after a change.
type problem struct {
	file            string
	line, character int // from 1
	message         string
}

// problems are the errors in the files that a call changed and in those that it broke,
// those of the file it names first.
func (c call) problems() (out []problem) {
	files, _ := c.meta["diagnostics"].(map[string]any)
	own, _ := c.meta["filepath"].(string)
	paths := slices.Sorted(maps.Keys(files))
	slices.SortStableFunc(paths, func(a, b string) int {
		switch {
		case a == own:
			return -1
		case b == own:
			return 1
		}
		return 0
	})
	for _, file := range paths {
		for _, d := range listOf(files[file]) {
			if n, ok := lathe.MetaInt(d["severity"]); !ok || n != severityError {
				continue
			}
			span, _ := d["range"].(map[string]any)
			start, _ := span["start"].(map[string]any)
			line, _ := lathe.MetaInt(start["line"])
			character, _ := lathe.MetaInt(start["character"])
			message, _ := d["message"].(string)
			out = append(out, problem{path.Base(filepath.ToSlash(file)), line + 1, character + 1, message})
		}
	}
	return out
}

// problems shows the first errors of a change below it.
func (l pen) problems(c call) []styled.Line {
	list := c.problems()
	if len(list) == 0 || c.running {
		return nil
	}
	var out []styled.Line
	for _, p := range list {
		text := fmt.Sprintf("%s %s:%d:%d ", l.Glyph("✗", "x"), p.file, p.line, p.character)
		out = append(out, styled.Line{{Text: styled.OneLine(text), Style: l.FG(theme.Error)}, {Text: " " + styled.OneLine(p.message), Style: l.FG(theme.Text)}}.Cut(l.Width-8, l.Method))
	}
	most := problemLines
	if l.Details {
		most = detailLines
	}
	if rest := len(out) - most; rest > 0 {
		out = append(out[:most:most], styled.Plain(l.Glyph("…", "...")+" "+l.T(say.Plural(rest, "error")+" more"), l.FG(theme.Muted)))
	}
	return l.gutter(out)
}
