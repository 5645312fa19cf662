package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/search"
	"lathe/internal/session"
)

const (
	findLimit   = 10   // matches of text, as OpenCode
	filesLimit  = 10   // files, where the client names no limit
	filesMost   = 1000 // and at most
	filesWalked = 200_000
	findTimeout = 20 * time.Second
	maxPattern  = 4096
)

type textMatch struct {
	Path       textValue  `json:"path"`
	Lines      textValue  `json:"lines"`
	Line       int        `json:"line_number"`
	Offset     int64      `json:"absolute_offset"`
	Submatches []submatch `json:"submatches"`
}

type textValue struct {
	Text string `json:"text"`
}

type submatch struct {
	Match textValue `json:"match"`
	Start int       `json:"start"`
	End   int       `json:"end"`
}

func (c *call) findText() (any, error) {
	pattern := c.query("pattern")
	if pattern == "" || len(pattern) > maxPattern {
		return nil, badQuery("pattern", "expected a pattern of 1 to %d bytes", maxPattern)
	}
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx(), findTimeout)
	defer cancel()
	res, err := search.Grep(ctx, inst.Root.Dir, search.GrepOptions{
		FileOptions: search.FileOptions{Hidden: true}, Pattern: pattern, Limit: findLimit,
	})
	if bad, ok := errors.AsType[*search.PatternError](err); ok {
		return nil, badQuery("pattern", "%s", bad.Reason)
	}
	if err != nil {
		return nil, tooLong(err)
	}
	out := make([]textMatch, 0, len(res.Matches))
	for _, m := range res.Matches {
		e := textMatch{
			Path: textValue{m.Path}, Lines: textValue{m.Text + "\n"}, Line: m.Line, Offset: m.Offset, Submatches: []submatch{},
		}
		for _, s := range m.Submatches {
			e.Submatches = append(e.Submatches, submatch{textValue{m.Text[s.Start:s.End]}, s.Start, s.End})
		}
		out = append(out, e)
	}
	return out, nil
}

func tooLong(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return lathe.Errorf(lathe.CodeLimit, "narrow it down", "the search took longer than %s", findTimeout)
	}
	return err
}

func (c *call) findFiles() (any, error) {
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = filesLimit
	}
	kind, query := c.query("type"), c.query("query")
	switch {
	case kind != "" && kind != "file" && kind != "directory":
		return nil, badQuery("type", `expected "file" or "directory"`)
	case len(query) > maxPattern:
		return nil, badQuery("query", "longer than %d bytes", maxPattern)
	}
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	dirs := kind == "directory" || (kind == "" && c.query("dirs") != "false")
	found, err := c.candidates(inst, kind != "directory", dirs, query == "")
	if err != nil {
		return nil, tooLong(err)
	}
	out := search.Fuzzy(query, found, int(min(limit, filesMost)))
	if out == nil {
		out = []string{}
	}
	return out, nil
}

// candidates lists paths below the directory; directories end in a slash. For an
// empty query only the top is looked at, directories first.
func (c *call) candidates(inst *session.Instance, files, dirs, top bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(c.ctx(), findTimeout)
	defer cancel()
	opt := search.FileOptions{Hidden: true, Dirs: dirs, Sorted: true, Limit: filesWalked}
	if top {
		opt.MaxDepth = 1
	}
	var out []string
	for f, err := range search.Files(ctx, inst.Root.Dir, opt) {
		switch {
		case err != nil:
			return nil, err
		case f.Dir:
			out = append(out, strings.TrimSuffix(f.Path, "/")+"/")
		case files && !(top && dirs):
			out = append(out, f.Path)
		}
	}
	if top {
		slices.SortStableFunc(out, func(a, b string) int {
			return strings.Compare(hidden(a)+a, hidden(b)+b)
		})
	}
	return out, nil
}

func hidden(name string) string {
	if strings.HasPrefix(name, ".") {
		return "1"
	}
	return "0"
}

// findSymbols answers nothing, as OpenCode 1.1 does.
func (c *call) findSymbols() (any, error) {
	if !c.r.URL.Query().Has("query") {
		return nil, badQuery("query", "expected a text")
	}
	return []any{}, nil
}
