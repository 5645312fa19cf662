package builtin

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

func TestParsePatch(t *testing.T) {
	const body = "*** Begin Patch\n*** Add File: a: b.txt\n+one\n+two\nignored\n*** Delete File: c\n*** Update File: d\n*** Move to: e\n" +
		"@@ func f()\n same\n-old\n+new\n*** End of File\n@@\n+more\n*** End Patch"
	want := []hunk{
		addFile{"a: b.txt", "one\ntwo\n"},
		deleteFile{"c"},
		updateFile{"d", "e", []chunk{
			{context: "func f()", old: []string{"same", "old"}, new: []string{"same", "new"}, atEnd: true},
			{new: []string{"more"}},
		}},
	}
	for name, text := range map[string]string{
		"plain": body, "padded": "\n  " + body + " \n", "CRLF": strings.ReplaceAll(body, "\n", "\r\n"), "chatter": "Here it is:\n" + body + "\nDone.",
		"here document": "cat <<'EOF'\n" + body + "\nEOF", "here document, bare": "<<PATCH\n" + body + "\nPATCH",
	} {
		got, err := parsePatch(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(addFile{}, deleteFile{}, updateFile{}, chunk{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, text := range []string{"", "*** Begin Patch", "*** End Patch\n*** Begin Patch", "*** Begin Patch\n*** Add File:\n+x\n*** End Patch"} {
		if h, err := parsePatch(text); err == nil {
			t.Errorf("%q gives %v", text, h)
		}
	}
}

func TestPatchUpdate(t *testing.T) {
	tests := []struct{ name, text, chunks, want, err string }{
		{"replace", "a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n", ""},
		{"first chunk without its marker", "a\nb\n", " a\n-b\n+B", "a\nB\n", ""},
		{"context chooses the place", "f:\n x\ng:\n x\n", "@@ g:\n- x\n+ y", "f:\n x\ng:\n y\n", ""},
		{"chunks in order", "x\nx\nx\n", "@@\n-x\n+1\n@@\n-x\n+2", "1\n2\nx\n", ""},
		{"insertion at the end", "a\n", "@@\n+b", "a\nb\n", ""},
		{"insertion after the context", "a\nb\n", "@@ a\n+new", "a\nnew\nb\n", ""},
		{"end of file", "x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n", ""},
		{"a chunk after end of file", "x\ny\n", "@@\n-x\n+X\n*** End of File\n@@\n-y\n+Y", "X\nY\n", ""},
		{"trailing white space", "a  \nb\n", "@@\n-a\n+A\n b", "A\nb\n", ""},
		{"indentation", "\ta\nb\n", "@@\n-a\n+A", "A\nb\n", ""},
		{"typographic characters", "say “hi” – ok…\n", "@@\n-say \"hi\" - ok...\n+bye", "bye\n", ""},
		{"no newline at the end", "a\nb", "@@\n-b\n+c", "a\nc\n", ""},
		{"empty last line is forgiven", "a\nb\n", "@@\n a\n-b\n+c\n ", "a\nc\n", ""},
		{"empty context line without its blank", "a\n\nb\n", "@@\n a\n\n-b\n+c", "a\n\nc\n", ""},
		{"numbers of a unified diff", "f\na\n", "@@ -1,2 +1,2 @@ f\n-a\n+b", "f\nb\n", ""},
		{"everything", "a\n", "@@\n-a", "", ""},
		{"missing context", "a\n", "@@ nowhere\n-a\n+b", "", "Failed to find context 'nowhere' in f"},
		{"missing lines", "a\n", "@@\n-b\n+c", "", "Failed to find expected lines in f:\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hunks, err := parsePatch(patchBegin + "\n*** Update File: f\n" + tt.chunks + "\n" + patchEnd)
			if err != nil {
				t.Fatal(err)
			}
			got, err := hunks[0].(updateFile).apply(tt.text)
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Fatalf("got %q, %v; want error %q", got, err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestApplyPatch(t *testing.T) {
	r := newRig(t, func(e *Env) { e.Patch = true })
	r.put("d.txt", "\ufeffone\r\ntwo\r\n")
	r.put("gone", "x\n")
	r.put("m/old", "keep\n")
	patch := "*** Begin Patch\n*** Add File: new/a.txt\n+hello\n*** Update File: d.txt\n@@\n one\n-two\n+2\n" +
		"*** Delete File: gone\n*** Update File: m/old\n*** Move to: m/new\n@@\n-keep\n+kept\n*** End Patch"
	res := r.ok("apply_patch", m{"patchText": patch})
	if diff := cmp.Diff("Success. Updated the following files:\nA new/a.txt\nM d.txt\nD gone\nM m/new", res.Output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	got := []string{r.get("new/a.txt"), r.get("d.txt"), r.get("m/new")}
	if diff := cmp.Diff([]string{"hello\n", "\ufeffone\r\n2\r\n", "kept\n"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range []string{"gone", "m/old"} {
		if _, err := os.Stat(r.path(name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if diff := cmp.Diff([]string{"edit new/a.txt | d.txt | gone | m/old | m/new"}, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	var ops []string
	for _, ev := range r.events {
		if w, ok := ev.(lathe.FileWatched); ok {
			ops = append(ops, w.Op+" "+strings.TrimPrefix(w.File, r.dir+"/"))
		}
	}
	if diff := cmp.Diff([]string{"add new/a.txt", "change d.txt", "unlink gone", "add m/new", "unlink m/old"}, ops); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	files := res.Metadata["files"].([]any)
	first := m{"filePath": r.path("new/a.txt"), "relativePath": "new/a.txt", "type": "add", "additions": 1, "deletions": 0,
		"patch": "--- /dev/null\n+++ " + header(r.path("new/a.txt")) + "\n@@ -0,0 +1 @@\n+hello\n"}
	if diff := cmp.Diff(first, m(files[0].(map[string]any))); diff != "" || len(files) != 4 {
		t.Errorf("%d files, first (-want +got):\n%s", len(files), diff)
	}
	if moved := files[3].(map[string]any); moved["type"] != "move" || moved["movePath"] != r.path("m/new") {
		t.Errorf("moved %v", moved)
	}
}

func TestApplyPatchAllOrNothing(t *testing.T) {
	r := newRig(t, func(e *Env) { e.Patch = true })
	r.put("a", "one\n")
	r.put("taken", "x\n")
	wrap := func(body string) m { return m{"patchText": "*** Begin Patch\n" + body + "*** End Patch"} }
	tests := []struct {
		in   m
		want string
	}{
		{m{"patchText": " "}, "patchText is required"},
		{m{"patchText": "hello"}, "apply_patch verification failed: Invalid patch format: missing Begin/End markers"},
		{wrap(""), "patch rejected: empty patch"},
		{wrap("nothing\n"), "apply_patch verification failed: no hunks found"},
		{wrap("*** Update File: a\n@@\n-one\n+1\n*** Update File: none\n@@\n-x\n+y\n"), "Failed to read file to update"},
		{wrap("*** Add File: new\n+x\n*** Delete File: none\n"), "it does not exist"},
		{wrap("*** Add File: new\n+x\n*** Update File: a\n@@\n-two\n+2\n"), "Failed to find expected lines"},
		{wrap("*** Add File: taken\n+y\n"), "exists already"},
		{wrap("*** Update File: a\n*** Move to: taken\n@@\n-one\n+1\n"), "exists already"},
		{wrap("*** Update File: a\n@@\n-one\n+1\n*** Update File: ./a\n@@\n-1\n+2\n"), "is in the patch twice"},
		{wrap("*** Add File: ~/data/x\n+y\n"), "belongs to lathe itself"},
	}
	for _, tt := range tests {
		r.fails("apply_patch", tt.in, tt.want)
	}
	if _, err := os.Stat(r.path("new")); err == nil || r.get("a") != "one\n" || r.get("taken") != "x\n" {
		t.Error("a patch that fails changed something")
	}
}

func FuzzParsePatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@ c\n-d\n+e\n*** End of File\n*** End Patch", "c\nd\n")
	f.Add("<<EOF\n*** Begin Patch\n*** Update File: b\n*** Move to: z\n d\n+e\n*** End Patch\nEOF", "d")
	f.Add("*** Begin Patch\n*** Update File: b\n@@\n \n-\n+\n\n@@\n+q\n*** End Patch", "\n\n\n")
	f.Fuzz(func(t *testing.T, patch, text string) {
		hunks, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, h := range hunks {
			if h.target() == "" {
				t.Fatal("a hunk without a path")
			}
			if u, ok := h.(updateFile); ok {
				out, err := u.apply(text)
				if err == nil && out != "" && !strings.HasSuffix(out, "\n") {
					t.Fatalf("no line end at the end of %q", out)
				}
			}
		}
	})
}

// A patch that is given to bash as if apply_patch were a program is applied, also where
// that tool is not offered.
func TestPatchThroughBash(t *testing.T) {
	r := newRig(t)
	r.put("a", "one\ntwo\n")
	r.ok("bash", m{"command": "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+2\n*** End Patch\nEOF"})
	if got := r.get("a"); got != "one\n2\n" {
		t.Errorf("file %q", got)
	}
	if asked := r.asked(); len(asked) != 1 || asked[0] != "edit a" {
		t.Errorf("asked %q", asked)
	}
}
