package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lathe"
	"lathe/internal/diff"
)

// MaxText is the size above which the contents of a file are left out of diffs.
const MaxText = 1 << 20

// pair is a file in two trees.
type pair struct {
	path          string
	before, after entry
}

// between returns the paths that differ between two trees, sorted.
func (s *Store) between(ctx context.Context, from, to string) ([]string, error) {
	if from == to {
		return nil, nil
	}
	if paths, ok := s.steps.between(from, to); ok {
		return paths, nil
	}
	pairs, err := s.raw(ctx, from, to)
	if err != nil {
		return nil, err
	}
	paths, err := s.permChanges(ctx, from, to)
	if err != nil {
		return nil, err
	}
	bare, err := s.bareBetween(from, to)
	paths = append(paths, bare...)
	for _, p := range pairs {
		paths = append(paths, p.path)
	}
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// between answers from the steps this process made.
func (h history) between(from, to string) ([]string, bool) {
	if len(h) == 0 || h[len(h)-1].to != to {
		return nil, false
	}
	sum := map[string]change{}
	for _, step := range slices.Backward(h) {
		for path, c := range step.changed {
			later, seen := sum[path]
			if seen {
				c.after = later.after
			}
			sum[path] = c
		}
		if step.from != from {
			continue
		}
		var paths []string
		for path, c := range sum {
			if c.before != c.after {
				paths = append(paths, path)
			}
		}
		slices.Sort(paths)
		return paths, true
	}
	return nil, false
}

// raw compares two trees with git.
func (g *gitDir) raw(ctx context.Context, from, to string) ([]pair, error) {
	from, to, err := g.trees(from, to)
	if err != nil || from == to {
		return nil, err
	}
	out, err := g.run(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare snapshots: %w", err)
	}
	return parseRaw(zsplit(out))
}

// trees returns the trees of two snapshots.
func (g *gitDir) trees(from, to string) (a, b string, err error) {
	if a, _, err = g.resolve(from); err == nil {
		b, _, err = g.resolve(to)
	}
	return a, b, err
}

func checkTrees(hashes ...string) error {
	for _, h := range hashes {
		if _, err := parseOID(h); err != nil {
			return fmt.Errorf("snapshot %w", err)
		}
	}
	return nil
}

// parseRaw reads ":mode mode hash hash status" and path, in turn.
func parseRaw(fields []string) ([]pair, error) {
	var pairs []pair
	for i := 0; i+1 < len(fields); i += 2 {
		head := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(head) != 5 {
			return nil, fmt.Errorf("git diff-tree: %q is not a change", fields[i])
		}
		p := pair{path: fields[i+1]}
		var err error
		if p.before, err = parseEntry(head[0], head[2]); err != nil {
			return nil, err
		}
		if p.after, err = parseEntry(head[1], head[3]); err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func parseEntry(mode, id string) (e entry, err error) {
	m, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		return e, fmt.Errorf("git: %q is not a mode", mode)
	}
	e.mode = uint32(m)
	e.oid, err = parseOID(id)
	return e, err
}

// Diff returns what changed from one tree to another, by path. Contents and
// patches are left out for binary files and those over [MaxText]; the counts are
// git's.
func (s *Store) Diff(ctx context.Context, from, to string) ([]lathe.FileDiff, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from == to {
		return nil, nil
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	pairs, err := s.raw(ctx, from, to)
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	counts, err := s.counts(ctx, from, to)
	if err != nil {
		return nil, err
	}
	want := map[oid]bool{}
	for _, p := range pairs {
		for _, e := range []entry{p.before, p.after} {
			if e.mode != 0 && e.mode != modeRepo {
				want[e.oid] = true
			}
		}
	}
	bodies, err := s.blobs(ctx, want, MaxText)
	if err != nil {
		return nil, fmt.Errorf("read snapshots: %w", err)
	}
	out := make([]lathe.FileDiff, 0, len(pairs))
	for _, p := range pairs {
		out = append(out, fileDiff(p, bodies, counts[p.path]))
	}
	return out, nil
}

func fileDiff(p pair, bodies map[oid][]byte, count [2]int) lathe.FileDiff {
	d := lathe.FileDiff{File: p.path, Status: "modified", Additions: max(count[0], 0), Deletions: max(count[1], 0)}
	switch {
	case p.before.mode == 0:
		d.Status = "added"
	case p.after.mode == 0:
		d.Status = "deleted"
	}
	before, ok1 := text(p.before, bodies)
	after, ok2 := text(p.after, bodies)
	if !ok1 || !ok2 || count[0] < 0 {
		return d
	}
	d.Before, d.After = before, after
	d.Patch = diff.Unified("a/"+p.path, "b/"+p.path, before, after, diff.Context)
	return d
}

// text returns the content of an entry if it can be shown.
func text(e entry, bodies map[oid][]byte) (string, bool) {
	if e.mode == 0 {
		return "", true
	}
	b, ok := bodies[e.oid]
	if !ok || bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 {
		return "", false
	}
	if !utf8.Valid(b) {
		return strings.ToValidUTF8(string(b), "\ufffd"), true
	}
	return string(b), true
}

// counts returns the lines added and removed by file; -1 for binary ones.
func (g *gitDir) counts(ctx context.Context, from, to string) (map[string][2]int, error) {
	from, to, err := g.trees(from, to)
	if err != nil {
		return nil, err
	}
	out, err := g.run(ctx, nil, "diff-tree", "-r", "-z", "--numstat", "--no-renames", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare snapshots: %w", err)
	}
	counts := map[string][2]int{}
	for _, line := range zsplit(out) {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			continue
		}
		c := [2]int{-1, -1}
		if f[0] != "-" {
			c[0], _ = strconv.Atoi(f[0])
			c[1], _ = strconv.Atoi(f[1])
		}
		counts[f[2]] = c
	}
	return counts, nil
}
