package builtin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/tool"
)

func (r *rig) seen(name string) { r.ok("read", m{"filePath": name}) }

// header is a path as a diff names it: one with a space ends in a tab.
func header(path string) string {
	if strings.Contains(path, " ") {
		return path + "\t"
	}
	return path
}

func TestEdit(t *testing.T) {
	r := newRig(t)
	path := r.put("d/a.go", "package a\n\nfunc f() {\n\treturn\n}\n")
	r.seen("d/a.go")
	r.asked()
	r.progress = nil
	res := r.ok("edit", m{"filePath": "d/a.go", "oldString": "\treturn\n", "newString": "\tpanic(1)\n"})
	if got := r.get("d/a.go"); got != "package a\n\nfunc f() {\n\tpanic(1)\n}\n" {
		t.Errorf("file:\n%s", got)
	}
	diff := "--- " + header(path) + "\n+++ " + header(path) + "\n@@ -1,5 +1,5 @@\n package a\n \n func f() {\n-\treturn\n+\tpanic(1)\n }\n"
	want := tool.Result{
		Title: "d/a.go", Output: "Edit applied successfully.",
		Metadata: m{"diff": diff, "diagnostics": m{}, "truncated": false, "filediff": m{
			"file": path, "patch": diff, "additions": 1, "deletions": 1,
			"before": "package a\n\nfunc f() {\n\treturn\n}\n", "after": "package a\n\nfunc f() {\n\tpanic(1)\n}\n",
		}},
	}
	if d := cmp.Diff(want, res); d != "" {
		t.Errorf("result (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"edit d/a.go"}, r.asked()); d != "" {
		t.Errorf("asks (-want +got):\n%s", d)
	}
	if len(r.progress) != 1 || r.progress[0]["diff"] != diff {
		t.Errorf("progress %v", r.progress)
	}
	events := []lathe.Event{lathe.FileEdited{File: path}, lathe.FileWatched{File: path, Op: "change"}}
	if d := cmp.Diff(events, r.events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	r.ok("edit", m{"filePath": "d/a.go", "oldString": "panic(1)", "newString": "panic(2)"}) // its own change is seen
}

func TestEditRefuses(t *testing.T) {
	r := newRig(t)
	r.put("a", "one\ntwo\n")
	edit := func(path, old, replacement string) m {
		return m{"filePath": path, "oldString": old, "newString": replacement}
	}
	every := edit("a", "one", "1")
	every["replaceAll"] = true
	r.fails("edit", every, "has not been read in this session")
	r.seen("a")
	r.put("a", "one\ntwo\nthree\n")
	r.fails("edit", every, "changed after it was last read")
	r.fails("edit", edit("", "one", "1"), "filePath is required")
	r.fails("edit", edit("a", "one", "one"), "No changes to apply: oldString and newString are identical.")
	r.fails("edit", edit("a", "", "one"), "oldString is empty")
	r.fails("edit", edit("b", "x", "y"), "File "+r.path("b")+" not found")
	r.fails("edit", edit(".", "x", "y"), "Path is a directory, not a file: "+r.dir)
	r.fails("edit", edit("a", "nowhere", "y"), "Could not find oldString in the file")
	r.fails("edit", edit("a", "o", "y"), "Found multiple matches for oldString")
	r.fails("edit", m{"filePath": "a"}, "The edit tool was called with invalid arguments: ")
	r.deny = denies("edit")
	if _, err := r.run("edit", edit("a", "one", "1")); !errors.Is(err, errDenied) {
		t.Errorf("error %v, want the refusal as it is", err)
	}
	if r.get("a") != "one\ntwo\nthree\n" || len(r.events) != 0 {
		t.Errorf("a refused edit changed the file: %q, events %v", r.get("a"), r.events)
	}
}

func TestEditCreates(t *testing.T) {
	r := newRig(t)
	r.ok("edit", m{"filePath": "new/file", "oldString": "", "newString": "hello"})
	if r.get("new/file") != "hello" {
		t.Errorf("content %q", r.get("new/file"))
	}
	want := []lathe.Event{lathe.FileEdited{File: r.path("new/file")}, lathe.FileWatched{File: r.path("new/file"), Op: "add"}}
	if d := cmp.Diff(want, r.events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func TestEditKeepsStyle(t *testing.T) {
	tests := []struct{ name, before, old, new, after string }{
		{"BOM and CRLF", "\ufeffa\r\nb\r\n", "a\nb", "a\nc", "\ufeffa\r\nc\r\n"},
		{"BOM in the search", "\ufeffa\n", "\ufeffa", "\ufeffb", "\ufeffb\n"},
		{"mixed line ends", "\ufeffa\r\nb\nc\r\nb2\n", "c", "x\ny", "\ufeffa\r\nb\nx\ny\r\nb2\n"},
		{"UTF-16", "\xff\xfea\x00\n\x00", "a", "é", "\xff\xfe\xe9\x00\n\x00"},
		{"unknown encoding", "caf\xe9 a\n", "a\n", "b\n", ""},
		{"no line end at the end", "a\nb", "b", "c", "a\nc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.put("f", tt.before)
			r.seen("f")
			if tt.after == "" { // "a" is in "café" too
				tt.old, tt.new, tt.after = " a", " b", "caf\xe9 b\n"
			}
			r.ok("edit", m{"filePath": "f", "oldString": tt.old, "newString": tt.new})
			if d := cmp.Diff(tt.after, r.get("f")); d != "" {
				t.Errorf("bytes (-want +got):\n%s", d)
			}
		})
	}
}

func TestEditChangedWhileAsking(t *testing.T) {
	r := newRig(t)
	r.put("a", "one\n")
	r.seen("a")
	r.deny = func(req tool.Request) error {
		if req.Permission == "edit" {
			r.put("a", "one\nuser's line\n")
		}
		return nil
	}
	r.fails("edit", m{"filePath": "a", "oldString": "one", "newString": "1"}, "changed while")
	if r.get("a") != "one\nuser's line\n" {
		t.Errorf("the user's line is lost: %q", r.get("a"))
	}
}

func TestEditsOfOneFileAtOnce(t *testing.T) {
	r := newRig(t)
	var b strings.Builder
	for i := range 20 {
		b.WriteString("line" + string(rune('a'+i)) + "\n")
	}
	r.put("a", b.String())
	r.seen("a")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			c := string(rune('a' + i))
			res, err := r.run("edit", m{"filePath": "a", "oldString": "line" + c, "newString": "LINE" + c})
			if err != nil || res.Failed {
				t.Errorf("edit %s: %v %s", c, err, res.Output)
			}
		})
	}
	wg.Wait()
	if got := r.get("a"); got != strings.ReplaceAll(b.String(), "line", "LINE") {
		t.Errorf("an edit was lost:\n%s", got)
	}
}

