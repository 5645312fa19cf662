package server

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/search"
	"lathe/internal/workspace"
)

func fileRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/file/text", on(files.text), ""},
		{http.MethodGet, "/lathe/find", on(files.findLines), ""},
	}
}

const (
	viewLimit  = 2 << 20 // bytes of a text that are answered
	foundLimit = 300
)

// text answers a file as it is, for a person who reads it. OpenCode's route leaves out
// the space around it, so that the numbers of its lines would be wrong.
func (c files) text() (any, error) {
	inst, path, err := c.inside()
	if err != nil {
		return nil, err
	}
	data, err := inst.Root.ReadFile(path, contentLimit)
	if err != nil {
		return nil, pathError(err)
	}
	out := api.FileText{Path: relative(inst.Root.Dir, path), Size: len(data)}
	kind := mediaType(path, data)
	if strings.HasPrefix(kind, "image/") && kind != "image/svg+xml" {
		out.MIME, out.Base64 = kind, base64.StdEncoding.EncodeToString(data)
		return out, nil
	}
	if workspace.IsBinary(path, data[:min(len(data), 8192)]) {
		out.MIME = kind
		return out, nil
	}
	text, err := workspace.Decode(data)
	if err != nil {
		out.MIME = kind
		return out, nil
	}
	out.Text = strings.ToValidUTF8(text.Content, "\uFFFD")
	if len(out.Text) > viewLimit {
		cut := viewLimit
		for cut > 0 && !utf8.RuneStart(out.Text[cut]) {
			cut--
		}
		out.Text, out.Cut = out.Text[:cut], true
	}
	return out, nil
}

// findLines answers the lines of the directory's files that a pattern finds: a plain text,
// or with "regexp" a regular expression.
func (c files) findLines() (any, error) {
	pattern := c.query("pattern")
	if pattern == "" || len(pattern) > maxPattern {
		return nil, badQuery("pattern", "expected a pattern of 1 to %d bytes", maxPattern)
	}
	limit, err := c.limit(foundLimit)
	if err != nil {
		return nil, err
	}
	regexp := c.query("regexp") == "true"
	res, err := c.grep(search.GrepOptions{
		Pattern: pattern, Limit: int(limit), Literal: !regexp, IgnoreCase: !regexp && pattern == strings.ToLower(pattern), Include: c.query("include"),
	})
	if err != nil {
		return nil, err
	}
	out := api.FoundLines{Lines: []api.FoundLine{}, More: len(res.Matches) >= int(limit)}
	for _, m := range res.Matches {
		line := api.FoundLine{Path: m.Path, Line: m.Line, Text: m.Text, Spans: []api.Span{}}
		for _, s := range m.Submatches {
			line.Spans = append(line.Spans, api.Span{Start: s.Start, End: s.End})
		}
		out.Lines = append(out.Lines, line)
	}
	return out, nil
}

// grep searches what may be read of the directory's files.
func (c files) grep(o search.GrepOptions) (search.GrepResult, error) {
	inst, err := c.project()
	if err != nil {
		return search.GrepResult{}, err
	}
	ctx, cancel := context.WithTimeout(c.ctx(), findTimeout)
	defer cancel()
	reading := inst.Readable.Usual()
	below := reading.Below(inst.Root.Dir)
	o.FileOptions = search.FileOptions{
		Hidden: true, Skip: func(path string) bool { return below(path).Action != lathe.Allow }, Excludes: c.s.own().excludes(inst.Root.Dir),
	}
	o.Show = func(path string) bool {
		return reading.Content(filepath.Join(inst.Root.Dir, path)).Action == lathe.Allow
	}
	res, err := search.Grep(ctx, inst.Root.Dir, o)
	if bad, ok := errors.AsType[*search.PatternError](err); ok {
		return res, badQuery("pattern", "%s", bad.Reason)
	}
	if err != nil {
		return res, tooLong(err)
	}
	return res, nil
}
