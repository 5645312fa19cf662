package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/about"
	"lathe/internal/tui/ask"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
	"lathe/internal/tui/vim"
)

// ableTo returns a driver on an engine that can do everything, with a session.
func ableTo(t testing.TB, o Options, list ...lathe.Message) (*driver, *ableFake) {
	f := newAble()
	f.history["ses_1"] = list
	o.Engine, o.Session = f, "ses_1"
	return drive(t, o), f
}

func (d *driver) calls(want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(want, d.engine.noted()); diff != "" {
		d.t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestFavourites(t *testing.T) {
	var saved []prefs.Prefs
	d, _ := ableTo(t, Options{SavePrefs: func(p prefs.Prefs) error { saved = append(saved, p); return nil }})
	d.press("ctrl+x", "m")
	d.hides("favourites")
	d.typed("small")
	d.press("ctrl+f")
	d.press("ctrl+u")
	d.shows("favourites", "Small ★", "a million tokens: in $0.25, out $1")
	d.press("enter")
	last := saved[len(saved)-1]
	if diff := cmp.Diff(prefs.Prefs{Recent: []lathe.ModelRef{{Provider: "acme", Model: "small"}}, Favorite: []lathe.ModelRef{{Provider: "acme", Model: "small"}}}, last); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	d.press("ctrl+x", "m")
	d.shows("enter choose · ctrl+f favourite · ctrl+a connect")
	d.typed("small")
	if n := strings.Count(d.text(), "Small ★"); n != 1 {
		t.Errorf("a favourite is found %d times:\n%s", n, d.text())
	}
	d.press("ctrl+u")
	d.press("ctrl+f")
	d.hides("favourites", "★")
	d.press("ctrl+a")
	d.shows("connect a provider")
	d.press("esc")
}

func TestModelsGoneThrough(t *testing.T) {
	refs := []lathe.ModelRef{{Provider: "acme", Model: "small"}, {Provider: "gone", Model: "x"}, {Provider: "acme", Model: "big"}}
	d, _ := ableTo(t, Options{Prefs: prefs.Prefs{Recent: refs, Favorite: refs[:1], Variant: map[string]string{"acme/big": "high"}}, Keys: map[string]string{"model_cycle_favorite": "f5"}})
	d.press("f2")
	d.shows("acme/small")
	d.press("f2")
	d.shows("acme/big (high)")
	d.press("f2")
	d.shows("acme/small")
	d.press("ctrl+t")
	d.shows("no variants")
	d.typed("/variants")
	d.press("esc", "enter")
	d.shows("no variants")
}

// TestLastModel holds that the model of the run before answers, where nothing else
// is named, and that it is what prompts ask for.
func TestLastModel(t *testing.T) {
	f := newAble()
	d := drive(t, Options{Engine: f, Start: Start{LastModel: true}, Prefs: prefs.Prefs{Recent: []lathe.ModelRef{{Provider: "acme", Model: "small"}}}})
	d.shows("acme/small")
	d.typed("x")
	d.press("enter")
	d.calls("create", `prompt ses_new "x"  acme/small`)
}

func TestVariants(t *testing.T) {
	d, _ := ableTo(t, Options{})
	d.typed("/variants")
	d.press("esc", "enter")
	d.shows("variants of big", "default", "high")
	d.press("down", "enter")
	d.shows("acme/big (high)")
	d.press("ctrl+t")
	d.hides("(high)")
}

func TestSessionDialog(t *testing.T) {
	d, f := ableTo(t, Options{Desk: Desk{WriteFile: func(name string, data []byte) (string, error) { return "/out/" + name, nil }}})
	d.press("ctrl+x", "l")
	d.shows("today", "yesterday", "日本語の文書を直す", "● A title")
	d.press("down", "ctrl+d")
	d.shows("delete Make the tests faster?")
	d.press("esc")
	d.shows("sessions", "Make the tests faster")
	d.calls()
	d.typed("faster")
	d.press("ctrl+d", "down", "enter")
	d.calls("delete ses_2")
	d.shows("sessions", "⌕ faster")
	d.press("ctrl+u", "ctrl+y")
	d.calls("archive ses_1 true")
	d.shows("sessions", "Make", "archived; /archived shows it")
	d.press("esc")
	d.typed("/archived")
	d.press("esc", "enter")
	d.shows("archived sessions", "A title")
	d.press("tab")
	d.shows("bring it back")
	d.typed("bring")
	d.press("enter")
	d.calls("archive ses_1 false")
	d.shows("no session was archived")
	d.press("esc", "ctrl+x", "l")
	d.typed("日本")
	d.press("tab")
	d.shows("日本語の文書を直す", "fork it", "export it", "share it", "archive it", "sessions of its subagents")
	d.typed("fork")
	d.press("enter")
	d.calls("fork ses_3 ")
	d.shows("A title (fork #1)")
	d.press("ctrl+x", "l", "ctrl+r")
	d.shows("rename the session")
	d.typed("!")
	d.press("enter")
	d.calls("rename ses_1 A title!")
	d.shows("sessions", "renamed")
	d.press("ctrl+r", "esc")
	d.shows("sessions")
	d.press("esc")
	if len(f.sessions) == 0 {
		t.Error("nothing is left")
	}
}

func TestExportAndShare(t *testing.T) {
	var written []string
	d, _ := ableTo(t, Options{Desk: Desk{WriteFile: func(name string, data []byte) (string, error) {
		written = append(written, name+": "+string(data))
		return "/out/" + name, nil
	}, Editor: []string{"vi"}}}, question(1, "hello"))
	d.press("ctrl+x", "x")
	d.shows("export A title", "Markdown, to a file", "JSON, to your editor")
	d.press("enter")
	d.shows("wrote /out/ses_1.md")
	d.press("ctrl+x", "x")
	d.typed("clipboard")
	d.press("enter")
	d.shows("copied the session")
	d.typed("/share")
	d.press("esc", "enter")
	d.shows("publish it and copy the address  if enterprise.url names a share service", "write one web page")
	d.press("down", "enter")
	d.shows("shared, and copied: https://share.example/s/1")
	d.calls("export ses_1 markdown", "export ses_1 markdown", "share ses_1")
	d.typed("/share")
	d.press("esc", "enter", "enter")
	d.calls("export ses_1 html")
	if diff := cmp.Diff([]string{"ses_1.md: # A title\n", "ses_1.html: <!doctype html>\n"}, written); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// TestTimelineOfARename holds that a file that only got another name counts no lines.
func TestTimelineOfARename(t *testing.T) {
	gone := lathe.FileDiff{File: "a", Before: "x\n", Deletions: 1, Status: "deleted"}
	made := lathe.FileDiff{File: "b", After: "x\n", Additions: 1, Status: "added"}
	other := lathe.FileDiff{File: "c", Before: "y\n", After: "z\nz\n", Additions: 2, Deletions: 1, Status: "modified"}
	only, both := question(1, "first"), question(3, "second")
	only.Info.(*lathe.User).Summary = &lathe.UserSummary{Diffs: []lathe.FileDiff{gone, made}}
	both.Info.(*lathe.User).Summary = &lathe.UserSummary{Diffs: []lathe.FileDiff{gone, made, other}}
	d, _ := ableTo(t, Options{}, only, both)
	d.press("ctrl+x", "g")
	d.shows("timeline", "first", "+2 -1")
	d.hides("+1 -1")
}

func TestTimelineDialog(t *testing.T) {
	d, _ := ableTo(t, Options{}, question(1, "first"), reply(2, &lathe.Text{Text: "one"}), question(3, "second"))
	d.press("ctrl+x", "g")
	d.shows("timeline", "first", "second")
	d.press("up", "enter")
	d.shows("copy its text", "undo to before it", "fork the session before it")
	d.typed("the answer")
	d.press("enter")
	if want := []string{"\x1b]52;c;b25l\x07"}; !cmp.Equal(d.raw, want) {
		t.Errorf("copied %q", d.raw)
	}
	d.press("ctrl+x", "g", "up", "enter")
	d.typed("undo")
	d.press("enter")
	d.calls("revert ses_1 msg_1")
	d.press("ctrl+x", "g", "enter")
	d.typed("fork")
	d.press("enter")
	d.calls("fork ses_1 msg_3")
	d.shows("❯ second")
}

func TestWordsAfterCommands(t *testing.T) {
	d, _ := ableTo(t, Options{})
	d.typed("/models sma")
	d.press("enter")
	d.shows("⌕ sma", "Small")
	d.hides("Big")
	d.press("esc")
	d.typed("/rename Another name")
	d.press("enter", "enter")
	d.calls("rename ses_1 Another name")
	d.typed("/help leader")
	d.press("enter")
	d.shows("⌕ leader")
	d.press("esc", "esc")
	d.typed("/new and this")
	d.press("enter", "up")
	d.shows("❯ /new and this")
}

func TestEditedPattern(t *testing.T) {
	ask := lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"go test ./a", "ls"}, Always: []string{"go test *", "ls *"},
		Metadata: map[string]any{"command": "go test ./a && ls"}}
	d, _ := ableTo(t, Options{})
	d.event(lathe.PermissionAsked{Ask: ask})
	d.shows("$ go test ./a && ls", "1 go test ./a", "2 ls", "a  allow from now on")
	d.press("a")
	d.shows("nothing is allowed yet", "until lathe ends:", `commands that begin with "go test"`, `commands that begin with "ls"`)
	d.press("e")
	d.shows("change what is allowed", "go test *", "ls *")
	d.press("up", "ctrl+e", "backspace")
	d.typed("./... *")
	d.press("enter")
	d.calls()
	d.shows(`commands that begin with "go test ./..."`)
	d.press("tab", "ctrl+y")
	d.calls(`reply per_1 always "" project=true patterns=[go test ./... * ls *]`)
	d.shows("in this project, for good", "/permissions takes it back")
	d.now = d.now.Add(time.Second)
	d.event(lathe.PermissionAsked{Ask: ask})
	d.press("a", "e", "esc")
	d.shows("nothing is allowed yet")
	d.press("e", "ctrl+u", "backspace", "ctrl+u", "enter")
	d.shows("a pattern is needed")
	d.typed("* *")
	d.press("enter")
	d.shows("would allow everything")
	d.press("esc", "esc", "n")
	d.engine.noted()
	ask.Always = nil
	d.event(lathe.PermissionAsked{Ask: ask})
	d.hides("from now on")
}

// TestNextAskIsNotAnsweredInHaste holds that a key which is pressed twice does not
// answer the ask that follows.
func TestNextAskIsNotAnsweredInHaste(t *testing.T) {
	d, _ := ableTo(t, Options{})
	for _, id := range []lathe.AskID{"per_1", "per_2"} {
		d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: id, SessionID: "ses_1", Permission: "bash", Patterns: []string{string(id)}}})
	}
	d.press("y")
	d.typed("yy")
	d.calls(`reply per_1 once "" project=false`)
	d.shows("per_2")
	d.now = d.now.Add(time.Second)
	d.press("y")
	d.calls(`reply per_2 once "" project=false`)
}

