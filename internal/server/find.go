package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/search"
)

const (
	findLimit   = 10   // matches of text, as OpenCode
	filesLimit  = 10   // files, where the client names no limit
	filesMost   = 1000 // and at most
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

func (c files) findText() (any, error) {
	pattern := c.query("pattern")
	if pattern == "" || len(pattern) > maxPattern {
		return nil, badQuery("pattern", "expected a pattern of 1 to %d bytes", maxPattern)
	}
	res, err := c.grep(search.GrepOptions{Pattern: pattern, Limit: findLimit})
	if err != nil {
		return nil, err
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

func (c files) findFiles() (any, error) {
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
	inst, err := c.project()
	if err != nil {
		return nil, err
	}
	dirs := kind == "directory" || (kind == "" && c.query("dirs") != "false")
	return c.find(inst, query, int(min(limit, filesMost)), kind != "directory", dirs)
}

// find returns the files and directories that match a query best; directories
// end in a slash. For an empty query only the top is looked at, directories first.
func (c files) find(inst *instance.Instance, query string, limit int, files, dirs bool) ([]string, error) {
	if query == "" {
		top, err := c.top(inst, files, dirs)
		return found(top[:min(limit, len(top))]), err
	}
	paths, err := c.listed(inst.Root.Dir)
	if err != nil {
		return nil, err
	}
	named := namedIn(inst)
	return found(paths.Find(query, limit, func(name string) bool {
		return (strings.HasSuffix(name, "/") && dirs || !strings.HasSuffix(name, "/") && files) && named(name)
	})), nil
}

// namedIn returns a function that says which paths below the instance's directory
// may be named; those of directories end in a slash.
func namedIn(inst *instance.Instance) func(name string) bool {
	hides := inst.Readable.Hides(inst.Root.Dir)
	return func(name string) bool { return hides == nil || strings.HasSuffix(name, "/") || !hides(name) }
}

// found turns nil into an empty list.
func found(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// listed is what a directory held a moment ago.
func (c files) listed(dir string) (*search.Paths, error) {
	paths, err := c.s.listing.of(c.ctx(), dir, c.s.opts.Now, func(work func(context.Context)) {
		c.s.wg.Go(func() { work(c.s.ctx) })
	})
	if err != nil {
		return nil, tooLong(err)
	}
	return paths, nil
}

// top lists the top of a directory; hidden names come last.
func (c files) top(inst *instance.Instance, files, dirs bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(c.ctx(), findTimeout)
	defer cancel()
	var out []string
	for f, err := range search.Files(ctx, inst.Root.Dir, search.FileOptions{
		Hidden: true, Dirs: dirs, MaxDepth: 1, Skip: inst.Readable.Hides(inst.Root.Dir), Excludes: c.s.own().excludes(inst.Root.Dir),
	}) {
		switch {
		case err != nil:
			return nil, tooLong(err)
		case f.Dir:
			out = append(out, strings.TrimSuffix(f.Path, "/")+"/")
		case files && !dirs:
			out = append(out, f.Path)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(hidden(a)+a, hidden(b)+b) })
	return out, nil
}

func hidden(name string) string {
	if strings.HasPrefix(name, ".") {
		return "1"
	}
	return "0"
}
