package instance

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/config"
	"lathe/internal/trust"
	"lathe/internal/workspace"
)

// TestDecisions decides about a repository that wants to loosen a rule.
func TestDecisions(t *testing.T) {
	top, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "repo")
	steer := filepath.Join(dir, "opencode.json")
	put := func(text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(steer, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"permission":{"bash":"allow"}}`)
	getenv := func(k string) string {
		return map[string]string{"HOME": top, "LATHE_HOME": filepath.Join(top, "lathe")}[k]
	}
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := paths.AuthFile()
	var d *Decisions
	d = NewDecisions(func() Options {
		return Options{
			Paths: paths, Getenv: getenv, Auth: auth.Open(auth.Options{Path: own}), Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Trust: trust.Open(paths.TrustFile()), Trusted: d.Trusted,
		}
	}, false)
	state := func() api.Trust {
		t.Helper()
		s, err := d.State(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	shown := state()
	if shown.Given || len(shown.LeftOut) == 0 || len(shown.Files) != 1 || shown.Digest == "" {
		t.Fatalf("untrusted: %+v", shown)
	}
	if err := d.Decide(t.Context(), dir, api.Decision{Digest: shown.Digest}); err != nil {
		t.Fatal(err)
	}
	if s := state(); !s.Given || s.State != "trusted until lathe ends" {
		t.Errorf("trusted once: %+v", s)
	}
	put(`{"permission":{"bash":"allow","edit":"allow"}}`)
	if s := state(); s.Given {
		t.Error("other files than those that were shown are trusted")
	}
	if err := d.Decide(t.Context(), dir, api.Decision{Digest: shown.Digest, Keep: true}); err == nil {
		t.Error("a decision about what was there before counts for what is there now")
	}
	if err := d.Decide(t.Context(), dir, api.Decision{Digest: state().Digest, Keep: true}); err != nil {
		t.Fatal(err)
	}
	if s := state(); !s.Given || s.State != "trusted" {
		t.Errorf("trusted for good: %+v", s)
	}
	kept, err := d.List()
	if err != nil || len(kept) != 1 || kept[0].Dir != dir || kept[0].Files != 1 || kept[0].Time == 0 {
		t.Errorf("kept: %+v, %v", kept, err)
	}
	withdraw := func() api.Withdrawn {
		t.Helper()
		out, err := d.Withdraw(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if diff := cmp.Diff(api.Withdrawn{Dir: dir, Found: true}, withdraw()); diff != "" {
		t.Errorf("withdrawn (-want +got):\n%s", diff)
	}
	if s := state(); s.Given {
		t.Errorf("withdrawn: %+v", s)
	}
	if diff := cmp.Diff(api.Withdrawn{Dir: dir}, withdraw()); diff != "" {
		t.Errorf("withdrawn again (-want +got):\n%s", diff)
	}
	if err := d.Decide(t.Context(), dir, api.Decision{Digest: state().Digest, Keep: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(api.Withdrawn{Dir: dir, Found: true}, withdraw()); diff != "" {
		t.Errorf("of a directory that is gone (-want +got):\n%s", diff)
	}
}

// TestDecisionsForTheProcess takes back what the command line trusts all the same.
func TestDecisionsForTheProcess(t *testing.T) {
	dir, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	paths := config.Paths{Data: filepath.Join(dir, "data"), Cache: filepath.Join(dir, "cache")}
	d := NewDecisions(func() Options {
		return Options{Paths: paths, Getenv: func(string) string { return "" }, Log: slog.New(slog.DiscardHandler), Now: time.Now, Trust: trust.Open(paths.TrustFile())}
	}, true)
	if !d.Trusted(workspace.Root{Dir: dir}) {
		t.Error("it is not trusted")
	}
	out, err := d.Withdraw(t.Context(), dir)
	if err != nil || out.Still == "" || out.Found {
		t.Errorf("withdrawn: %+v, %v", out, err)
	}
}
