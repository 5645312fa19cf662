package server

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/session"
	"lathe/internal/workspace"
)

// Which directories a request may name: see reach.
func TestDirectoriesOfRequests(t *testing.T) {
	listed, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name                        string
		password                    string
		directories                 []string
		start, known, listed, other bool
	}{
		{name: "no password", start: true, known: true},
		{name: "no password, a list", directories: []string{listed}, start: true, known: true, listed: true},
		{name: "a password", password: "s", start: true, known: true, listed: true, other: true},
		{name: "a password, a list", password: "s", directories: []string{listed}, start: true, listed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.Password, o.Directories = tt.password, tt.directories })
			top := filepath.Dir(r.dir)
			past, linked := filepath.Join(top, "past"), filepath.Join(r.dir, "linked")
			for _, dir := range []string{filepath.Join(past), filepath.Join(listed, "below")} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.svc.Create(t.Context(), session.Create{Directory: past}); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(top, "outside"), linked); err != nil {
				t.Fatal(err)
			}
			header := []string{}
			if tt.password != "" {
				header = []string{"Authorization", "Basic b3BlbmNvZGU6cw=="}
			}
			for dir, allowed := range map[string]bool{
				r.dir: tt.start, filepath.Join(r.dir, "sub"): tt.start, past: tt.known, filepath.Join(listed, "below"): tt.listed,
				filepath.Join(top, "outside"): tt.other, linked: tt.other, "/": tt.other, top: tt.other,
			} {
				want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[allowed]
				for _, path := range []string{"/path", "/session", "/file?path="} {
					sep := map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]
					if res := r.do("GET", path+sep+"directory="+url.QueryEscape(dir), "", header...); res.status != want {
						t.Errorf("%s in %s: %d %s", path, dir, res.status, res.body)
					}
				}
				if res := r.do("GET", "/path", "", append(header, "X-Opencode-Directory", dir)...); res.status != want {
					t.Errorf("%s by header: %d", dir, res.status)
				}
			}
			want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[tt.other]
			for _, path := range []string{"/lathe/session?everywhere=true", "/lathe/search?query=x&everywhere=true", "/lathe/stats"} {
				if res := r.do("GET", path, "", header...); res.status != want {
					t.Errorf("%s: %d %s", path, res.status, res.body)
				}
			}
		})
	}
}
