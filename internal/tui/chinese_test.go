package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/say/saytest"
	"lathe/internal/tui/about"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/prefs"
)

// notSaid are texts of the screen that no person reads, or that are the same in every language.
var notSaid = regexp.MustCompile(strings.Join([]string{
	`^[a-z]+(\.[a-z]+)+`, `\x1b`, `\\b`, `^https?://`, // names of commands and events, escape sequences, patterns, addresses
	`^[^ ]*(emulator|inscreen|stopped)[^ ]*\.go`,                                  // pictures for the documents, what is replaced, what the model is told
	`^Commit what is staged: read`,                                                // to the model
	`^(up|down|tab|home|esc|left|pgup|r), `, `^New session - `, `^GitHub Copilot`, // keys, names
	`^, %d%% of|^; did you mean %q|is set%s|^, and %d more found|^as it is now, and that|^ A subscription|pgup pgdn scroll%s|^logs in to$|^\+%d %s%d · `, // part of a text that is in the catalogue as a whole
	`^ (in|for) %s$`, `^%d[mh] `, `entrys$`, `^lathe %s`, `^lathe permissions revoke`,
}, "|"))

// TestScreenIsSaidInEachLanguage holds that commands, keys, their help and all else that the
// source of the screen has to say are not English alone.
func TestScreenIsSaidInEachLanguage(t *testing.T) {
	var missing []string
	check := func(text string) {
		if text != "" && say.Chinese.Text(text) == text {
			missing = append(missing, fmt.Sprintf("%q", text))
		}
	}
	for _, c := range allCommands() {
		check(c.title)
		check(c.group)
	}
	m, _ := keys.New(nil)
	for _, b := range m.Bindings() {
		check(b.Help)
	}
	for _, f := range about.Fixed {
		check(f.Head)
		for _, row := range f.Rows {
			check(row[1])
		}
	}
	for _, root := range []string{".", "../approval"} {
		saytest.Prose(t, root, func(text, at string) {
			if !notSaid.MatchString(text) && !notSaid.MatchString(at) && !saytest.Known(text) {
				missing = append(missing, fmt.Sprintf("%s: %q", at, text))
			}
		})
	}
	saytest.Tell(t, missing)
}

// TestNothingIsDrawnUnsaid holds that no text of the source is drawn without having been looked
// up in the person's language; those of sheets are looked up when these are drawn.
func TestNothingIsDrawnUnsaid(t *testing.T) {
	var missing []string
	saytest.Unsaid(t, ".", []string{"Plain"}, []string{"Text"}, func(text, at string) {
		missing = append(missing, fmt.Sprintf("%s: %q is drawn as it is", at, text))
	})
	saytest.Tell(t, missing)
}

// TestDialogsInChinese holds that every dialog, and the pages that a person meets first, show
// nothing in English that could be said in Chinese.
func TestDialogsInChinese(t *testing.T) {
	shown := saytest.NewShown(t, "../say/zh-CN")
	check := func(t *testing.T, d *driver) {
		t.Helper()
		for _, text := range shown.In(d.shot()) {
			t.Errorf("%q is shown in English:\n%s", text, d.shot())
		}
	}
	for name, steps := range dialogs() {
		t.Run(name, func(t *testing.T) {
			d := practised(t, Options{Say: say.Chinese})
			for _, s := range steps {
				s(d)
			}
			check(t, d)
		})
	}
	t.Run("first run", func(t *testing.T) {
		f := newAble()
		f.models = []api.Model{{ProviderID: "offline", ModelID: "guide", Default: true}}
		f.found = api.Found{Servers: []api.FoundServer{{Provider: "ollama", Name: "Ollama", URL: "http://127.0.0.1:11434/v1", Models: 3}}}
		check(t, drive(t, Options{Engine: f, Say: say.Chinese}))
	})
	t.Run("trust", func(t *testing.T) {
		f := newAble()
		f.trust = api.Trust{LeftOut: []api.LeftOut{{Path: "mcp", Where: "lathe.json:3:2", Reason: "it starts programs or reaches servers"}}}
		check(t, drive(t, Options{Engine: f, Say: say.Chinese}))
	})
	t.Run("changes", func(t *testing.T) {
		d, _ := reviewing(t, Options{Say: say.Chinese})
		d.press("ctrl+x", "v")
		check(t, d)
		d.press("enter")
		check(t, d)
		d.press("n", "c")
		check(t, d)
		d.press("esc", "x")
		check(t, d)
	})
}

