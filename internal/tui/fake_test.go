package tui

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
)

// fakeEngine is a small engine in memory. What is asked of it is noted in calls.
type fakeEngine struct {
	commands []api.Command // beside the usual one
	mu       sync.Mutex
	calls    []string
	sessions map[lathe.SessionID]lathe.Session
	history  map[lathe.SessionID][]lathe.Message
	fail     error
	events   chan lathe.Envelope
}

func newFake() *fakeEngine {
	return &fakeEngine{
		sessions: map[lathe.SessionID]lathe.Session{}, history: map[lathe.SessionID][]lathe.Message{},
		events: make(chan lathe.Envelope, 64),
	}
}

// fake returns the engine that others are made of.
func (f *fakeEngine) fake() *fakeEngine { return f }

func (f *fakeEngine) note(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	return f.fail
}

func (f *fakeEngine) noted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.calls
	f.calls = nil
	return out
}

func (f *fakeEngine) List(context.Context, string) ([]lathe.Session, error) {
	var out []lathe.Session
	for _, s := range f.sessions {
		out = append(out, s)
	}
	return out, nil
}

func (f *fakeEngine) Get(_ context.Context, id lathe.SessionID) (lathe.Session, error) {
	return f.sessions[id], nil
}

func (f *fakeEngine) Create(context.Context) (lathe.Session, error) {
	s := lathe.Session{ID: "ses_new", Title: "New session - x"}
	f.sessions[s.ID] = s
	return s, f.note("create")
}

func (f *fakeEngine) Rename(_ context.Context, id lathe.SessionID, title string) error {
	return f.note("rename %s %s", id, title)
}
func (f *fakeEngine) Delete(_ context.Context, id lathe.SessionID) error {
	return f.note("delete %s", id)
}
func (f *fakeEngine) Children(context.Context, lathe.SessionID) ([]lathe.Session, error) {
	return nil, nil
}

func (f *fakeEngine) Todos(context.Context, lathe.SessionID) ([]lathe.Todo, error) {
	return []lathe.Todo{{Content: "one", Status: "completed"}, {Content: "second thing", Status: "in_progress"}}, nil
}

func (f *fakeEngine) History(_ context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	all := f.history[id]
	end := len(all)
	for before > 0 && end > 0 && all[end-1].Seq >= before {
		end--
	}
	return all[max(0, end-limit):end], nil
}

func (f *fakeEngine) Prompt(_ context.Context, id lathe.SessionID, p engine.Prompt) error {
	with := ""
	for _, file := range p.Files {
		with += " with " + file.Name + " " + file.MIME
	}
	return f.note("prompt %s %q %s %s%s", id, p.Text, p.Agent, p.Model, with)
}
func (f *fakeEngine) Command(_ context.Context, id lathe.SessionID, name, args string, _ engine.Prompt) error {
	return f.note("command %s %s %q", id, name, args)
}
func (f *fakeEngine) Shell(_ context.Context, id lathe.SessionID, command string, _ engine.Prompt) error {
	return f.note("shell %s %q", id, command)
}
func (f *fakeEngine) Abort(_ context.Context, id lathe.SessionID) error {
	return f.note("abort %s", id)
}
func (f *fakeEngine) Status(context.Context, lathe.SessionID) lathe.Status {
	return lathe.Idle{}
}

// Can tells that messages can be taken back and keys stored.
func (f *fakeEngine) Can() engine.Capabilities { return engine.Capabilities{Undo: f, Keys: f} }

func (f *fakeEngine) Follow(ctx context.Context) iter.Seq2[engine.Update, error] {
	return func(yield func(engine.Update, error) bool) {
		for {
			select {
			case e := <-f.events:
				if !yield(engine.Update{Envelope: e}, nil) {
					return
				}
			case <-ctx.Done():
				yield(engine.Update{}, ctx.Err())
				return
			}
		}
	}
}

