package snapshot

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
)

// maxPatch is the size above which a patch leaves out the bytes of binary files.
const maxPatch = 8 << 20

// GitPatch returns what changed in files from one tree to another, in a form that
// `git apply` accepts: with modes, files that come and go, links and binary
// files. paths are absolute. Beyond [maxPatch] bytes a binary file is only named.
func (s *Store) GitPatch(ctx context.Context, from, to string, paths []string) (string, error) {
	if from == to || len(paths) == 0 {
		return "", nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.prepare(ctx); err != nil {
		return "", err
	}
	from, to, err := s.trees(from, to)
	if err != nil {
		return "", err
	}
	var rels []string
	for _, p := range paths {
		rel, err := filepath.Rel(s.top, p)
		if err != nil || !filepath.IsLocal(rel) {
			return "", fmt.Errorf("patch of %s: it is not in %s", p, s.top)
		}
		rels = append(rels, filepath.ToSlash(rel))
	}
	patch := ""
	for some := range slices.Chunk(rels, 500) {
		out, err := s.patch(ctx, from, to, some, "--binary")
		if err == nil && len(patch)+len(out) > maxPatch {
			out, err = s.patch(ctx, from, to, some)
		}
		if err != nil {
			return "", fmt.Errorf("compare snapshots: %w", err)
		}
		patch += string(out)
	}
	return patch, nil
}

func (g *gitDir) patch(ctx context.Context, from, to string, rels []string, how ...string) ([]byte, error) {
	args := append([]string{"diff-tree", "-r", "-p", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"}, how...)
	return g.run(ctx, nil, append(append(args, from, to, "--"), rels...)...)
}
