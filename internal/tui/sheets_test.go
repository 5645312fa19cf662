package tui

import (
	"fmt"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/say/saytest"
)

// TestSheetsAtEachSize draws the sheets that [dialogs] has not, at 80×24 and 200×60 and in each
// language, painted as they are for people: each has its title, no line is wider than the
// screen, and nothing of lathe's own is English in Chinese.
func TestSheetsAtEachSize(t *testing.T) {
	shown := saytest.NewShown(t, "../say/zh-CN")
	begun := func(t *testing.T, o Options) *driver { d, _ := startPage(t, o); return d }
	changes := func(t *testing.T, o Options) *driver { d, _ := reviewing(t, o); return d }
	able := func(with func(d *driver, f *ableFake)) func(t *testing.T, o Options) *driver {
		return func(t *testing.T, o Options) *driver {
			d, f := ableTo(t, o, question(1, "Start it."), reply(2, &lathe.Text{Text: "done"}))
			with(d, f)
			return d
		}
	}
	noModel := func(t *testing.T, o Options) *driver {
		f := newAble()
		f.models = []api.Model{{ProviderID: "offline", ModelID: "guide", Default: true}}
		o.Engine = f
		return drive(t, o)
	}
	untrusted := func(t *testing.T, o Options) *driver {
		f := newAble()
		f.trust = api.Trust{LeftOut: []api.LeftOut{{Path: "mcp", Where: "lathe.json:3:2", Reason: "it starts programs or reaches servers"}}}
		o.Engine = f
		return drive(t, o)
	}
	marked := func(t *testing.T, o Options) *driver {
		n := &noted{newFake(), api.Notes{Bookmarks: []api.Bookmark{{Message: "msg_1", Text: "漢字"}}}}
		n.sessions["ses_1"] = lathe.Session{ID: "ses_1"}
		n.history["ses_1"] = []lathe.Message{question(1, "漢字")}
		o.Engine, o.Start = n, Start{Session: "ses_1"}
		return drive(t, o)
	}
	login := func(keys ...string) func(t *testing.T, o Options) *driver {
		return func(t *testing.T, o Options) *driver {
			d, _ := ableTo(t, o)
			d.app.access.Able.Logins = &loginFake{}
			d.typed("/connect")
			d.press("esc", "enter")
			d.typed("acme")
			d.press(append([]string{"enter"}, keys...)...)
			return d
		}
	}
	foreign := able(func(d *driver, _ *ableFake) {
		d.app.access.Able.Plugins = &pluginFake{files: foreignHooks(api.HooksAsk)}
		d.do(d.app.plugins.Ask(d.app.opts.Now))
	})
	asked := able(func(d *driver, _ *ableFake) {
		d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"rm x"}, Always: []string{"rm *"}}})
	})
	nothing := func(*driver, *ableFake) {}
	for _, tt := range []struct {
		title string
		make  func(t *testing.T, o Options) *driver
		slash string
		keys  string
	}{
		{"changes", changes, "diff", ""},
		{"a b.txt", changes, "diff", "enter n"},
		{"take back hunk 1 of a b.txt", changes, "diff", "enter x"},
		{"comment on a b.txt:2 (a removed line)", changes, "diff", "enter c"},
		{"undo this prompt and all after it", changes, "diff", "r"},
		{"changes", changes, "diff", "s c"},
		{"changes", changes, "diff", "s c c"},
		{"log in to Acme", login(), "", ""},
		{"Which GitHub?", login("enter"), "", ""},
		{"log in to Acme", login("enter", "enter"), "", ""},
		{"run your hooks of Claude Code?", foreign, "", ""},
		{"allow from now on", asked, "", "a"},
		{"change what is allowed", asked, "", "a e"},
		{"where it stopped", begun, "", "ctrl+x 1"},
		{"found on this machine", begun, "found", ""},
		{"MCP servers", able(func(d *driver, _ *ableFake) { d.app.access.Able.Servers = &serverFake{} }), "mcps", ""},
		{"docs", able(func(d *driver, _ *ableFake) { d.app.access.Able.Servers = &serverFake{} }), "mcps", "enter"},
		{"plugins, tools and hooks", able(func(d *driver, _ *ableFake) { d.app.access.Able.Plugins = &pluginFake{} }), "plugins", ""},
		{"bookmarks", marked, "bookmarks", ""},
		{"how much is asked", able(nothing), "approval", ""},
		{"who works for this session", able(nothing), "tree", ""},
		{"find in the conversation", able(nothing), "find", ""},
		{"", noModel, "", ""},
		{"", untrusted, "", ""},
	} {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			for _, lang := range []say.Language{say.English, say.Chinese} {
				t.Run(fmt.Sprintf("%s %d %s", tt.title, size[0], lang), func(t *testing.T) {
					d := tt.make(t, Options{Say: lang})
					d.send(windowOf(size))
					if tt.slash != "" {
						d.typed("/" + tt.slash)
						d.press("esc", "enter")
					}
					d.press(strings.Fields(tt.keys)...)
					shot := d.shot()
					if want := "── " + lang.Text(tt.title); !strings.Contains(shot, want) {
						t.Errorf("no %q:\n%s", want, shot)
					}
					if lang == say.Chinese && size[0] == 200 { // where no text goes over several lines
						for _, text := range shown.In(inWords(shot)) {
							t.Errorf("%q is shown in English:\n%s", text, shot)
						}
					}
				})
			}
		}
	}
}

// inWords returns the lines of a screen that have English words, without what is blank in them.
func inWords(shot string) (out string) {
	for line := range strings.Lines(shot) {
		if line = strings.Join(strings.Fields(line), " "); strings.ContainsAny(line, "abcdefghijklmnopqrstuvwxyz") {
			out += line + "\n"
		}
	}
	return out
}