// TestAskBehindOthers holds that a key which was meant for a dialog or a question
// does not answer the ask that stands in its place by then.
func TestAskBehindOthers(t *testing.T) {
	asked := func(id lathe.AskID) lathe.Event {
		return lathe.PermissionAsked{Ask: lathe.Ask{ID: id, SessionID: "ses_1", Permission: "bash", Patterns: []string{string(id)}}}
	}
	d, _ := ableTo(t, Options{})
	d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{{Text: "Which?", Options: []lathe.QuestionOption{{Label: "a"}, {Label: "b"}}}}}})
	d.press("2")
	d.calls(`answer que_1 [["b"]]`)
	d.event(asked("per_1"))
	d.lines()
	d.now = d.now.Add(dialog.Quiet / 2)
	d.send(stroke("enter"))
	d.typed("y")
	d.calls()
	d.shows("per_1")

	d.press("ctrl+x", "t")
	d.shows("themes")
	d.press("enter", "enter")
	d.calls()
	d.shows("per_1")
	d.now = d.now.Add(dialog.Quiet)
	d.press("enter")
	d.calls(`reply per_1 once "" project=false`)

	d.now = d.now.Add(dialog.Quiet)
	d.typed("go on")
	d.now = d.now.Add(dialog.Quiet)
	d.press("enter")
	d.engine.noted()
	d.event(asked("per_2"))
	d.press("enter")
	d.calls()
	d.shows("per_2")
}

