package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/judge"
)

// TestProposed holds that an ask to leave the project says which file is meant and
// what would be written, before the file is looked at.
func TestProposed(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.env.Home, "outside.txt")
	edited := "--- " + file + "\n+++ " + file + "\n@@ -1 +1 @@\n-a\n+b\n"
	meta := func(more m) m {
		out := m{"filepath": file, "parentDir": r.env.Home}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	for name, tt := range map[string]struct{ in, want m }{
		"write": {m{"filePath": file, "content": "a\n"}, meta(m{"content": "a\n"})},
		"edit":  {m{"filePath": file, "oldString": "a\n", "newString": "b\n"}, meta(m{"diff": edited})},
		"multiedit": {m{"filePath": file, "edits": []m{{"oldString": "a\n", "newString": "b\n"}, {"oldString": "a\n", "newString": "b\n"}}},
			meta(m{"diff": edited + edited})},
		"read": {m{"filePath": file}, meta(nil)},
	} {
		r.asks, r.deny = nil, denies("external_directory")
		_, _ = r.run(name, tt.in)
		if diff := cmp.Diff(tt.want, m(r.asks[0].Metadata)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestChangeOutsideIsAskedOnce holds that a change outside the project needs one answer,
// and that one which the first ask did not cover is asked about as ever.
func TestChangeOutsideIsAskedOnce(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.env.Home, "outside.txt")
	for _, given := range []bool{true, false} {
		for name, in := range map[string]m{
			"write": {"filePath": file, "content": "a\n"}, "edit": {"filePath": file, "oldString": "a", "newString": "a"},
			"apply_patch": {"patchText": "*** Begin Patch\n*** Update File: " + file + "\n@@\n-a\n+b\n*** End Patch"},
		} {
			if name == "edit" {
				in["newString"] = "c"
			}
			if err := os.WriteFile(file, []byte("a\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r.run("read", m{"filePath": file})
			r.asks, r.given = nil, given
			r.run(name, in)
			var asked []string
			for _, req := range r.asks {
				asked = append(asked, req.Permission)
			}
			want := []string{"external_directory"}
			if !given {
				want = append(want, "edit")
			}
			if diff := cmp.Diff(want, asked); diff != "" {
				t.Errorf("%s, given %v (-want +got):\n%s", name, given, diff)
			}
			next := r.asks[0].Next
			if next == nil || next.Request.Permission != "edit" {
				t.Errorf("%s: the ask says nothing of the change", name)
			}
		}
	}
}

// TestPatchInAndOutIsAskedOnce holds that a patch of files inside the project and in
// several directories outside it needs one answer about all of them, and is refused whole.
func TestPatchInAndOutIsAskedOnce(t *testing.T) {
	r := newRig(t)
	outside := []string{filepath.Join(r.env.Home, "one/a.txt"), filepath.Join(r.env.Home, "two/b.txt"), filepath.Join(r.env.Home, "one/c.txt")}
	var patch strings.Builder
	for _, path := range append([]string{"inside.txt"}, outside...) {
		patch.WriteString("*** Add File: " + path + "\n+new\n")
	}
	in := m{"patchText": "*** Begin Patch\n" + patch.String() + "*** End Patch"}
	there := func() (n int) {
		for _, path := range append([]string{r.path("inside.txt")}, outside...) {
			if _, err := os.Stat(path); err == nil {
				n++
			}
		}
		return n
	}
	r.deny = denies("external_directory")
	if _, err := r.run("apply_patch", in); err == nil || there() != 0 {
		t.Errorf("refused: %v, %d files made", err, there())
	}
	r.deny, r.asks, r.given = nil, nil, true
	if _, err := r.run("apply_patch", in); err != nil || there() != 4 {
		t.Errorf("allowed: %v, %d files made", err, there())
	}
	next := r.asks[0].Next
	if next == nil || len(next.Request.Patterns) != 4 {
		t.Fatalf("the ask says of the change: %+v", next)
	}
	want := []string{judge.External(filepath.Join(r.env.Home, "one")).Patterns[0], judge.External(filepath.Join(r.env.Home, "two")).Patterns[0]}
	var asked []string
	for _, req := range r.asks {
		asked = append(asked, req.Patterns...)
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
