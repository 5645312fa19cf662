package server

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFileText answers files as they are: with the space around them, pictures, and the
// beginning of what is too long.
func TestFileText(t *testing.T) {
	r := newRig(t)
	write(t, filepath.Join(r.dir, "sub/a.txt"), "\n\n  third line\n")
	write(t, filepath.Join(r.dir, "pic.png"), "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	write(t, filepath.Join(r.dir, "prog.bin"), "\x7fELF\x00\x00\x01")
	write(t, filepath.Join(r.dir, "long.txt"), strings.Repeat("é", viewLimit))
	get := func(path string) map[string]any {
		t.Helper()
		return r.ok("GET", "/lathe/file/text?path="+url.QueryEscape(path), "").(map[string]any)
	}
	want := map[string]any{"path": "sub/a.txt", "text": "\n\n  third line\n", "size": 15.0}
	if diff := cmp.Diff(want, get("sub/a.txt")); diff != "" {
		t.Errorf("a text (-want +got):\n%s", diff)
	}
	if got := get("pic.png"); got["mime"] != "image/png" || got["base64"] == nil || got["text"] != "" {
		t.Errorf("a picture: %v", got)
	}
	if got := get("prog.bin"); got["mime"] == nil || got["text"] != "" || got["base64"] != nil {
		t.Errorf("a program: %v", got)
	}
	if got := get("long.txt"); got["cut"] != true || len(got["text"].(string)) != viewLimit || got["size"] != float64(2*viewLimit) {
		t.Errorf("a long text: cut %v, %d bytes of %v", got["cut"], len(got["text"].(string)), got["size"])
	}
	if err := os.Symlink("/etc", filepath.Join(r.dir, "out")); err != nil {
		t.Fatal(err)
	}
	for path, status := range map[string]int{"none.txt": 404, "../x": 403, "out/passwd": 403} {
		if res := r.do("GET", "/lathe/file/text?path="+url.QueryEscape(path), ""); res.status != status {
			t.Errorf("%s: %d, want %d", path, res.status, status)
		}
	}
}

// TestFindLines finds plain text as it is written, in any case where it has no capitals,
// regular expressions where they are asked for, and leaves out what may not be read.
func TestFindLines(t *testing.T) {
	r := newRig(t)
	write(t, filepath.Join(r.dir, "a.txt"), "one\nPrint(x[0])\n")
	write(t, filepath.Join(r.dir, "b.go"), "print(x[0])\n")
	write(t, filepath.Join(r.dir, ".env"), "print(x[0])\n")
	type line struct {
		Path string
		Line int
	}
	find := func(query string) (out []line) {
		t.Helper()
		for _, l := range r.ok("GET", "/lathe/find?"+query, "").(map[string]any)["lines"].([]any) {
			l := l.(map[string]any)
			out = append(out, line{l["path"].(string), int(l["line"].(float64))})
		}
		slices.SortStableFunc(out, func(a, b line) int { return strings.Compare(a.Path, b.Path) }) // they come by the time of their files
		return out
	}
	for query, want := range map[string][]line{
		"pattern=print(x%5B0%5D)":              {{"a.txt", 2}, {"b.go", 1}},
		"pattern=Print(x%5B0%5D)":              {{"a.txt", 2}},
		"pattern=rint.x&regexp=true":           {{"a.txt", 2}, {"b.go", 1}},
		"pattern=rint.x":                       nil,
		"pattern=print&include=*.go":           {{"b.go", 1}},
		"pattern=print&include=*.go&limit=200": {{"b.go", 1}},
	} {
		if diff := cmp.Diff(want, find(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if res := r.do("GET", "/lathe/find?pattern=%5B&regexp=true", ""); res.status != 400 {
		t.Errorf("a pattern that is none: %d", res.status)
	}
}
