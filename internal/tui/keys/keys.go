// Package keys maps keystrokes to actions: the names and defaults that people
// know from OpenCode's configuration, and what their own configuration says.
package keys

import (
	"fmt"
	"slices"
	"strings"
)

// Action names what a key does, as the configuration spells it.
type Action string

// Binding is one entry of the keymap: an action, its keys, and its help.
type Binding struct {
	Action Action
	Keys   []string // normalised; a leader sequence begins with "<leader>"
	Help   string
}

// Map finds actions by keystroke. It is read-only once made.
type Map struct {
	leader   []string
	bindings []Binding
	plain    map[string][]Action
	led      map[string][]Action
}

// New returns the defaults with the configured keys over them. What cannot be
// understood is left at its default and told in problems.
func New(configured map[string]string) (m *Map, problems []string) {
	m = &Map{plain: map[string][]Action{}, led: map[string][]Action{}}
	known := map[string]bool{"leader": true}
	m.leader = parse(or(configured["leader"], "ctrl+x"))
	for _, d := range defaults {
		known[string(d.action)] = true
		spec, ok := configured[string(d.action)]
		if !ok {
			spec = d.keys
		}
		b := Binding{Action: d.action, Keys: parse(spec), Help: d.help}
		m.bindings = append(m.bindings, b)
		for _, k := range b.Keys {
			if rest, ok := strings.CutPrefix(k, "<leader>"); ok {
				m.led[rest] = append(m.led[rest], b.Action)
			} else {
				m.plain[k] = append(m.plain[k], b.Action)
			}
		}
	}
	for name := range configured {
		if !known[name] && !foreign(name) {
			problems = append(problems, fmt.Sprintf("keybinds: there is no action %q", name))
		}
	}
	slices.Sort(problems)
	return m, problems
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// foreign reports actions of OpenCode that lathe's screen has no use for.
func foreign(name string) bool {
	for _, p := range []string{"diff_", "which_key_", "dialog.", "prompt.", "permission.", "plugins.", "session_", "messages_",
		"input_", "model_", "agent_", "variant_", "stash_", "sidebar_", "scrollbar_", "username_", "status_", "tool_", "terminal_",
		"tips_", "history_", "theme_", "editor_", "command_", "app_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// parse reads a configured value: alternatives between commas, "none" for none.
func parse(spec string) []string {
	var out []string
	for alt := range strings.SplitSeq(spec, ",") {
		if k := Normal(alt); k != "" && k != "none" {
			out = append(out, k)
		}
	}
	return out
}

var names = strings.NewReplacer(
	"return", "enter", "escape", "esc", "pageup", "pgup", "pagedown", "pgdown", "control+", "ctrl+", "option+", "alt+", "meta+", "alt+", "<leader>+", "<leader>",
)

// Normal returns a keystroke in the one spelling that is compared: lower case,
// modifiers in the order ctrl, alt, shift, super.
func Normal(key string) string {
	key = names.Replace(strings.ToLower(strings.TrimSpace(key)))
	lead := ""
	if rest, ok := strings.CutPrefix(key, "<leader>"); ok {
		lead, key = "<leader>", strings.TrimSpace(rest)
	}
	var mods [4]bool
	order := [4]string{"ctrl+", "alt+", "shift+", "super+"}
	for again := true; again; {
		again = false
		for i, m := range order {
			if rest, ok := strings.CutPrefix(key, m); ok && rest != "" {
				key, mods[i], again = rest, true, true
			}
		}
	}
	out := lead
	for i, m := range order {
		if mods[i] {
			out += m
		}
	}
	return out + key
}

// IsLeader reports whether the keystroke begins a leader sequence.
func (m *Map) IsLeader(key string) bool { return slices.Contains(m.leader, key) }

// Leader returns the leader key, for people.
func (m *Map) Leader() string { return strings.Join(m.leader, ",") }

// Is reports whether the keystroke is bound to the action.
func (m *Map) Is(key string, a Action) bool { return slices.Contains(m.plain[key], a) }

// Plain returns the actions of a keystroke.
func (m *Map) Plain(key string) []Action { return m.plain[key] }

// Led returns the actions of a keystroke after the leader.
func (m *Map) Led(key string) []Action { return m.led[key] }

// Bindings returns all bindings in the order they are shown.
func (m *Map) Bindings() []Binding { return m.bindings }

// For returns the first key of an action as people read it, or "".
func (m *Map) For(a Action) string {
	for _, b := range m.bindings {
		if b.Action == a && len(b.Keys) > 0 {
			return m.Pretty(b.Keys[0])
		}
	}
	return ""
}

// Pretty returns a keystroke as people read it.
func (m *Map) Pretty(key string) string {
	if rest, ok := strings.CutPrefix(key, "<leader>"); ok {
		return m.Leader() + " " + rest
	}
	return key
}