// TestAnsweredByMouse answers with clicks: asks with two on the same row.
func TestAnsweredByMouse(t *testing.T) {
	d, _ := ableTo(t, Options{Mouse: true})
	click := func(text string) {
		t.Helper()
		for y, line := range d.lines() {
			if strings.Contains(line, text) {
				d.send(tea.MouseClickMsg{X: 5, Y: y, Button: tea.MouseLeft})
				return
			}
		}
		t.Errorf("nothing says %q:\n%s", text, d.text())
	}
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"x"}, Always: []string{"x *"}}})
	click("allow once")
	d.calls()
	d.look()
	click("allow from now on")
	click("allow from now on")
	click("in this project")
	click("in this project")
	click("allow this in this project")
	d.calls()
	click("allow this in this project")
	d.calls(`reply per_1 always "" project=true patterns=[x *]`)
	d.now = d.now.Add(time.Second)
	d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{
		{Text: "Which sizes?", Multiple: true, Options: []lathe.QuestionOption{{Label: "small"}, {Label: "medium"}}, Custom: true},
		{Text: "Which colour?", Options: []lathe.QuestionOption{{Label: "red"}, {Label: "blue"}}},
	}}})
	d.look()
	click("medium")
	click("your answer")
	d.typed("huge")
	d.press("enter")
	click("blue")
	d.calls(`answer que_1 [["medium" "huge"] ["blue"]]`)
}

