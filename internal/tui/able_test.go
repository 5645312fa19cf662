package tui

import (
	"context"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/engine"
)

// ableFake is a fakeEngine that can do all that an engine may be able to do.
type ableFake struct {
	*fakeEngine
	found    api.Found
	trust    api.Trust
	tests    []api.KeyTest // what trying a key brings, one after the other
	models   []api.Model
	hits     []api.Hit // what a search finds
	exports  map[string]string
	jobCalls []string   // what was done to jobs
	breaks   int        // connections with output that break
	setup    *api.Setup // in place of the usual one
	setups   int        // how often it was asked for
}

func newAble() *ableFake {
	f := &ableFake{fakeEngine: newFake(), exports: map[string]string{api.FormatMarkdown: "# A title\n", api.FormatJSON: "{}\n", api.FormatHTML: "<!doctype html>\n"}}
	f.models, _ = f.fakeEngine.Models(context.Background())
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for i, title := range []string{"A title", "Make the tests faster", "日本語の文書を直す", "Look at the flaky build"} {
		id := lathe.SessionID([]string{"ses_1", "ses_2", "ses_3", "ses_4"}[i])
		f.sessions[id] = lathe.Session{ID: id, Title: title, Agent: "build", Updated: now.Add(-time.Duration(i*i) * 10 * time.Hour), Cost: 12_300_000_000 * lathe.Money(i)}
	}
	return f
}

func (f *ableFake) Can() engine.Capabilities {
	return engine.Capabilities{
		Undo: f, Compact: f, Fork: f, Archive: f, Share: f, Export: f, Search: f, Changes: f, Found: f, Keys: f,
		Trust: f, Approvals: f, Weigh: f, Setup: f, Jobs: f, Tree: f, Modes: f,
	}
}

func (f *ableFake) Models(context.Context) ([]api.Model, error) { return f.models, nil }

// List returns the sessions newest first, as engines do.
func (f *ableFake) List(context.Context, string) ([]lathe.Session, error) {
	var out []lathe.Session
	for _, id := range []lathe.SessionID{"ses_1", "ses_2", "ses_3", "ses_4"} {
		if s, ok := f.sessions[id]; ok && s.Archived.IsZero() {
			out = append(out, s)
		}
	}
	return out, nil
}

func (f *ableFake) Archive(_ context.Context, id lathe.SessionID, on bool) error {
	s := f.sessions[id]
	s.Archived = time.Time{}
	if on {
		s.Archived = time.Unix(1, 0)
	}
	f.sessions[id] = s
	return f.note("archive %s %v", id, on)
}

func (f *ableFake) Archived(context.Context) ([]lathe.Session, error) {
	var out []lathe.Session
	for _, s := range f.sessions {
		if !s.Archived.IsZero() {
			out = append(out, s)
		}
	}
	return out, nil
}

func (f *ableFake) Compact(_ context.Context, id lathe.SessionID, m lathe.ModelRef) error {
	return f.note("compact %s %s", id, m)
}

func (f *ableFake) Fork(_ context.Context, id lathe.SessionID, upTo lathe.MessageID) (lathe.Session, error) {
	s := lathe.Session{ID: "ses_fork", Title: "A title (fork #1)"}
	f.sessions[s.ID] = s
	return s, f.note("fork %s %s", id, upTo)
}

func (f *ableFake) Share(_ context.Context, id lathe.SessionID) (string, error) {
	return "https://share.example/s/1", f.note("share %s", id)
}
func (f *ableFake) Unshare(_ context.Context, id lathe.SessionID) error {
	return f.note("unshare %s", id)
}

func (f *ableFake) Export(_ context.Context, id lathe.SessionID, format string) ([]byte, error) {
	return []byte(f.exports[format]), f.note("export %s %s", id, format)
}

func (f *ableFake) Found(context.Context) (api.Found, error) { return f.found, nil }

