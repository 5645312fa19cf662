package attend

import "testing"

func TestNotification(t *testing.T) {
	for _, tt := range []struct {
		how   string
		env   map[string]string
		about string
		want  string
	}{
		{"off", nil, "", ""},
		{"bell", nil, "", "\a"},
		{"", nil, "", "\x1b]9;lathe: done\a\a"},
		{"auto", map[string]string{"VTE_VERSION": "7600"}, "a; b", "\x1b]777;notify;lathe;done: a, b\a\a"},
		{"", map[string]string{"TERM": "foot-extra"}, "", "\x1b]777;notify;lathe;done\a\a"},
		{"", map[string]string{"TERM": "xterm-kitty"}, "x", "\x1b]99;i=lathe:d=0;lathe\x1b\\\x1b]99;i=lathe:d=1:p=body;done: x\x1b\\\a"},
		{"", map[string]string{"TERM": "linux"}, "", "\a"},
		{"osc777", nil, "", "\x1b]777;notify;lathe;done\a\a"},
		{"osc9", map[string]string{"TMUX": "x"}, "", "\x1bPtmux;\x1b\x1b]9;lathe: done\a\x1b\\\a"},
		{"osc9", map[string]string{"TERM": "screen.xterm", "STY": "1"}, "", "\x1bP\x1b]9;lathe: done\a\x1b\\\a"},
		{"osc9", nil, "修\a\x1b]52;c;x\a\n测试\u202e", "\x1b]9;lathe: done: 修 测试\a\a"},
	} {
		if got := (Terminal{Notify: tt.how, Getenv: func(k string) string { return tt.env[k] }}).Notification("done", tt.about); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.how, tt.env, got, tt.want)
		}
	}
}

func TestShowsProgress(t *testing.T) {
	for _, tt := range []struct {
		how  string
		env  map[string]string
		want bool
	}{
		{"", nil, false},
		{"", map[string]string{"TERM_PROGRAM": "iTerm.app"}, false},
		{"", map[string]string{"WT_SESSION": "1"}, true},
		{"", map[string]string{"TERM_PROGRAM": "ghostty", "TMUX": "x"}, false},
		{"on", nil, true},
		{"off", map[string]string{"WT_SESSION": "1"}, false},
	} {
		if got := (Terminal{Progress: tt.how, Getenv: func(k string) string { return tt.env[k] }}).ShowsProgress(); got != tt.want {
			t.Errorf("%q %v: %v", tt.how, tt.env, got)
		}
	}
}

func TestTitle(t *testing.T) {
	for _, tt := range []struct {
		state State
		about string
		want  string
	}{
		{Idle, "", "lathe"},
		{Busy, "Fix\x1b]0;x\a it", "● lathe · Fix it"},
		{Waiting, "修", "? lathe · 修"},
	} {
		if got := Title(tt.state, tt.about); got != tt.want {
			t.Errorf("Title(%d, %q) is %q, not %q", tt.state, tt.about, got, tt.want)
		}
	}
}