func TestQuestionTabs(t *testing.T) {
	d, _ := ableTo(t, Options{})
	d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{
		{Header: "Colour", Text: "Which colour?", Options: []lathe.QuestionOption{{Label: "red"}, {Label: "blue"}}, Custom: true},
		{Header: "Sizes", Text: "Which sizes?", Multiple: true, Options: []lathe.QuestionOption{{Label: "S"}, {Label: "M"}}, Custom: true},
	}}})
	d.shows("1 Colour", "2 Sizes", "Which colour?")
	d.press("tab")
	d.shows("Which sizes?")
	d.press("space", "down")
	d.typed("XXL")
	d.shows("your answer: XXL", "☑ S")
	d.press("enter")
	d.shows("Which colour?", "✓ Sizes")
	d.press("1")
	d.calls(`answer que_1 [["red"] ["S" "XXL"]]`)
	d.hides("question")
}

func TestLeaderHint(t *testing.T) {
	d, _ := ableTo(t, Options{})
	d.press("ctrl+x")
	d.hides("m      choose a model")
	d.now = d.now.Add(500 * time.Millisecond)
	d.shows("ctrl+x ──", "m      choose a model", "esc leave")
	d.press("m")
	d.shows("models")
	d.press("esc", "ctrl+x", "z")
	d.shows("ctrl+x z stands for nothing")
	d.press("ctrl+x")
	d.now = d.now.Add(3 * time.Second)
	d.hides("m      choose a model")
	d.typed("m")
	if got := d.app.input.Text(); got != "m" {
		t.Errorf("what is typed after the leader's time is %q", got)
	}
}