func (f *ableFake) Test(_ context.Context, provider, key string) (api.KeyTest, error) {
	t := f.tests[0]
	f.tests = f.tests[1:]
	return t, f.note("test %s %s", provider, key)
}

func (f *ableFake) Trust(context.Context) (api.Trust, error) { return f.trust, nil }

func (f *ableFake) Decide(_ context.Context, t api.Trust, keep bool) error {
	f.trust.Given, f.trust.State = true, "trusted"
	return f.note("trust %s keep=%v", t.Digest, keep)
}

func (f *ableFake) Distrust(context.Context) error { return f.note("distrust") }

func (f *ableFake) Weigh(context.Context, lathe.SessionID) (api.Window, error) {
	return api.Window{
		Used: 48_200, Limit: 200_000, Usable: 168_000, Counted: 47_900, Frees: 31_000, Fresh: "$0.1446", Cached: "$0.0145",
		Kinds: []api.Portion{{Name: "tool results", Count: 31, Tokens: 29_400}, {Name: "tool definitions", Count: 14, Tokens: 9_100},
			{Name: "system prompt and instructions", Count: 2, Tokens: 5_300}, {Name: "answers", Count: 9, Tokens: 3_100}, {Name: "what you wrote", Count: 4, Tokens: 1_300}},
		Parts:       []api.Portion{{Name: "read internal/tui/app.go", Part: "12.3", Tokens: 8_800}, {Name: "bash go test ./...", Part: "14.1", Tokens: 6_100}},
		Compactions: 1, Prunes: 2, CacheRead: 310_000, CacheWritten: 48_000, CacheFresh: 21_000,
		ByModel: []api.ModelCost{{Model: "acme/big", Answers: 9, Sent: 379_000, Cached: 310_000, Answered: 12_400, Cost: "$0.42"}, {Model: "acme/small", Answers: 1, Sent: 1_200, Answered: 12, Cost: "$0.0004"}},
	}, nil
}

func (f *ableFake) Setup(context.Context) (api.Setup, error) {
	if f.setups++; f.setup != nil {
		return *f.setup, nil
	}
	return api.Setup{
		Version: lathe.Version, MCP: []api.Configured{{Name: "docs", Kind: "remote", State: "configured; this build runs none"}},
		Skills: []api.Skill{{Name: "release", Description: "how a release is made", Path: "~/proj/.lathe/skills/release/SKILL.md"}},
		Files:  []string{"~/proj/lathe.json"}, Snapshots: "on", Share: "when asked for",
	}, nil
}

func (f *ableFake) Checks(context.Context) ([]api.Check, error) {
	return []api.Check{{Name: "model", OK: true, Detail: "acme/big: ACME_API_KEY is set"}, {Name: "credentials", OK: false, Detail: "auth.json cannot be read"}}, nil
}

func (f *ableFake) Search(_ context.Context, words string, _ int) ([]api.Hit, error) {
	return f.hits, f.note("search %q", words)
}

// able24h is when something is over that servers share.
var able24h = time.Date(2026, 11, 24, 17, 53, 0, 0, time.Local)

func (f *ableFake) Approvals(context.Context) ([]api.Approval, error) {
	return []api.Approval{{Permission: "bash", Pattern: "go test *", Stored: true}, {Permission: "edit", Pattern: "src/*", Stored: false},
		{Permission: "bash", Pattern: "make *", By: "ann", Until: able24h.UnixMilli()}}, nil
}

func (f *ableFake) Revoke(_ context.Context, a api.Approval) error {
	return f.note("revoke %s %s", a.Permission, a.Pattern)
}

// ApprovalMode is the usual one.
func (f *ableFake) ApprovalMode(context.Context, lathe.SessionID) (lathe.ApprovalMode, error) {
	return lathe.ByRules, nil
}

func (f *ableFake) SetApprovalMode(_ context.Context, id lathe.SessionID, mode lathe.ApprovalMode) error {
	return f.note("mode %s %s", id, mode)
}
