package tui

import "testing"

func TestFewColors(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want bool
	}{
		{[]string{"TERM=linux"}, true},
		{[]string{"TERM=xterm-16color"}, true},
		{[]string{"TERM=xterm-256color"}, false},
		{[]string{"TERM=xterm", "COLORTERM=truecolor"}, false},
		{[]string{"TERM=screen", "TMUX=x"}, false},
		{[]string{"TERM=xterm-256color", "NO_COLOR=yes"}, false},
	} {
		if got := FewColors(tt.env); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.env, got, tt.want)
		}
	}
}
