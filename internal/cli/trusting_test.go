package cli

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/bus"
	"lathe/internal/config"
	"lathe/internal/workspace"
)

// TestTrusting decides about a repository that wants to loosen a rule.
func TestTrusting(t *testing.T) {
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
	env := &Env{Getenv: func(k string) string {
		return map[string]string{"HOME": top, "LATHE_HOME": filepath.Join(top, "lathe")}[k]
	}, Now: time.Now}
	paths, err := config.DefaultPaths(env.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := paths.AuthFile()
	a := &app{env: env, paths: paths, log: slog.New(slog.DiscardHandler), auth: auth.Open(auth.Options{Path: own}), bus: bus.New(bus.Options{})}
	d := &a.decisions
	d.app = a
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
	if err := d.Withdraw(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if s := state(); s.Given {
		t.Errorf("withdrawn: %+v", s)
	}
}