func TestPages(t *testing.T) {
	for command, want := range map[string][]string{
		"/status":  {"in this process", "docs", "this build runs none"},
		"/context": {"48k tokens, 24% of a window of 200k", "tool results (31)", "60%"},
		"/doctor":  {"✓ model", "✗ credentials", "terminal"},
		"/skills":  {"release", "how a release is made"},
		"/trust":   {"trust: not needed", "nothing in this repository steers lathe"},
		"/mcps":    {"status"},
		"/setup":   {"what shall answer?", "offline guide"},
	} {
		d, f := ableTo(t, Options{})
		f.trust = api.Trust{State: "not trusted"}
		d.typed(command)
		d.press("esc", "enter")
		d.shows(want...)
		d.press("esc")
		d.shows("❯")
	}
	d, _ := ableTo(t, Options{})
	d.typed("/cost")
	d.press("esc", "enter", "end")
	d.shows("$0.42", "acme/big: 9 answers", "81% of what was sent was read from it")
}

func TestTrustAsked(t *testing.T) {
	brought := api.Trust{Dir: "/p", State: "not trusted", Digest: "d1", Files: []string{"opencode.json"}, LeftOut: []api.LeftOut{{Path: "permission.bash", Where: "opencode.json:3", Reason: "it would loosen a rule"}}}
	for key, want := range map[string][]string{"y": {"trust d1 keep=false"}, "r ctrl+y": {"trust d1 keep=true"}, "r esc esc": nil, "r enter n": nil, "n": nil, "esc": nil, "enter": nil} {
		f := newAble()
		f.trust = brought
		d := drive(t, Options{Engine: f, Start: Start{Notices: []string{"this repository is not trusted, so 1 setting takes no effect"}}})
		d.shows("may this repository steer lathe?", "permission.bash", "it would loosen a rule")
		d.press(strings.Fields(key)...)
		d.calls(want...)
		d.hides("may this repository")
		if given := len(want) > 0; given == (len(d.app.opts.Notices) > 0) {
			t.Errorf("%s: notices %q", key, d.app.opts.Notices)
		}
	}
	f := newAble()
	f.trust = brought
	f.trust.Given, f.trust.State = true, "trusted"
	d := drive(t, Options{Engine: f})
	d.hides("may this repository")
	d.typed("/trust")
	d.press("esc", "enter", "down", "enter")
	d.calls("distrust")
}

func TestFirstRun(t *testing.T) {
	f := newAble()
	f.models = []api.Model{{ProviderID: "offline", ModelID: "guide", Default: true}}
	f.found = api.Found{Servers: []api.FoundServer{{Provider: "ollama", Name: "Ollama", URL: "http://127.0.0.1:11434/v1", Models: 3}}}
	var saved prefs.Prefs
	o := Options{Engine: f, SavePrefs: func(p prefs.Prefs) error { saved = p; return nil }}
	d := drive(t, o)
	d.shows("what shall answer?", "Ollama", "answers at http://127.0.0.1:11434/v1 with 3 models", "connect a provider with a key", "offline guide")
	// It is asked once; the next start leaves the keys alone and says what to do.
	d.press("esc")
	later := o
	later.Prefs = saved
	next := drive(t, later)
	next.hides("what shall answer?")
	next.shows("No model is connected", "/connect", "❯ ask anything")
	next.press("f1")
	next.shows("ctrl+p")
	next.hides("❯ ask anything")

	d = drive(t, o)
	d.typed("guide")
	d.press("enter")
	d.shows("No model is connected", "❯ ask anything")
	if !saved.Guided {
		t.Error("the choice is not remembered")
	}
	o.Prefs = saved
	d = drive(t, o)
	d.hides("what shall answer?")
	f.models = []api.Model{{ProviderID: "ollama", ModelID: "qwen", Default: true}}
	d = drive(t, Options{Engine: f})
	d.shows("Ollama answers at http://127.0.0.1:11434/v1")
	// Who has begun to write is not interrupted.
	o.Prefs, o.Prompt = prefs.Prefs{}, "do it"
	drive(t, o).hides("what shall answer?")
}

