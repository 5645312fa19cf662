package tui

import (
	"testing"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/about"
	"lathe/internal/tui/keys"
)

// TestScreenIsSaidInEachLanguage holds that commands, keys and their help are not English
// alone. A dozen may wait for a translation.
func TestScreenIsSaidInEachLanguage(t *testing.T) {
	var missing []string
	check := func(text string) {
		if text != "" && say.Chinese.Text(text) == text {
			missing = append(missing, text)
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
	tell := t.Logf
	if len(missing) > 12 {
		tell = t.Errorf
	}
	for _, text := range missing {
		tell("not in the catalogue: %q", text)
	}
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
}
