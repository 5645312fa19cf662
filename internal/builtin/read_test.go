package builtin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

func TestReadFormat(t *testing.T) {
	r := newRig(t)
	path := r.put("a.txt", "one\r\ntwo\r\nthree\r\n")
	tests := []struct {
		name string
		in   m
		want string
	}{
		{"whole", m{"filePath": "a.txt"}, "1: one\n2: two\n3: three\n\n(End of file - total 3 lines)"},
		{"offset 0 is the first line", m{"filePath": path, "offset": 0, "limit": 1}, "1: one\n\n(Showing lines 1-1 of 3. Use offset=2 to continue.)"},
		{"middle", m{"filePath": path, "offset": "2", "limit": 1}, "2: two\n\n(Showing lines 2-2 of 3. Use offset=3 to continue.)"},
		{"end", m{"filePath": path, "offset": 3}, "3: three\n\n(End of file - total 3 lines)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := r.ok("read", tt.in).Output
			want := "<path>" + path + "</path>\n<type>file</type>\n<content>\n" + tt.want + "\n</content>"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
	r.fails("read", m{"filePath": "a.txt", "offset": 5}, "Offset 5 is out of range for this file (3 lines)")
	r.put("empty", "")
	if out := r.ok("read", m{"filePath": "empty", "offset": 1}).Output; !strings.Contains(out, "<content>\n\n(End of file - total 0 lines)\n</content>") {
		t.Errorf("empty file:\n%s", out)
	}
}

func TestReadMetadataAndAsk(t *testing.T) {
	r := newRig(t)
	path := r.put("sub/a.txt", "x\n")
	res := r.ok("read", m{"filePath": "sub/a.txt"})
	want := m{"preview": "x", "truncated": false, "loaded": []string{}, "display": m{
		"type": "file", "path": path, "lineStart": 1, "lineEnd": 1, "totalLines": 1, "truncated": false}}
	if diff := cmp.Diff(want, m(res.Metadata)); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if res.Title != "sub/a.txt" {
		t.Errorf("title %q", res.Title)
	}
	outside := filepath.Join(filepath.Dir(r.dir), "other", "b.txt")
	if err := os.MkdirAll(filepath.Dir(outside), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, r.path("link")); err != nil {
		t.Fatal(err)
	}
	r.put(".env", "KEY=1")
	r.asked()
	for _, p := range []string{outside, "link", ".env", "~/other/b.txt", "../other"} {
		r.ok("read", m{"filePath": p})
	}
	dir := filepath.Dir(outside)
	ext := fmt.Sprintf("external_directory %s/* [%q]", dir, dir+"/*")
	wantAsks := []string{ext, "read ../other/b.txt", ext, "read ../other/b.txt", "read .env", ext, "read ../other/b.txt", ext, "read ../other"}
	if diff := cmp.Diff(wantAsks, r.asked()); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	r.deny = denies("read")
	if _, err := r.run("read", m{"filePath": "missing"}); !errors.Is(err, errDenied) {
		t.Errorf("a missing file is told of before the permission is asked: %v", err)
	}
}

func TestReadLimits(t *testing.T) {
	r := newRig(t)
	r.put("lines", strings.Repeat("x\n", 2500))
	out := r.ok("read", m{"filePath": "lines"}).Output
	if !strings.Contains(out, "2000: x\n\n(Showing lines 1-2000 of 2500. Use offset=2001 to continue.)") || strings.Contains(out, "2001: x") {
		t.Errorf("2,500 lines end in %q", out[len(out)-100:])
	}
	r.put("wide", strings.Repeat("é", 2001)+"\n"+strings.Repeat("é", 2000)+"\n")
	out = r.ok("read", m{"filePath": "wide"}).Output
	if !strings.Contains(out, "1: "+strings.Repeat("é", 2000)+"... (line truncated to 2000 chars)\n2: "+strings.Repeat("é", 2000)+"\n\n") {
		t.Error("a line of 2,001 characters is not cut, or one of 2,000 is")
	}
	r.put("bytes", strings.Repeat(strings.Repeat("y", 999)+"\n", 100))
	res := r.ok("read", m{"filePath": "bytes"})
	if !strings.Contains(res.Output, "(Output capped at 50 KB. Showing lines 1-51. Use offset=52 to continue.)") || res.Metadata["truncated"] != true {
		t.Errorf("ends in %q", res.Output[len(res.Output)-120:])
	}
}

func TestReadHugeFile(t *testing.T) {
	r := newRig(t)
	path := r.path("huge")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("z", 1023) + "\n"
	for range 20 {
		if _, err := f.WriteString(strings.Repeat(line, 1024)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out := r.ok("read", m{"filePath": "huge", "offset": 20480, "limit": 5}).Output
	if !strings.Contains(out, "20480: zzz") || !strings.Contains(out, "total 20480 lines") {
		t.Errorf("output %.200q", out)
	}
	r.ok("edit", m{"filePath": "huge", "oldString": line, "newString": "q", "replaceAll": true}) // known though not hashed
}

func TestReadOneLongLine(t *testing.T) {
	r := newRig(t)
	r.put("min.js", strings.Repeat("a", 20<<20))
	if out := r.ok("read", m{"filePath": "min.js"}).Output; !strings.Contains(out, cutLine) || len(out) > 3000 {
		t.Errorf("output of %d bytes", len(out))
	}
}

func TestReadDirectory(t *testing.T) {
	r := newRig(t)
	r.put("d/b.txt", "")
	r.put("d/a/x", "")
	if err := os.Symlink(r.path("d/a"), r.path("d/link")); err != nil {
		t.Fatal(err)
	}
	out := r.ok("read", m{"filePath": "d"}).Output
	want := "<path>" + r.path("d") + "</path>\n<type>directory</type>\n<entries>\na/\nb.txt\nlink/\n\n(3 entries)\n</entries>"
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	out = r.ok("read", m{"filePath": "d", "offset": 2, "limit": 1}).Output
	if !strings.Contains(out, "<entries>\nb.txt\n\n(Showing 1 of 3 entries. Use 'offset' parameter to read beyond entry 2)") {
		t.Errorf("page:\n%s", out)
	}
	r.fails("read", m{"filePath": "d", "offset": 9}, "out of range for this directory (3 entries)")
}

func TestReadRefuses(t *testing.T) {
	r := newRig(t)
	r.put("config.yaml", "")
	r.fails("read", m{"filePath": "config"}, "Did you mean one of these?\n"+r.path("config.yaml"))
	r.fails("read", m{"filePath": "zzz"}, "File not found: "+r.path("zzz"))
	r.put("x.zip", "text")
	r.put("nul", "a\x00b")
	r.fails("read", m{"filePath": "x.zip"}, "Cannot read binary file: "+r.path("x.zip"))
	r.fails("read", m{"filePath": "nul"}, "Cannot read binary file")
	r.fails("read", m{"filePath": "a\x00b"}, "NUL")
	auth := filepath.Join(r.env.DataDir, "auth.json")
	if err := os.MkdirAll(r.env.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(auth, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.fails("read", m{"filePath": auth}, "belongs to lathe itself")
	if err := os.Symlink(auth, r.path("innocent")); err != nil {
		t.Fatal(err)
	}
	r.fails("read", m{"filePath": "innocent"}, "belongs to lathe itself")
}

func TestReadEncodings(t *testing.T) {
	r := newRig(t)
	r.put("bom", "\ufeffhello\n")
	r.put("wide", "\xff\xfeh\x00\xe9\x00\r\x00\n\x00")
	r.put("latin", "caf\xe9\n")
	for name, want := range map[string]string{"bom": "1: hello\n", "wide": "1: hé\n", "latin": "1: caf\ufffd\n"} {
		if out := r.ok("read", m{"filePath": name}).Output; !strings.Contains(out, "<content>\n"+want) {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

func TestReadAttachments(t *testing.T) {
	r := newRig(t)
	r.put("pic.dat", "\x89PNG\r\n\x1a\nrest")
	r.put("doc", "%PDF-1.7")
	r.put("fake.png", "only words\n")
	r.put("draw.svg", "<svg/>\n")
	res := r.ok("read", m{"filePath": "pic.dat"})
	want := []lathe.File{{MIME: "image/png", Filename: "pic.dat", URL: "data:image/png;base64,iVBORw0KGgpyZXN0"}}
	if diff := cmp.Diff(want, res.Attachments); diff != "" || res.Output != "Image read successfully" {
		t.Errorf("output %q, attachments (-want +got):\n%s", res.Output, diff)
	}
	if res := r.ok("read", m{"filePath": "doc"}); res.Output != "PDF read successfully" || len(res.Attachments) != 1 {
		t.Errorf("PDF: %+v", res)
	}
	for _, name := range []string{"fake.png", "draw.svg"} {
		if res := r.ok("read", m{"filePath": name}); len(res.Attachments) != 0 || !strings.Contains(res.Output, "<content>") {
			t.Errorf("%s: %+v", name, res)
		}
	}
}

func TestNestedInstructions(t *testing.T) {
	r := newRig(t)
	r.put("AGENTS.md", "top rules")
	inner := r.put("a/b/AGENTS.md", "inner rules")
	r.put("a/b/CLAUDE.md", "not this one")
	outer := r.put("a/CONTEXT.md", "outer rules")
	r.put("a/b/c/x.go", "package x\n")
	res := r.ok("read", m{"filePath": "a/b/c/x.go"})
	want := "\n\n<system-reminder>\nInstructions from: " + inner + "\ninner rules\n\nInstructions from: " + outer + "\nouter rules\n</system-reminder>"
	if !strings.HasSuffix(res.Output, want) {
		t.Errorf("output ends in\n%s", res.Output)
	}
	if diff := cmp.Diff([]string{inner, outer}, res.Metadata["loaded"]); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	if res := r.ok("read", m{"filePath": "a/b/c/x.go"}); strings.Contains(res.Output, "reminder") {
		t.Error("told twice in one message")
	}
	r.message = "msg_2"
	r.messages = []lathe.Message{{Parts: []lathe.Part{{Body: &lathe.ToolCall{Tool: "read", State: &lathe.ToolDone{Metadata: m{"loaded": []any{inner}}}}}}}}
	if res := r.ok("read", m{"filePath": "a/b/c/x.go"}); strings.Contains(res.Output, "inner rules") || !strings.Contains(res.Output, "outer rules") {
		t.Errorf("what the history has is told again, or more is left out:\n%s", res.Output)
	}
	r.message = "msg_3"
	r.messages[0].Parts[0].Body.(*lathe.ToolCall).State.(*lathe.ToolDone).Compacted = time.Unix(1, 0)
	if res := r.ok("read", m{"filePath": "a/b/AGENTS.md"}); strings.Contains(res.Output, "<system-reminder>\nInstructions from: "+inner) {
		t.Error("a file is its own instruction")
	}
	if res := r.ok("read", m{"filePath": "a/b/c/x.go"}); !strings.Contains(res.Output, "inner rules") {
		t.Error("a cleared read still counts as told")
	}
}

func TestNestedInstructionsLinkedAway(t *testing.T) {
	r := newRig(t)
	secret := filepath.Join(filepath.Dir(r.dir), "secret")
	if err := os.WriteFile(secret, []byte("hidden"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.put("d/x", "x\n")
	if err := os.Symlink(secret, r.path("d/AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if res := r.ok("read", m{"filePath": "d/x"}); strings.Contains(res.Output, "hidden") {
		t.Error("a link out of the workspace is followed")
	}
}

func BenchmarkRead(b *testing.B) {
	r := newRig(b)
	r.put("a.go", strings.Repeat("\tsome := line(of, code)\n", 400))
	b.ReportAllocs()
	for b.Loop() {
		r.ok("read", m{"filePath": "a.go"})
		r.asks = r.asks[:0]
	}
}