func TestConnectTells(t *testing.T) {
	for _, tt := range []struct {
		test api.KeyTest
		show []string
		keys []string
		want []string
	}{
		{api.KeyTest{Outcome: api.KeyAccepted, Model: "openai/gpt"}, []string{"connected OpenAI: openai/gpt answered", "models"}, nil, []string{"connect openai sk-secret"}},
		{api.KeyTest{Outcome: api.KeyRefused, Detail: "bad key (HTTP 401)", Hint: "copy it again"}, []string{"OpenAI refused the key, which is not stored", "esc leave it", "bad key (HTTP 401) — copy it again", "leave it: none is stored"}, []string{"down", "enter"}, nil},
		{api.KeyTest{Outcome: api.KeyRefused, Detail: "bad key"}, []string{"enter another key"}, []string{"down", "down", "enter"}, []string{"connect openai sk-secret"}},
		{api.KeyTest{Outcome: api.KeyUnknown, Detail: "no route", Hint: "look at the network"}, []string{"could not be tried, and is not stored", "look at the network"}, []string{"enter"}, []string{"test openai sk-secret", "connect openai sk-secret"}},
	} {
		d, f := ableTo(t, Options{})
		f.tests = []api.KeyTest{tt.test, {Outcome: api.KeyAccepted, Model: "m"}}
		d.typed("/connect")
		d.press("esc", "enter", "enter")
		d.shows("key for OpenAI", "readable by you", "ChatGPT Plus or Pro")
		d.send(tea.PasteMsg{Content: " sk-secret\n"})
		d.hides("sk-secret")
		d.press("enter")
		if want := tt.want; len(tt.keys) == 0 {
			d.calls(append([]string{"test openai sk-secret"}, want...)...)
		} else {
			d.calls("test openai sk-secret")
		}
		d.shows(tt.show...)
		if len(tt.keys) > 0 {
			d.press(tt.keys...)
			d.calls(tt.want...)
		}
	}
	d, _ := ableTo(t, Options{})
	d.typed("/connect")
	d.press("esc", "enter")
	d.typed("copilot")
	d.press("enter")
	d.shows("lathe does not offer that by", "A plugin that logs in to it is offered here")
}

