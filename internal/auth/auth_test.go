package auth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	own, behind := filepath.Join(dir, "data", "auth.json"), filepath.Join(dir, "opencode.json")
	const foreign = `{"openai": {"type": "api", "key": "sk-o"}, "groq": {"type":"api","key":"g"}, "https://corp.example/": {"type":"wellknown","key":"TOK","token":"t"}, "x": 3}`
	writeFile(t, behind, foreign)
	s := Open(Options{Path: own, Fallback: behind})
	ctx := t.Context()

	expires := time.UnixMilli(1_800_000_000_000)
	must(t, s.Set(ctx, "openai", API{Key: NewSecret("sk-mine"), Metadata: map[string]string{"b": "2", "a": "1"}}))
	must(t, s.Set(ctx, "copilot/", OAuth{Refresh: NewSecret("r"), Access: NewSecret("a"), Expires: expires, AccountID: "acc"}))
	if ok, err := s.Remove(ctx, "groq"); !ok || err != nil {
		t.Errorf("remove groq: %v, %v", ok, err)
	}
	if ok, err := s.Remove(ctx, "groq"); ok || err != nil {
		t.Errorf("remove groq again: %v, %v", ok, err)
	}
	got, err := s.All()
	must(t, err)
	want := map[string]Entry{
		"openai":               API{Key: NewSecret("sk-mine"), Metadata: map[string]string{"b": "2", "a": "1"}},
		"copilot":              OAuth{Refresh: NewSecret("r"), Access: NewSecret("a"), Expires: expires, AccountID: "acc"},
		"https://corp.example": WellKnown{Key: "TOK", Token: NewSecret("t")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if data, _ := os.ReadFile(behind); string(data) != foreign {
		t.Errorf("the fallback was written: %s", data)
	}
	info, err := os.Stat(own)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "data", ".auth-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestForeignEntriesAndFieldsSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.json")
	writeFile(t, path, `{"new": {"type": "passkey", "blob": [1]}, "p": {"type":"oauth","refresh":"r","access":"a","expires":1,"idToken":"keep"}}`)
	s := Open(Options{Path: path})
	must(t, s.Set(t.Context(), "p", OAuth{Refresh: NewSecret("r2"), Access: NewSecret("a2")}))
	var got any
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, json.Unmarshal(data, &got))
	want := map[string]any{
		"new": map[string]any{"type": "passkey", "blob": []any{1.0}},
		"p":   map[string]any{"type": "oauth", "refresh": "r2", "access": "a2", "expires": 0.0, "idToken": "keep"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestBrokenFileIsNotOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.json")
	writeFile(t, path, `{"p": {"type":"api","key":"sk-precious"`)
	s := Open(Options{Path: path})
	err := s.Set(t.Context(), "q", API{Key: NewSecret("k")})
	if lathe.CodeOf(err) != lathe.CodeAuth || strings.Contains(err.Error(), "sk-precious") {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), "sk-precious") {
		t.Errorf("the file is now %s", data)
	}
}

func TestContent(t *testing.T) {
	s := Open(Options{Path: filepath.Join(t.TempDir(), "auth.json"), Content: `{"p":{"type":"api","key":"k"}}`})
	e, err := s.Get("p")
	must(t, err)
	if diff := cmp.Diff(Entry(API{Key: NewSecret("k")}), e); diff != "" {
		t.Error(diff)
	}
	if err := s.Set(t.Context(), "p", API{Key: NewSecret("k")}); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("set: %v", err)
	}
}

func TestConcurrentWritersLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.json")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := Open(Options{Path: path}).Set(t.Context(), fmt.Sprint("p", i), API{Key: NewSecret("k")}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := Open(Options{Path: path}).All()
	if err != nil || len(all) != 20 {
		t.Errorf("%d entries, %v", len(all), err)
	}
}

func TestSymlinkStays(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real.json")
	writeFile(t, real, "{}")
	link := filepath.Join(dir, "auth.json")
	must(t, os.Symlink(real, link))
	must(t, Open(Options{Path: link}).Set(t.Context(), "p", API{Key: NewSecret("k")}))
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v %v", info, err)
	}
	if data, _ := os.ReadFile(real); !bytes.Contains(data, []byte(`"p"`)) {
		t.Errorf("target: %s", data)
	}
}

func TestSecretsDoNotShow(t *testing.T) {
	s := NewSecret("sk-very-secret")
	e := API{Key: s}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "s", s, "e", e)
	raw, err := json.Marshal(e)
	must(t, err)
	all := fmt.Sprintf("%v %+v %#v %s %q %x %d", e, e, e, e, s, s, s) + log.String() + string(raw)
	if strings.Contains(all, "sk-very") || strings.Contains(all, "736b2d") {
		t.Errorf("shown: %s", all)
	}
	if s.Reveal() != "sk-very-secret" {
		t.Error("lost")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"a":{"type":"api","key":"k","metadata":{"x":"y"}},"b":{"type":"oauth","expires":1e99}}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"a":{"type":3}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := parse("f", data)
		if err != nil {
			return
		}
		for id, e := range collect(tree) {
			v, err := encode(e)
			if err != nil {
				continue // Unknown
			}
			if diff := cmp.Diff(e, decode(v), cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" && !strings.Contains(diff, "Metadata") {
				t.Errorf("%s: %s", id, diff)
			}
		}
	})
}

func writeFile(t *testing.T, path, data string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(data), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
