package tui

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/paint/emulator"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
)

var updateScreens = flag.Bool("update-screens", false, "rewrite docs/screens")

// shot returns what a terminal of 80×24 shows, painted as it is for people.
func (d *driver) shot() string {
	d.t.Helper()
	e := emulator.New(d.app.look.Width, d.app.height)
	p := paint.NewScreen(e, xterm, d.app.look.Width, d.app.height)
	if err := p.Start(); err != nil {
		d.t.Fatal(err)
	}
	if err := p.Paint(d.app.View()); err != nil {
		d.t.Fatal(err)
	}
	if len(e.Unknown) > 0 {
		d.t.Errorf("the terminal does not know %q", e.Unknown)
	}
	for i, line := range d.lines() {
		if w := styled.Width(line, styled.WcWidth); w > d.app.look.Width {
			d.t.Errorf("line %d is %d wide", i, w)
		}
	}
	return strings.Join(e.Lines(), "\n") + "\n"
}

// dialogs returns how to come to every dialog.
func dialogs() map[string][]func(d *driver) {
	asked := lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"go test ./...", "git push origin main"},
		Always: []string{"go test *", "git push *"}, Metadata: map[string]any{"command": "go test ./... && git push origin main", "description": "Test, then publish"}}}
	long := lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "edit", Patterns: []string{"notes/詩.md"}, Always: []string{"*"},
		Metadata: map[string]any{"diff": "--- a\n+++ b\n@@ -0,0 +1,40 @@\n" + strings.Repeat("+床前明月光，疑是地上霜。\n", 40)}}}
	questions := lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{
		{Header: "Database", Text: "Which database should it use?", Options: []lathe.QuestionOption{{Label: "SQLite", Description: "one file, no server"}, {Label: "PostgreSQL", Description: "several writers"}}, Custom: true},
		{Header: "Parts", Text: "Which parts come first?", Multiple: true, Options: []lathe.QuestionOption{{Label: "schema"}, {Label: "tests"}}, Custom: true},
	}}}
	type step = func(d *driver)
	keys := func(names ...string) step {
		return func(d *driver) {
			for _, n := range names {
				d.lines() // as a terminal would have drawn it by then
				d.press(n)
			}
		}
	}
	slash := func(name string) step { return func(d *driver) { d.typed("/" + name); d.press("esc", "enter") } }
	return map[string][]step{
		"models":       {keys("ctrl+x", "m")},
		"variants":     {slash("variants")},
		"agents":       {keys("ctrl+x", "a")},
		"sessions":     {keys("ctrl+x", "l")},
		"session":      {keys("ctrl+x", "l", "down", "tab")},
		"delete":       {keys("ctrl+x", "l", "down", "ctrl+d")},
		"timeline":     {keys("ctrl+x", "g")},
		"message":      {keys("ctrl+x", "g", "enter")},
		"themes":       {keys("ctrl+x", "t")},
		"commands":     {keys("ctrl+p")},
		"help":         {keys("f1")},
		"status":       {keys("ctrl+x", "s")},
		"context":      {slash("context")},
		"doctor":       {slash("doctor")},
		"skills":       {slash("skills")},
		"export":       {keys("ctrl+x", "x")},
		"share":        {slash("share")},
		"connect":      {slash("connect")},
		"key":          {slash("connect"), keys("enter", "s", "k", "-", "1")},
		"key-refused":  {slash("connect"), keys("enter", "s", "k", "enter")},
		"leader":       {keys("ctrl+x"), func(d *driver) { d.now = d.now.Add(time.Second) }},
		"permission":   {func(d *driver) { d.event(asked) }},
		"pattern":      {func(d *driver) { d.event(asked) }, keys("a", "e")},
		"grant":        {func(d *driver) { d.event(asked) }, keys("a")},
		"long-ask":     {func(d *driver) { d.event(long) }},
		"question":     {func(d *driver) { d.event(questions) }, keys("tab", "space")},
		"approvals":    {slash("permissions")},
		"jobs":         {slash("jobs")},
		"job":          {slash("jobs"), keys("enter")},
		"slash":        {func(d *driver) { d.typed("/s") }},
		"conversation": nil,
		"sidebar": {func(d *driver) {
			d.send(tea.WindowSizeMsg{Width: 120, Height: 30})
			d.event(lathe.SessionDiff{SessionID: "ses_1", Diff: []lathe.FileDiff{{File: "internal/timer/timer_test.go", Additions: 12, Deletions: 31}, {File: "internal/timer/testdata/時刻/expected.golden", Additions: 4}}})
		}},
		"stash": {func(d *driver) { d.typed("Then write the release notes") }, keys("ctrl+s"), slash("stash")},
	}
}

// practised returns a screen of a session in which something was done, and all can be done.
func practised(t *testing.T, o Options) *driver {
	o.Branch = func() string { return "main" }
	o.Desk = Desk{Memory: memory.Open(t.TempDir(), "/p"), Editor: []string{"vi"}, WriteFile: func(n string, _ []byte) (string, error) { return "~/proj/" + n, nil }}
	o.Prefs = prefs.Prefs{Favorite: []lathe.ModelRef{{Provider: "acme", Model: "big"}}, Recent: []lathe.ModelRef{{Provider: "acme", Model: "small"}}}
	d, f := ableTo(t, o, question(1, "Make the tests faster."), reply(2, &lathe.Text{Text: "They waited for **one** timer. It is gone now:\n\n- 4.1 s before\n- 0.3 s after"}), question(3, "And the flaky one?"), reply(4, &lathe.Text{Text: "It raced with the clean-up; fixed."}))
	f.tests = []api.KeyTest{{Outcome: api.KeyRefused, Detail: "Incorrect API key provided (HTTP 401)", Hint: "copy it again from the provider's console"}}
	return d
}

// TestScreens holds the captures in docs/screens: every dialog at 80×24. Rewrite
// them with: go test ./internal/tui -run TestScreens -update-screens
func TestScreens(t *testing.T) {
	for name, steps := range dialogs() {
		t.Run(name, func(t *testing.T) {
			d := practised(t, Options{})
			for _, s := range steps {
				s(d)
			}
			d.golden(name)
		})
	}
	t.Run("first-run", func(t *testing.T) {
		f := newAble()
		f.models = []api.Model{{ProviderID: "offline", ModelID: "guide", Default: true}}
		f.found = api.Found{Servers: []api.FoundServer{{Provider: "ollama", Name: "Ollama", URL: "http://127.0.0.1:11434/v1", Models: 3}}}
		drive(t, Options{Engine: f}).golden("first-run")
	})
	t.Run("trust", func(t *testing.T) {
		f := newAble()
		f.trust = api.Trust{LeftOut: []api.LeftOut{{Path: "mcp", Where: "lathe.json:3:2", Reason: "it starts programs or reaches servers"}, {Path: "permission.bash", Where: "lathe.json:9:2", Reason: "it would loosen a rule"}}}
		drive(t, Options{Engine: f}).golden("trust")
	})
}

// golden compares the screen with its capture.
func (d *driver) golden(name string) {
	d.t.Helper()
	path := filepath.Join("..", "..", "docs", "screens", name+".txt")
	got := d.shot()
	if *updateScreens {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		d.t.Errorf("screen %s (-want +got):\n%s", name, diff)
	}
}