func TestProtectedFiles(t *testing.T) {
	r := newRig(t, func(e *Env) { e.Private = []string{filepath.Join(e.Home, "config")} })
	tests := []struct {
		path      string
		protected bool
	}{
		{".git/hooks/pre-commit", true}, {".git/info/x", true}, {"sub/.git", true}, {".GIT/hooks/x", true},
		{".opencode/agent/x.md", true}, {".lathe/y", true}, {"opencode.json", true}, {"sub/lathe.jsonc", true},
		{".opencode/plans/1-a.md", false}, {"a.go", false}, {".github/x.yml", false}, {"my.opencode.json", false},
	}
	for _, tt := range tests {
		r.asks = nil
		r.ok("write", m{"filePath": tt.path, "content": "x"})
		req := r.asks[len(r.asks)-1]
		if req.Permission != "edit" || (req.Metadata[tool.MetaProtected] == true) != tt.protected || (req.Always == nil) != tt.protected {
			t.Errorf("%s: %+v", tt.path, req)
		}
	}
	if err := os.Symlink(r.path(".git/hooks"), r.path("hooks")); err != nil {
		t.Fatal(err)
	}
	r.asks = nil
	r.ok("write", m{"filePath": "hooks/post-commit", "content": "x"})
	if r.asks[0].Metadata[tool.MetaProtected] != true {
		t.Errorf("through a link: %+v", r.asks[0])
	}
	for _, path := range []string{"~/data/auth.json", "~/data/tool-output/tool_x", "~/config/lathe.json"} {
		r.fails("write", m{"filePath": path, "content": "x"}, "belongs to lathe itself")
	}
	r.ok("write", m{"filePath": "~/data/plans/a.md", "content": "x"})
}

