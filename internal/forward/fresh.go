package forward

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
)

// freshen lets a worker fetch before something begins that is to start from what is new: a
// session, or a worktree.
func (f *Forwarder) freshen(ctx context.Context, r *http.Request) {
	if f.o.Fresh == nil || r.Method != http.MethodPost || r.URL.Path != "/session" && r.URL.Path != "/experimental/worktree" {
		return
	}
	if dir := named(r); dir != "" {
		f.o.Fresh(ctx, dir)
	}
}

// named returns the directory that a request names, or "".
func named(r *http.Request) (dir string) {
	q := r.URL.Query()
	for _, name := range []string{"directory", "location[directory]"} {
		if dir == "" {
			dir = q.Get(name)
		}
	}
	if dir == "" {
		dir = r.Header.Get("X-Opencode-Directory")
		if plain, err := url.PathUnescape(dir); err == nil {
			dir = plain
		}
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Clean(dir)
}