// TestWordsOfOthersStay holds that what a person said is not translated in a list because
// the screen has the same words.
func TestWordsOfOthersStay(t *testing.T) {
	if say.Chinese.Word("do it") == "do it" {
		t.Fatal("the screen has no such words any more: take others")
	}
	d := withHistory(t, Options{Say: say.Chinese}, question(1, "do it"), question(2, "help"))
	d.press("ctrl+x", "g")
	d.shows("时间线", "  do it ", "● help ")
}

// TestOfflineGuideInChinese holds that lathe's own model has a name in the person's language
// where models are chosen, also as a favourite; those of others keep theirs.
func TestOfflineGuideInChinese(t *testing.T) {
	f := newAble()
	guide := lathe.ModelRef{Provider: "offline", Model: "guide"}
	f.models = []api.Model{{ProviderID: "offline", ModelID: "guide", Name: "Guide (rule-based, not a language model)", Default: true}, {ProviderID: "acme", ModelID: "big", Name: "Acme Big"}}
	d := drive(t, Options{Engine: f, Say: say.Chinese})
	d.press("ctrl+x", "m")
	d.shows("向导（按规则回答，不是语言模型）", "Acme Big")
	d.hides("rule-based")
	d = drive(t, Options{Engine: f, Say: say.Chinese, Prefs: prefs.Prefs{Favorite: []lathe.ModelRef{guide}}})
	d.press("ctrl+x", "m")
	d.shows("向导（按规则回答，不是语言模型） ★")
}

// TestChinese holds that what lathe says on the screen is in the person's language, and that
// what others said is left as it is.
func TestChinese(t *testing.T) {
	d := withHistory(t, Options{Say: say.Chinese}, question(1, "commands"))
	d.press("ctrl+p")
	d.shows("命令", "新会话", "enter 运行 · esc 关闭")
	d.typed("主题")
	d.shows("选择主题")
	d.press("esc")
	d.press("f1")
	d.shows("帮助")
	d.press("esc")
	d.shows("commands") // a prompt, which only looks like the title of a sheet
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"ls"}, Always: []string{"ls *"}, Metadata: map[string]any{"command": "ls"}}})
	d.shows("权限：bash", "轮次在等你", "允许一次", "从现在起允许", "拒绝并说明原因")

	d = withHistory(t, Options{Say: say.Chinese})
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_2", SessionID: "ses_1", Permission: "bash", Patterns: []string{"<dynamic: $x>"}, Metadata: map[string]any{"command": "$x <$f", "also": []any{
		map[string]any{"permission": "read", "patterns": []any{"<dynamic: $f>"}}, map[string]any{"permission": "external_directory", "patterns": []any{"/tmp/*"}}}}}})
	d.shows("1 $x", "另外: 读取 $f 所指的任何文件", "另外: 使用项目之外 /tmp 里的任何内容")
	d.hides("dynamic")
}

// TestStatesInChinese holds that states which are put together are said in one language.
func TestStatesInChinese(t *testing.T) {
	for english, want := range map[string]string{
		"starts when it is needed":            "需要时启动",
		"starts when it is needed, 5 tools":   "需要时启动，5 个工具",
		"starts when needed, 1 tool":          "需要时启动，1 个工具",
		"connected, 5 tools, 28 MiB":          "已连接，5 个工具，28 MiB",
		"connected, 1 error, 91 MiB":          "已连接，1 个错误，91 MiB",
		"trust: not trusted":                  "信任：未信任",
		"trust: not needed":                   "信任：不需要",
		"trust: trusted":                      "信任：已信任",
		"trust: trusted until lathe ends":     "信任：在 lathe 结束前信任",
		"tool write":                          "工具 write",
		"your messages":                       "你的消息",
		"● self  connected, 2 tools, changed": "● self  connected, 2 tools, changed", // no text of the screen's own
	} {
		if got := say.Chinese.Text(english); got != want {
			t.Errorf("%q is said as %q, want %q", english, got, want)
		}
	}
}
