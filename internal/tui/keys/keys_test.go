package keys

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		"Return": "enter", "shift+ctrl+a": "ctrl+shift+a", "<leader>M": "<leader>m", "<leader> right": "<leader>right",
		" ctrl+alt+PageUp ": "ctrl+alt+pgup", "escape": "esc", "ctrl++": "ctrl++", "ctrl+-": "ctrl+-", "super+shift+z": "shift+super+z", "none": "none",
	} {
		if got := Normal(in); got != want {
			t.Errorf("Normal(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestConfigured(t *testing.T) {
	m, problems := New(map[string]string{
		"leader": "ctrl+o", "model_list": "<leader>p,f5", "agent_cycle": "none", "diff_help": "?", "bogus": "x",
	})
	if diff := cmp.Diff([]string{`keybinds: there is no action "bogus"`}, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if !m.IsLeader("ctrl+o") || m.IsLeader("ctrl+x") {
		t.Error("the leader was not changed")
	}
	if diff := cmp.Diff([]Action{Models}, m.Led("p")); diff != "" || !m.Is("f5", Models) || m.Is("tab", AgentNext) {
		t.Errorf("bindings: %s", diff)
	}
	if got := m.For(Models); got != "ctrl+o p" {
		t.Errorf("the key of the models is shown as %q", got)
	}
}

func TestEveryDefaultHasHelp(t *testing.T) {
	seen := map[Action]bool{}
	for _, d := range defaults {
		if d.help == "" || seen[d.action] {
			t.Errorf("%s: help %q, twice %v", d.action, d.help, seen[d.action])
		}
		seen[d.action] = true
	}
}