func (f *fakeEngine) Waiting(context.Context) ([]lathe.Ask, []lathe.QuestionAsk, error) {
	return nil, nil, nil
}
func (f *fakeEngine) Reply(_ context.Context, a lathe.Ask, r lathe.Reply) error {
	note := fmt.Sprintf("reply %s %s %q project=%v", a.ID, r.Kind, r.Message, r.Project)
	if len(r.Patterns) > 0 {
		note += fmt.Sprintf(" patterns=%v", r.Patterns)
	}
	return f.note("%s", note)
}
func (f *fakeEngine) Answer(_ context.Context, id lathe.AskID, answers [][]string) error {
	return f.note("answer %s %q", id, answers)
}
func (f *fakeEngine) Dismiss(_ context.Context, id lathe.AskID) error {
	return f.note("dismiss %s", id)
}

func (f *fakeEngine) Models(context.Context) ([]api.Model, error) {
	return []api.Model{
		{ProviderID: "acme", ModelID: "big", Name: "Big", Context: 100_000, Default: true, Variants: []string{"high"}},
		{ProviderID: "acme", ModelID: "small", Name: "Small", Price: lathe.Prices{Input: 250_000, Output: 1_000_000}},
	}, nil
}
func (f *fakeEngine) Agents(context.Context) ([]api.Agent, error) {
	return []api.Agent{{Name: "build"}, {Name: "plan"}, {Name: "explore", Mode: "subagent"}}, nil
}
func (f *fakeEngine) Commands(context.Context) ([]api.Command, error) {
	return append([]api.Command{{Name: "review", Description: "review changes"}}, f.commands...), nil
}
func (f *fakeEngine) Files(_ context.Context, query string, _ int) ([]string, error) {
	var out []string
	for _, s := range []string{"main.go", "docs/", "docs/guide.md"} {
		if strings.Contains(s, query) {
			out = append(out, s)
		}
	}
	return out, nil
}

func (f *fakeEngine) Providers(context.Context) ([]api.Provider, error) {
	return []api.Provider{{ID: "acme", Name: "Acme", Connected: true}, {ID: "openai", Name: "OpenAI"}}, nil
}

func (f *fakeEngine) Connect(_ context.Context, provider, key string) error {
	return f.note("connect %s %s", provider, key)
}

// Test finds every key good.
func (f *fakeEngine) Test(context.Context, string, string) (api.KeyTest, error) {
	return api.KeyTest{Outcome: api.KeyAccepted, Model: "acme/big"}, nil
}

func (f *fakeEngine) Revert(_ context.Context, id lathe.SessionID, m lathe.MessageID) error {
	return f.note("revert %s %s", id, m)
}
func (f *fakeEngine) Unrevert(_ context.Context, id lathe.SessionID) error {
	return f.note("unrevert %s", id)
}

// driver plays a person at an App, without a terminal and without waiting.
type driver struct {
	t      testing.TB
	app    *App
	engine *fakeEngine
	now    time.Time
	raw    []string // what went to the terminal
	quit   bool
	slow   bool // pauses after each key
}

func drive(t testing.TB, o Options) *driver {
	d := &driver{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if e, ok := o.Engine.(interface{ fake() *fakeEngine }); ok {
		d.engine = e.fake()
	}
	if d.engine == nil {
		d.engine = newFake()
		o.Engine = d.engine
	}
	o.Now = func() time.Time { return d.now }
	o.Dir = "~/proj"
	d.app = New(context.Background(), o)
	d.app.after = d.after
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.do(d.app.Init())
	return d
}

func (d *driver) send(m tea.Msg) {
	_, cmd := d.app.Update(m)
	d.do(cmd)
}

// do runs a command to its end. Timers are not waited for.
func (d *driver) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch m := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			d.do(c)
		}
	case tea.RawMsg:
		d.raw = append(d.raw, fmt.Sprint(m.Msg))
	case tea.QuitMsg:
		d.quit = true
	default:
		d.send(m)
	}
}

