package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVCSDiff(t *testing.T) {
	r := newRig(t)
	write(t, r.dir+"/a.txt", "hello\nthere\n")
	write(t, r.dir+"/new.txt", "line one\nline two\n")
	if err := os.Remove(r.dir + "/sub/b.go"); err != nil {
		t.Fatal(err)
	}
	fresh := "diff --git a/new.txt b/new.txt\nnew file mode 100644\nindex 0000000..e5c5c55\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+line one\n+line two\n"
	want := []any{
		map[string]any{"file": "a.txt", "additions": 1.0, "deletions": 1.0, "status": "modified"},
		map[string]any{"file": "new.txt", "additions": 2.0, "deletions": 0.0, "status": "added"},
		map[string]any{"file": "sub/b.go", "additions": 0.0, "deletions": 1.0, "status": "deleted"},
	}
	if diff := cmp.Diff(want, r.ok("GET", "/vcs/status", "")); diff != "" {
		t.Errorf("/vcs/status (-want +got):\n%s", diff)
	}
	want34 := []any{
		map[string]any{"path": "a.txt", "added": 1.0, "removed": 1.0, "status": "modified"},
		map[string]any{"path": "new.txt", "added": 2.0, "removed": 0.0, "status": "added"},
		map[string]any{"path": "sub/b.go", "added": 0.0, "removed": 1.0, "status": "deleted"},
	}
	if diff := cmp.Diff(want34, r.ok("GET", "/file/status", "")); diff != "" {
		t.Errorf("/file/status (-want +got):\n%s", diff)
	}
	for _, query := range []string{"mode=git", "mode=branch", "mode=git&context=0", "mode=git&context=99999999999"} {
		got := r.ok("GET", "/vcs/diff?"+query, "").([]any)
		all := ""
		for _, f := range got {
			f := f.(map[string]any)
			all += f["patch"].(string)
			delete(f, "patch")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
		if !strings.Contains(all, fresh) || strings.Contains(all, "\n hello\n") == strings.Contains(query, "context=0") {
			t.Errorf("%s: patches %s", query, all)
		}
		if query == "mode=git" {
			raw := r.do("GET", "/vcs/diff/raw", "")
			if string(raw.body) != all || raw.header.Get("Content-Type") != "text/x-diff; charset=utf-8" {
				t.Errorf("raw: %v %s", raw.header, raw.body)
			}
		}
	}
	for _, query := range []string{"", "mode=", "mode=x", "mode=git&context=-1", "mode=git&context=many"} {
		if res := r.do("GET", "/vcs/diff?"+query, ""); res.status != 400 {
			t.Errorf("%q: %d %s", query, res.status, res.body)
		}
	}
	plain := filepath.Join(filepath.Dir(r.dir), "plain")
	write(t, plain+"/x.txt", "x\n")
	for _, path := range []string{"/vcs/diff?mode=git&directory=", "/vcs/status?directory=", "/file/status?directory="} {
		if got := r.ok("GET", path+plain, ""); len(got.([]any)) != 0 {
			t.Errorf("outside git %s answers %v", path, got)
		}
	}
	if raw := r.do("GET", "/vcs/diff/raw?directory="+plain, ""); raw.status != 200 || len(raw.body) != 0 {
		t.Errorf("outside git: %d %s", raw.status, raw.body)
	}
}
