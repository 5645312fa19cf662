package cli

import (
	"testing"
)

func TestFromHere(t *testing.T) {
	env := map[string]string{
		"LATHE_CONFIG": "c.json", "OPENCODE_CONFIG": "/abs.json", "LATHE_TUI_CONFIG": "~/t.json", "LATHE_CONFIG_DIR": "../d", "HOME": "relative",
	}
	getenv := fromHere(func(k string) string { return env[k] }, "/work/here")
	for name, want := range map[string]string{
		"LATHE_CONFIG": "/work/here/c.json", "OPENCODE_CONFIG": "/abs.json", "LATHE_TUI_CONFIG": "~/t.json", "LATHE_CONFIG_DIR": "/work/d",
		"HOME": "relative", "OPENCODE_TUI_CONFIG": "",
	} {
		if got := getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
