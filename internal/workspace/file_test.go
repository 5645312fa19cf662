//go:build unix

package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReadDir(t *testing.T) {
	dir := realDir(t)
	if err := os.Mkdir(filepath.Join(dir, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		put(t, filepath.Join(dir, "full", fmt.Sprint(i)), "x")
	}
	for name, err := range map[string]error{
		"pipe": syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644), "link": os.Symlink("pipe", filepath.Join(dir, "link")),
		"there": os.Symlink("full", filepath.Join(dir, "there")), "empty": os.Mkdir(filepath.Join(dir, "empty"), 0o755),
	} {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, tc := range []struct {
		path string
		n    int
		want error
	}{
		{"full", 4, nil}, {"there", 4, nil}, {"empty", 0, nil}, {"pipe", 0, syscall.ENOTDIR}, {"link", 0, syscall.ENOTDIR},
		{"full/1", 0, syscall.ENOTDIR}, {"none", 0, fs.ErrNotExist},
	} {
		got, err := ReadDir(filepath.Join(dir, tc.path), 4)
		if len(got) != tc.n || !errors.Is(err, tc.want) {
			t.Errorf("%s: %d entries, %v", tc.path, len(got), err)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := realDir(t)
	put(t, filepath.Join(dir, "file"), "hello")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Symlink("pipe", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path  string
		limit int64
		want  error
	}{
		{"file", 0, nil},
		{"file", 5, nil},
		{"file", 4, ErrTooLarge},
		{"none", 0, fs.ErrNotExist},
		{".", 0, ErrNotRegular},
		{"pipe", 0, ErrNotRegular},
		{"link", 0, ErrNotRegular},
		{"socket", 0, ErrNotRegular},
		{"/dev/zero", 0, ErrNotRegular},
		{"/dev/stdin/..", 0, syscall.ENOTDIR},
	} {
		p := tc.path
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		data, err := ReadFile(p, tc.limit)
		if !errors.Is(err, tc.want) && (tc.want != syscall.ENOTDIR || err == nil) {
			t.Errorf("%s: %v, want %v", tc.path, err, tc.want)
		}
		if tc.want == nil && string(data) != "hello" {
			t.Errorf("%s: %q", tc.path, data)
		}
	}
	if _, err := os.Stat("/proc/self/status"); err == nil {
		if data, err := ReadFile("/proc/self/status", 0); err != nil || len(data) == 0 {
			t.Errorf("a file of unknown length: %d bytes, %v", len(data), err)
		}
		if _, err := ReadFile("/proc/self/status", 10); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a file of unknown length above the limit: %v", err)
		}
	}
}

func TestWriteFile(t *testing.T) {
	dir := realDir(t)
	p := filepath.Join(dir, "new", "deep", "file")
	write := func(path, text string) {
		t.Helper()
		if err := WriteFile(path, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) string {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write(p, "one")
	if err := os.Chmod(p, 0o751); err != nil {
		t.Fatal(err)
	}
	write(p, "two")
	info, err := os.Stat(p)
	if err != nil || info.Mode().Perm() != 0o751 || read(p) != "two" {
		t.Errorf("after a second write: %v %v %q", info.Mode(), err, read(p))
	}

	link, dangling, hard := filepath.Join(dir, "link"), filepath.Join(dir, "dangling"), filepath.Join(dir, "hard")
	for _, err := range []error{os.Symlink("new/deep/file", link), os.Symlink("later/file", dangling), os.Link(p, hard)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	write(link, "three")
	if got, err := os.Readlink(link); err != nil || got != "new/deep/file" || read(p) != "three" {
		t.Errorf("link: %q %v, its target has %q", got, err, read(p))
	}
	if read(hard) != "two" { // it may be outside of what may be written
		t.Errorf("the other hard link has %q", read(hard))
	}
	write(dangling, "four")
	if got := read(filepath.Join(dir, "later", "file")); got != "four" {
		t.Errorf("target of a dangling link: %q", got)
	}

	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{dir, filepath.Join(dir, "pipe"), filepath.Join(p, "below")} {
		if err := WriteFile(bad, nil, 0); err == nil {
			t.Errorf("wrote %s", bad)
		}
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(p, 0o444); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(p, nil, 0); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a read-only file: %v", err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", "*", ".lathe-*"))
	more, _ := filepath.Glob(filepath.Join(dir, ".lathe-*"))
	if left = append(left, more...); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestWriteIsWhole reads while another goroutine writes: never a mix.
func TestWriteIsWhole(t *testing.T) {
	p := filepath.Join(realDir(t), "file")
	old, now := bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<17)
	if err := WriteFile(p, old, 0); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 30 {
			if err := WriteFile(p, [][]byte{now, old}[i%2], 0); err != nil {
				t.Error(err)
			}
		}
	})
	for range 200 {
		data, err := os.ReadFile(p)
		if err != nil || !bytes.Equal(data, old) && !bytes.Equal(data, now) {
			t.Fatalf("read %d bytes, %v", len(data), err)
		}
	}
	wg.Wait()
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Text
	}{
		{"", Text{}},
		{"a\nb", Text{Content: "a\nb"}},
		{"a\r\nb\r\n", Text{Content: "a\nb\n", EOL: CRLF}},
		{"\xef\xbb\xbfa\r\n", Text{Content: "a\n", BOM: true, EOL: CRLF}},
		{"\xff\xfea\x00\r\x00\n\x00\x3d\xd8\x00\xde", Text{Content: "a\n😀", BOM: true, EOL: CRLF, Encoding: UTF16LE}},
		{"\xfe\xff\x00a\x00\n", Text{Content: "a\n", BOM: true, Encoding: UTF16BE}},
		{"caf\xe9\n", Text{Content: "caf\xe9\n", Encoding: Bytes}},
		{"a\rb", Text{Content: "a\rb"}},
	} {
		got, err := Decode([]byte(tc.in))
		if err != nil {
			t.Errorf("%q: %v", tc.in, err)
		}
		if got != tc.want {
			t.Errorf("%q is %+v, want %+v", tc.in, got, tc.want)
		}
	}
	for _, in := range []string{"\xff\xfea", "\xff\xfe\x00\xd8", "\xfe\xff\xd8\x00\x00a", "\xff\xfe\x00\xdc"} {
		if _, err := Decode([]byte(in)); !errors.Is(err, ErrEncoding) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestEdit(t *testing.T) {
	for _, tc := range []struct{ in, content, want string }{
		{"a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n"},
		{"a\r\nb\r\n", "a\r\nx\n", "a\r\nx\r\n"},
		{"\xef\xbb\xbfa", "b", "\xef\xbb\xbfb"},
		{"1\r\n2\n3\r\n4\n5\r\n", "1\n2\nx\n4\n5\n", "1\r\n2\nx\r\n4\n5\r\n"},
		{"\xff\xfea\x00", "é\n", "\xff\xfe\xe9\x00\n\x00"},
	} {
		text, err := Decode([]byte(tc.in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Encode(text.With(tc.content))); got != tc.want {
			t.Errorf("%q with %q is %q, want %q", tc.in, tc.content, got, tc.want)
		}
	}
}

func roundTrip(t interface{ Errorf(string, ...any) }, data []byte) {
	text, err := Decode(data)
	if err != nil {
		return
	}
	if got := Encode(text); !bytes.Equal(got, data) {
		t.Errorf("%q decoded and encoded is %q", data, got)
	}
	if text.EOL != LF && strings.Contains(text.Content, "\r\n") && !bytes.Contains(data, []byte("\r\r\n")) && text.Encoding < UTF16LE {
		t.Errorf("%q has a line end left in %q", data, text.Content)
	}
}

func TestRoundTrip(t *testing.T) {
	bit := rapid.SampledFrom([]string{"a", "\n", "\r\n", "\r", "\x00", "é", "\xff", "\xfe", "\xff\xfe", "\xef\xbb\xbf", "\xd8", "\xdc"})
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, []byte(strings.Join(rapid.SliceOfN(bit, 0, 20).Draw(t, "bits"), "")))
	})
}

func FuzzText(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfa\r\nb\n"), "x\n")
	f.Add([]byte("\xff\xfea\x00\n\x00"), "")
	f.Fuzz(func(t *testing.T, data []byte, content string) {
		roundTrip(t, data)
		IsBinary("x", data)
		MediaType(data)
		if text, err := Decode(data); err == nil {
			Encode(text.With(content))
		}
	})
}

func TestIsBinary(t *testing.T) {
	long := "\xff\xfe" + strings.Repeat("a\x00", 2046) + "\x3d\xd8\x00\xde" + "b\x00"
	for _, tc := range []struct {
		name, head string
		want       bool
	}{
		{"a.go", "package a\n", false},
		{"a.go", "", false},
		{"A.ZIP", "text", true},
		{"a", "a\x00b", true},
		{"a", "\x01\x02\x03abcd", true},
		{"a", "\x01abcdef", false},
		{"a", "\xff\xfea\x00", false},
		{"a", "\xff\xfe\x00\x00", true},
		{"a", long, false},
		{"a", "\x1b[0m" + strings.Repeat("x", 20), false},
	} {
		if got := IsBinary(tc.name, []byte(tc.head)); got != tc.want {
			t.Errorf("%s %.20q: %v", tc.name, tc.head, got)
		}
	}
}

func TestMediaType(t *testing.T) {
	got := map[string]string{}
	for _, head := range []string{
		"\x89PNG\r\n\x1a\nx", "\xff\xd8\xff\xe0", "GIF89a", "BM\x36\x00\x0c\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00", "RIFF1234WEBP", "%PDF-1.7",
		"BMW is a car maker", "RIFF1234WAVE", "", "PNG",
	} {
		got[head] = MediaType([]byte(head))
	}
	want := map[string]string{
		"\x89PNG\r\n\x1a\nx": "image/png", "\xff\xd8\xff\xe0": "image/jpeg", "GIF89a": "image/gif",
		"BM\x36\x00\x0c\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00": "image/bmp", "RIFF1234WEBP": "image/webp", "%PDF-1.7": "application/pdf",
		"BMW is a car maker": "", "RIFF1234WAVE": "", "": "", "PNG": "",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("media types (-want +got):\n%s", d)
	}
}

func TestLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Locks
		ctx := context.Background()
		unlock, err := l.Lock(ctx, "b", "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan struct{})
		go func() {
			defer close(got)
			second, err := l.Lock(ctx, "a")
			if err != nil {
				t.Error(err)
				return
			}
			second()
		}()
		synctest.Wait()
		select {
		case <-got:
			t.Error("two holders of one path")
		default:
		}
		stop, cancel := context.WithCancelCause(ctx)
		cause := errors.New("enough")
		cancel(cause)
		if _, err := l.Lock(stop, "c", "b"); !errors.Is(err, cause) {
			t.Errorf("cancelled: %v", err)
		}
		unlock()
		unlock()
		<-got
		if len(l.held) != 0 {
			t.Errorf("%d entries left", len(l.held))
		}
	})
}

func TestLocksExclude(t *testing.T) {
	var l Locks
	var wg sync.WaitGroup
	count := map[string]int{"a": 0, "b": 0}
	for i := range 20 {
		wg.Go(func() {
			for range 50 {
				paths := []string{"a", "b"}
				if i%2 == 0 {
					paths = []string{"b", "a"}
				}
				unlock, err := l.Lock(context.Background(), paths...)
				if err != nil {
					t.Error(err)
					return
				}
				count["a"]++
				count["b"]++
				unlock()
			}
		})
	}
	wg.Wait()
	if d := cmp.Diff(map[string]int{"a": 1000, "b": 1000}, count); d != "" {
		t.Error(d)
	}
}
