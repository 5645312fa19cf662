package builtin

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/reading"
	"lathe/internal/search"
	"lathe/internal/tool"
)

// reading returns what the rules say about reading files; a call without rules
// gets the built-in ones.
func (e Places) reading(call *tool.Call) tool.Reading {
	if call.Reading != nil {
		return call.Reading()
	}
	return reading.New(e.Root, permission.Policy{Rules: permission.Defaults(permission.Paths{})}, nil, nil)
}

// mayRead asks for permission to read a file with a resolved path. If the file has
// another, restricted name, it is asked for under that one as well.
func (e Places) mayRead(ctx context.Context, call *tool.Call, path string) error {
	req := tool.Request{Permission: reading.Name, Patterns: []string{e.Root.Rel(path)}, Always: []string{"*"}}
	if call.UserAsked {
		return nil
	}
	others, sure := e.reading(call).Others(path)
	for _, other := range others {
		req.Always, req.Metadata = nil, map[string]any{"reason": "the file is also " + other}
		if e.Root.Contains(other) {
			req.Patterns = append(req.Patterns, e.Root.Rel(other))
			continue
		}
		if err := e.external(ctx, call, other, false, nil); err != nil {
			return err
		}
	}
	if !sure {
		req.Metadata = map[string]any{tool.MetaProtected: true, "reason": "the file has other names, and the workspace is too large to look for them"}
	}
	return ask(ctx, call, req)
}

// sieve keeps what may not be read out of a search.
type sieve struct {
	rules   tool.Reading
	dir     string
	below   func(path string) tool.Verdict
	granted lathe.Rule // the rule that the person was asked about for the directory
	left    atomic.Int64
}

// sieve returns a sieve that limits a search of a directory to files that may be read.
func (e Places) sieve(call *tool.Call, dir string) *sieve {
	s := &sieve{rules: e.reading(call), dir: dir}
	s.below = s.rules.Below(dir)
	return s
}

// ask asks for a directory that cannot itself be read without an ask. Whatever
// the same rule asks for below it is then granted too.
func (s *sieve) ask(ctx context.Context, call *tool.Call, rel string) error {
	v := s.rules.Path(s.dir)
	if v.Action == lathe.Allow {
		return nil
	}
	s.granted = v.Rule
	return ask(ctx, call, tool.Request{Permission: reading.Name, Patterns: []string{rel}, Always: []string{"*"}, Doing: "this call reads " + rel + ", which may hold secrets"})
}

func (s *sieve) passes(v tool.Verdict) bool {
	return v.Action == lathe.Allow || v.Action == lathe.AskMe && v.Rule == s.granted && s.granted != (lathe.Rule{})
}

// contents makes a search skip files that may not be read. It decides by name
// before looking inside: if it reported which of them match, their content could
// be guessed piece by piece.
func (s *sieve) contents(opt *search.GrepOptions) {
	if s.rules.Restricts(lathe.AskMe, lathe.Deny) {
		opt.Skip = func(path string) bool {
			if s.passes(s.below(path)) {
				return false
			}
			s.left.Add(1)
			return true
		}
	}
	opt.Show = func(path string) bool {
		return s.passes(s.rules.Content(filepath.Join(s.dir, filepath.FromSlash(path))))
	}
}

// hides reports whether a verdict also covers a file's name: a rule for some files
// denies it. The built-in rules ask for some names in any directory, and naming those
// needs no ask; a rule that denies all reading still lets files be found.
func hides(v tool.Verdict) bool { return v.Action == lathe.Deny && v.Rule.Pattern != "*" }

// names makes a search skip files whose names must not be shown either.
func (s *sieve) names(opt *search.FileOptions) {
	if !s.rules.Restricts(lathe.Deny) {
		return
	}
	opt.Skip = func(path string) bool {
		if !hides(s.below(path)) {
			return false
		}
		s.left.Add(1)
		return true
	}
}

// note says how many files were left out, if any.
func (s *sieve) note(format string) string {
	n := s.left.Load()
	if n == 0 {
		return ""
	}
	files := "1 file was"
	if n > 1 {
		files = fmt.Sprintf("%d files were", n)
	}
	return "\n\n(" + strings.ReplaceAll(format, "FILES", files) + ")"
}