func TestThemes(t *testing.T) {
	mine, err := theme.Parse("mine", []byte(`{"theme":{"text":{"dark":"#eeeeee","light":"#111111"},"background":{"dark":"#000000","light":"#ffffff"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var saved prefs.Prefs
	d, _ := ableTo(t, Options{Themes: []*theme.Theme{mine}, Theme: "mine", SavePrefs: func(p prefs.Prefs) error { saved = p; return nil }})
	base := func() styled.Style { return d.app.look.Theme.Base() }
	dark := base()
	d.send(tea.BackgroundColorMsg{Color: white{}})
	if base() == dark || !d.app.look.Theme.Light {
		t.Error("a theme with a pair stays dark on a light background")
	}
	d.press("ctrl+x", "t")
	d.shows("mine", "yours, dark and light", "tab dark or light")
	d.press("tab")
	if base() != dark {
		t.Error("tab does not change to dark")
	}
	d.press("esc")
	if base() == dark {
		t.Error("leaving keeps the other mode")
	}
	d.press("ctrl+x", "t")
	d.typed("nord")
	if d.app.look.Theme.Name == "mine" {
		t.Error("searching does not preview")
	}
	d.press("tab", "enter")
	if diff := cmp.Diff(prefs.Prefs{Theme: "nord", Mode: "dark"}, saved); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	d.shows("the configuration names mine")
	d, _ = ableTo(t, Options{Theme: "nrod"})
	if len(d.app.opts.Notices) != 1 || !strings.Contains(d.app.opts.Notices[0], `did you mean "nord"`) {
		t.Errorf("notices %q", d.app.opts.Notices)
	}
}

func TestLayout(t *testing.T) {
	const diff = "--- a\n+++ b\n@@ -3 +3 @@\n-old\n+new\n"
	change := reply(2, &lathe.ToolCall{Tool: "edit", State: &lathe.ToolDone{Input: []byte(`{"filePath":"a"}`), Metadata: map[string]any{"diff": diff}}})
	for stacked, want := range map[bool]int{false: 1, true: 2} {
		d, _ := ableTo(t, Options{Stacked: stacked, Scroll: 7}, question(1, "go"), change)
		d.send(tea.WindowSizeMsg{Width: 180, Height: 30})
		n := 0
		for _, l := range d.lines() {
			if strings.Contains(l, "old") || strings.Contains(l, "new") {
				n++
			}
		}
		if n != want {
			t.Errorf("stacked %v: the change takes %d lines, want %d:\n%s", stacked, n, want, d.text())
		}
	}
}

type white struct{}

func (white) RGBA() (r, g, b, a uint32) { return 0xffff, 0xffff, 0xffff, 0xffff }

func TestToggles(t *testing.T) {
	d, _ := ableTo(t, Options{Keys: map[string]string{"messages_previous": "f5", "messages_next": "f6", "messages_last_user": "f7"}},
		question(1, "one"), reply(2, &lathe.Text{Text: "**bold**"}))
	d.hides("**bold**")
	d.press("ctrl+x", "h")
	d.shows("**bold**")
	d.typed("/timestamps")
	d.press("esc", "enter")
	d.shows("1 Jan ")
	var list []lathe.Message
	for i := 1; i <= 60; i++ {
		list = append(list, question(i, fmt.Sprintf("message %d.", i)))
	}
	d, _ = ableTo(t, Options{Keys: map[string]string{"messages_previous": "f1", "messages_next": "f2", "help_show": "none", "model_cycle_recent": "none"}}, list...)
	d.lines()
	for range 30 {
		d.press("f1")
	}
	if got := strings.TrimSpace(d.lines()[1]); got != "▌ message 21." {
		t.Errorf("30 messages up is %q", got)
	}
	d.press("f2")
	if got := strings.TrimSpace(d.lines()[1]); got != "▌ message 22." {
		t.Errorf("and one down %q", got)
	}
}

func TestSearchInHelp(t *testing.T) {
	d, _ := ableTo(t, Options{})
	d.press("f1", "/")
	d.typed("leader")
	d.shows("⌕ leader", "the leader key, before another one")
	d.hides("a file, a directory or an agent;")
	d.press("esc")
	d.shows("a file, a directory or an agent;")
	d.press("esc")
	d.hides("help")
}

// TestHelpIsWhole holds that every command, key, action and fixed stroke is in the
// help.
func TestHelpIsWhole(t *testing.T) {
	d, _ := ableTo(t, Options{})
	var text strings.Builder
	l := d.app.look
	l.Width = 200
	d.do(help(d.app))
	for _, line := range d.app.sheets.Top().(*dialog.Page).Lines(l) {
		text.WriteString(line.Text() + "\n")
	}
	has := func(what string) {
		if !strings.Contains(text.String(), what) {
			t.Errorf("the help does not tell of %q", what)
		}
	}
	actions := map[keys.Action]bool{}
	for _, c := range allCommands() {
		for _, n := range c.names {
			has("/" + n)
		}
		actions[c.action] = true
	}
	for _, c := range d.app.choice.Commands() {
		has("/" + c.Name)
	}
	for _, b := range d.app.keys.Bindings() {
		has(string(b.Action))
		has(b.Help)
		for _, k := range b.Keys {
			has(d.app.keys.Pretty(k))
		}
	}
	for _, f := range about.Fixed {
		has(f.Head)
		for _, r := range f.Rows {
			has(r[0])
		}
	}
	for _, an := range ask.New(lathe.Ask{Always: []string{"x"}}, false, time.Time{}).Answers {
		if !slices.ContainsFunc(about.Fixed[3].Rows, func(r [2]string) bool { return strings.HasPrefix(r[0], an.Key) }) {
			t.Errorf("the key %s of permission asks is not in the help", an.Key)
		}
	}
}

// TestCommandsOfOpenCode holds the names of its slash commands.
func TestCommandsOfOpenCode(t *testing.T) {
	for _, name := range strings.Fields(`new clear sessions resume continue models agents mcps share unshare rename timeline fork compact summarize
		undo redo export timestamps thinking themes status connect editor help exit quit q copy`) {
		if slash(name) == nil {
			t.Errorf("there is no /%s", name)
		}
	}
	seen := map[string]bool{}
	for _, c := range allCommands() {
		for _, n := range c.names {
			if seen[n] {
				t.Errorf("/%s is there twice", n)
			}
			seen[n] = true
		}
	}
}

// TestWalks holds, for any keys in any order on an engine that can do everything,
// that nothing breaks, that esc leads back to the input, and that what was written
// there is still there.
func TestWalks(t *testing.T) {
	strokes := []string{"a", "漢", "e", "p", "/", "enter", "esc", "up", "down", "left", "right", "backspace", "tab", "shift+tab", "pgup", "pgdown",
		"home", "end", "space", "1", "ctrl+p", "ctrl+x", "ctrl+x", "m", "l", "g", "t", "s", "x", "n", "h", "f1", "ctrl+r", "ctrl+d", "ctrl+f", "ctrl+y", "ctrl+a", "ctrl+t", "ctrl+u", "ctrl+k", "ctrl+w"}
	commands := allCommands()
	rapid.Check(t, func(rt *rapid.T) {
		d, f := ableTo(t, Options{Desk: Desk{WriteFile: func(string, []byte) (string, error) { return "/x", nil }}}, question(1, "one"), reply(2, &lathe.Text{Text: "two"}))
		f.tests = slices.Repeat([]api.KeyTest{{Outcome: api.KeyRefused}}, 40)
		f.trust = api.Trust{LeftOut: []api.LeftOut{{Path: "a", Where: "b", Reason: "c"}}}
		d.send(tea.WindowSizeMsg{Width: rapid.IntRange(20, 200).Draw(rt, "width"), Height: rapid.IntRange(6, 60).Draw(rt, "height")})
		d.typed("a draft")
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			d.now = d.now.Add(time.Second)
			switch rapid.IntRange(0, 9).Draw(rt, "kind") {
			case 0:
				d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", Permission: "bash", Patterns: []string{"x *"}, Always: []string{"x *", "漢 *"}}})
			case 1:
				d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", Questions: []lathe.Question{{Text: "?", Options: []lathe.QuestionOption{{Label: "a"}}, Custom: true}, {Text: "!", Multiple: true}}}})
			case 2:
				c := commands[rapid.IntRange(0, len(commands)-1).Draw(rt, "command")]
				if c.can(&d.app.view) && c.group != "" && !slices.Contains(c.names, "exit") {
					d.do(c.run(d.app))
				}
			default:
				d.press(rapid.SampledFrom(strokes).Draw(rt, "stroke"))
			}
			if lines, _ := d.app.screen(); len(lines) != d.app.height {
				rt.Fatalf("%d lines on a screen of %d", len(lines), d.app.height)
			}
		}
		for range 20 {
			d.now = d.now.Add(time.Minute)
			d.press("esc")
		}
		if d.app.sheets.Top() != nil {
			rt.Fatalf("esc does not lead back:\n%s", d.text())
		}
		before := d.app.input.Text()
		d.press("ctrl+p")
		d.typed("qqq")
		d.press("esc")
		if got := d.app.input.Text(); got != before {
			rt.Fatalf("the draft %q became %q", before, got)
		}
		d.now = d.now.Add(time.Minute)
		if mode, _ := d.app.input.ViMode(); mode != "" && mode != vim.Insert {
			d.press("i") // with the keys of vi, esc ends writing
		}
		d.typed("zz")
		if got := d.app.input.Text(); strings.Count(got, "z") < 2 {
			rt.Fatalf("typed text is lost: %q", got)
		}
	})
}
