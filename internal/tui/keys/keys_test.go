package keys

import (
	"fmt"
	"strings"
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

func TestProblems(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   map[string]string
		want []string
	}{
		{"of OpenCode, without use here", map[string]string{"session_background": "ctrl+b", "dialog.select.next": "down", "diff_close": "q", "session_quick_switch_3": "<leader>3"}, nil},
		{"the defaults again", map[string]string{"app_exit": "ctrl+c,ctrl+d,<leader>q", "tips_toggle": "<leader>h", "input_delete": "ctrl+d"}, nil},
		{"mistyped", map[string]string{"model_lst": "f5"}, []string{`keybinds: there is no action "model_lst"; did you mean "model_list"?`}},
		{"no keys", map[string]string{"model_list": "hyper+k,f5", "leader": "ctl+x"}, []string{
			`keybinds: leader: "ctl+x" is not a key; keys look like ctrl+k, f5 or <leader>k`,
			`keybinds: model_list: "hyper+k" is not a key; keys look like ctrl+k, f5 or <leader>k`}},
		{"two things", map[string]string{"model_list": "ctrl+k"}, []string{
			"keybinds: ctrl+k is both model_list and input_delete_to_line_end; the first that can be done counts"}},
		{"in a list and elsewhere", map[string]string{"session_delete": "ctrl+t"}, nil},
		{"behind the leader", map[string]string{"agent_list": "ctrl+x"}, []string{"keybinds: ctrl+x is the leader key, so agent_list never sees it"}},
		{"both configured", map[string]string{"agent_list": "<leader>z", "theme_list": "<leader>z"}, []string{
			"keybinds: ctrl+x z is both agent_list and theme_list; the first that can be done counts"}},
	} {
		_, got := New(tt.in)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestLeaderCannotBeLost(t *testing.T) {
	m, _ := New(map[string]string{"leader": "bogus+"})
	if !m.IsLeader("ctrl+x") {
		t.Error("a leader key that is none leaves the screen without one")
	}
}

// TestNames holds the names and keys that OpenCode 1.1 documents.
func TestNames(t *testing.T) {
	names := strings.Fields(`leader app_exit editor_open theme_list sidebar_toggle scrollbar_toggle username_toggle status_view session_export
		session_new session_list session_timeline session_fork session_rename session_delete stash_delete model_provider_list
		model_favorite_toggle session_share session_unshare session_interrupt session_compact messages_page_up messages_page_down
		messages_line_up messages_line_down messages_half_page_up messages_half_page_down messages_first messages_last messages_next
		messages_previous messages_last_user messages_copy messages_undo messages_redo messages_toggle_conceal tool_details model_list
		model_cycle_recent model_cycle_recent_reverse model_cycle_favorite model_cycle_favorite_reverse command_list agent_list
		agent_cycle agent_cycle_reverse variant_cycle input_clear input_paste input_submit input_newline input_move_left
		input_move_right input_move_up input_move_down input_select_left input_select_right input_select_up input_select_down
		input_line_home input_line_end input_select_line_home input_select_line_end input_visual_line_home input_visual_line_end
		input_select_visual_line_home input_select_visual_line_end input_buffer_home input_buffer_end input_select_buffer_home
		input_select_buffer_end input_delete_line input_delete_to_line_end input_delete_to_line_start input_backspace input_delete
		input_undo input_redo input_word_forward input_word_backward input_select_word_forward input_select_word_backward
		input_delete_word_forward input_delete_word_backward history_previous history_next session_child_cycle
		session_child_cycle_reverse session_parent terminal_suspend terminal_title_toggle tips_toggle`)
	in := map[string]string{}
	for i, n := range names {
		in[n] = fmt.Sprintf("f%d", i%60+1)
	}
	_, problems := New(in)
	for _, p := range problems {
		if strings.Contains(p, "there is no action") {
			t.Error(p)
		}
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

// TestIdle holds that what a configuration for OpenCode asks for in vain is told.
func TestIdle(t *testing.T) {
	m, problems := New(map[string]string{"session_background": "<leader>b", "session_pin_toggle": "none", "diff_close": "q", "app_exit": "f9"})
	if len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
	if diff := cmp.Diff([]string{"diff_close", "session_background"}, m.Idle()); diff != "" {
		t.Errorf("idle (-want +got):\n%s", diff)
	}
}