// press sends keystrokes by name, each as somebody does who reads what is on screen
// first.
func (d *driver) press(names ...string) {
	for _, n := range names {
		d.look()
		d.slow = true
		d.send(stroke(n))
		d.slow = false
	}
}

// after passes the time after a letter for somebody who presses single keys. All else waits for ever.
func (d *driver) after(wait time.Duration) tea.Cmd {
	if !d.slow || wait != dialog.Alone {
		return nil
	}
	d.now = d.now.Add(wait)
	return func() tea.Msg { return tickMsg{} }
}

// look draws the screen and lets the person read what the engine asks.
func (d *driver) look() {
	d.lines()
	if p, ok := d.app.sheets.Top().(dialog.Patient); ok {
		if seen := p.Patient().Drawn.Add(dialog.Reaction); d.now.Before(seen) {
			d.now = seen
		}
	}
}

func (d *driver) typed(text string) {
	for _, r := range text {
		d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func stroke(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "space": tea.KeySpace,
	}
	rest := keys.Normal(name)
	for mod, bit := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if strings.Contains(rest, mod) {
			k.Mod |= bit
			rest = strings.Replace(rest, mod, "", 1)
		}
	}
	if c, ok := codes[rest]; ok {
		k.Code = c
		if rest == "space" {
			k.Text = " "
		}
		return k
	}
	k.Code = []rune(rest)[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return k
}

// lines returns what is on screen, without styles.
func (d *driver) lines() []string {
	lines, _ := d.app.screen()
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(l.Text(), " ")
	}
	return out
}

func (d *driver) text() string { return strings.Join(d.lines(), "\n") }

func (d *driver) shows(want ...string) {
	d.t.Helper()
	text := d.text()
	for _, w := range want {
		if !strings.Contains(text, w) {
			d.t.Errorf("the screen does not show %q:\n%s", w, text)
		}
	}
}

func (d *driver) hides(want ...string) {
	d.t.Helper()
	for _, w := range want {
		if text := d.text(); strings.Contains(text, w) {
			d.t.Errorf("the screen shows %q:\n%s", w, text)
		}
	}
}

func (d *driver) event(list ...lathe.Event) {
	var batch Events
	for _, e := range list {
		batch.List = append(batch.List, lathe.Envelope{Time: d.now, Event: e})
	}
	d.send(batch)
}

// question, answer and tool make messages for histories.
func question(id int, text string) lathe.Message {
	m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%d", id)), SessionID: "ses_1", Seq: int64(id), Info: &lathe.User{Agent: "build"}, Created: time.Unix(0, 0)}
	m.Parts = []lathe.Part{part(m, 1, &lathe.Text{Text: text})}
	return m
}

func reply(id int, bodies ...lathe.PartBody) lathe.Message {
	m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%d", id)), SessionID: "ses_1", Seq: int64(id), Info: &lathe.Assistant{
		Agent: "build", Model: lathe.ModelRef{Provider: "acme", Model: "big"}, Finish: lathe.FinishStop,
		Completed: time.Unix(3, 0), Tokens: lathe.Tokens{Input: 12_345},
	}, Created: time.Unix(0, 0)}
	for i, b := range bodies {
		m.Parts = append(m.Parts, part(m, i+1, b))
	}
	return m
}

func part(m lathe.Message, n int, b lathe.PartBody) lathe.Part {
	return lathe.Part{ID: lathe.PartID(fmt.Sprintf("prt_%s_%d", m.ID, n)), MessageID: m.ID, SessionID: m.SessionID, Seq: int64(n), Body: b}
}

// withHistory returns a driver with a session on screen.
func withHistory(t testing.TB, o Options, list ...lathe.Message) *driver {
	f := newFake()
	f.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "A title", Agent: "build"}
	f.history["ses_1"] = list
	o.Engine, o.Session = f, "ses_1"
	return drive(t, o)
}

var _ = styled.WcWidth
