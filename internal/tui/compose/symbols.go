package compose

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"lathe/internal/tui/styled"
)

const (
	minSymbol   = 2  // letters from which names are looked for
	mostSymbols = 10 // that are offered
)

// symbols returns the code's symbols with such a name. A chosen one is sent as its
// file and line, which stand for the whole symbol.
func (c *Composer) symbols(query string) (out []Completion) {
	finder := c.access.Able.Symbols
	if finder == nil || len(query) < minSymbol || strings.ContainsAny(query, "/.") {
		return nil
	}
	found, err := finder.Symbols(c.access.Context(), query)
	if err != nil {
		return nil // files are still offered
	}
	for _, s := range found[:min(len(found), mostSymbols)] {
		u, err := url.Parse(s.Location.URI)
		if err != nil {
			continue
		}
		path := filepath.FromSlash(u.Path)
		if rel, err := filepath.Rel(finder.Dir(), path); err == nil && !strings.HasPrefix(rel, "..") {
			path = rel
		}
		line := strconv.Itoa(s.Location.Range.Start.Line + 1)
		out = append(out, Completion{Insert: "@" + path + "#" + line + "-" + line + " ", Label: styled.OneLine(s.Name), Detail: styled.OneLine(path + ":" + line)})
	}
	return out
}