func TestWrite(t *testing.T) {
	r := newRig(t)
	res := r.ok("write", m{"filePath": "a/b", "content": "one\n"})
	want := tool.Result{Title: "a/b", Output: "Wrote file successfully.", Metadata: m{
		"filepath": r.path("a/b"), "exists": false, "diagnostics": m{}, "truncated": false}}
	if d := cmp.Diff(want, res); d != "" {
		t.Errorf("result (-want +got):\n%s", d)
	}
	r.ok("write", m{"filePath": "a/b", "content": "two\n"}) // its own file is seen
	if diff, _ := r.asks[1].Metadata["diff"].(string); !strings.Contains(diff, "-one\n+two\n") {
		t.Errorf("diff in the ask:\n%s", diff)
	}
	r.put("c", "x")
	r.fails("write", m{"filePath": "c", "content": "y"}, "has not been read")
	styles := []struct{ before, content, after string }{
		{"\ufeffa\r\n", "b\nc\n", "\ufeffb\r\nc\r\n"},
		{"a\n", "b\r\n", "b\r\n"},
		{"a\n", "\ufeffb\n", "\ufeffb\n"},
		{"\xff\xfea\x00", "b\n", "\xff\xfeb\x00\n\x00"},
		{"a\r\nb\n", "c\n", "c\n"},
	}
	for _, tt := range styles {
		r.put("s", tt.before)
		r.seen("s")
		r.ok("write", m{"filePath": "s", "content": tt.content})
		if d := cmp.Diff(tt.after, r.get("s")); d != "" {
			t.Errorf("%q rewritten (-want +got):\n%s", tt.before, d)
		}
	}
	r.fails("write", m{"filePath": "a", "content": "x"}, "Path is a directory")
}

func TestMultiedit(t *testing.T) {
	r := newRig(t)
	r.put("a", "one\ntwo\nthree\n")
	r.seen("a")
	res := r.ok("multiedit", m{"filePath": "a", "edits": []m{
		{"oldString": "one", "newString": "1"},
		{"oldString": "1\ntwo", "newString": "1\n2"},
		{"oldString": "e", "newString": "E", "replaceAll": true},
	}})
	if r.get("a") != "1\n2\nthrEE\n" || strings.Count(res.Metadata["diff"].(string), "@@ ") != 1 {
		t.Errorf("content %q, diff\n%s", r.get("a"), res.Metadata["diff"])
	}
	r.fails("multiedit", m{"filePath": "a", "edits": []m{
		{"oldString": "1", "newString": "one"}, {"oldString": "gone", "newString": "x"},
	}}, "Edit 2 of 2 does not apply, so the file was not changed. Could not find")
	if r.get("a") != "1\n2\nthrEE\n" {
		t.Errorf("half of the edits were made: %q", r.get("a"))
	}
	r.ok("multiedit", m{"filePath": "n", "edits": []m{{"oldString": "", "newString": "abc"}, {"oldString": "b", "newString": "B"}}})
	if r.get("n") != "aBc" {
		t.Errorf("created %q", r.get("n"))
	}
	r.fails("multiedit", m{"filePath": "a", "edits": []m{}}, "invalid arguments")
}

// What an edit does not name stays byte for byte, whatever the file's style.
func TestEditBytesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ends := rapid.SampledFrom([]string{"\n", "\r\n"})
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark"))
		head := rapid.IntRange(0, 6).Draw(t, "head")
		for range head {
			b.WriteString(rapid.StringMatching(`[ -~é\t]{0,9}`).Draw(t, "line") + ends.Draw(t, "end"))
		}
		before := b.String()
		b.Reset()
		for range rapid.IntRange(0, 6).Draw(t, "tail") {
			b.WriteString(ends.Draw(t, "end") + rapid.StringMatching(`[ -~é\t]{0,9}`).Draw(t, "line"))
		}
		after := b.String()
		got := applied{data: []byte(before + "@@MARK@@" + after)}
		if err := got.apply(replacement{OldString: "@@MARK@@", NewString: "NEW"}); err != nil {
			t.Fatal(err)
		}
		if want := before + "NEW" + after; string(got.data) != want {
			t.Fatalf("got  %q\nwant %q", got.data, want)
		}
	})
}

func TestEditLargeFile(t *testing.T) {
	r := newRig(t)
	r.put("big.go", bigText())
	r.seen("big.go")
	begin := time.Now()
	r.ok("edit", m{"filePath": "big.go", "oldString": "func f5000(a int) error {\n    if a > 5000 {", "newString": "func f5000(a int) error {\n    if a >= 5000 {"})
	t.Logf("an edit of a 1 MB file took %v", time.Since(begin))
	if got := r.get("big.go"); !strings.Contains(got, "\tif a >= 5000 {\n\t\treturn nil\n") || len(got) != len(bigText())+1 {
		t.Error("the edit is not where it belongs, or more changed")
	}
}

func BenchmarkEdit(b *testing.B) {
	r := newRig(b)
	r.put("a.go", strings.Repeat("\tsome := line(of, code)\n", 400)+"\tunique := 0\n")
	r.ok("read", m{"filePath": "a.go"})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		from, to := "unique := 0", "unique := 1"
		if i%2 == 1 {
			from, to = to, from
		}
		r.ok("edit", m{"filePath": "a.go", "oldString": from, "newString": to})
		r.asks, r.events, r.progress = r.asks[:0], r.events[:0], r.progress[:0]
	}
}
