// Package keys maps keystrokes to actions: the names and defaults that people
// know from OpenCode's configuration, and what their own configuration says.
package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lathe/internal/typo"
)

// Action names what a key does, as the configuration spells it.
type Action string

// Binding is one entry of the keymap: an action, its keys, and its help.
type Binding struct {
	Action Action
	Keys   []string // normalised; a leader sequence begins with "<leader>"
	Help   string
	List   bool // it works only in lists
}

// Map finds actions by keystroke. It is read-only once made.
type Map struct {
	leader   []string
	bindings []Binding
	plain    map[string][]Action
	led      map[string][]Action
	idle     []string
}

// New returns the defaults with the configured keys over them. What cannot be
// understood keeps its default and is reported in problems.
func New(configured map[string]string) (m *Map, problems []string) {
	m = &Map{plain: map[string][]Action{}, led: map[string][]Action{}}
	known := []string{"leader"}
	m.leader, problems = parse("leader", or(configured["leader"], "ctrl+x"), problems)
	if len(m.leader) == 0 && configured["leader"] != "none" {
		m.leader = []string{"ctrl+x"}
	}
	for _, d := range defaults {
		known = append(known, string(d.action))
		b := Binding{Action: d.action, Help: d.help, List: d.scope == listing}
		if spec, ok := configured[string(d.action)]; ok {
			b.Keys, problems = parse(string(d.action), spec, problems)
		} else {
			b.Keys, _ = parse("", d.keys, nil)
		}
		m.bindings = append(m.bindings, b)
		for _, k := range b.Keys {
			if rest, ok := strings.CutPrefix(k, "<leader>"); ok {
				m.led[rest] = append(m.led[rest], b.Action)
			} else {
				m.plain[k] = append(m.plain[k], b.Action)
			}
		}
	}
	for name, spec := range configured {
		if !slices.Contains(known, name) && foreign(name) {
			if spec != "none" {
				m.idle = append(m.idle, name)
			}
		} else if !slices.Contains(known, name) {
			text := fmt.Sprintf("keybinds: there is no action %q", name)
			if near := typo.Nearest(name, known); near != "" {
				text += fmt.Sprintf("; did you mean %q?", near)
			}
			problems = append(problems, text)
		}
	}
	problems = append(problems, m.conflicts(configured)...)
	slices.Sort(problems)
	slices.Sort(m.idle)
	return m, problems
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// idle are OpenCode's actions that lathe's screen has no use for.
var idle = [...]string{
	"session_child_first", "session_background", "session_queued_prompts", "session_pin_toggle", "display_thinking",
}

// foreign reports whether a name is valid in configurations for OpenCode.
func foreign(name string) bool {
	if slices.Contains(idle[:], name) || strings.Contains(name, ".") {
		return true
	}
	for _, p := range []string{"diff_", "which_key_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// conflicts says which configured keys do two things at once. Keys that the
// defaults share on purpose are not conflicts.
func (m *Map) conflicts(configured map[string]string) (out []string) {
	seen := map[string]bool{}
	for i, d := range defaults {
		if _, ok := configured[string(d.action)]; !ok {
			continue
		}
		for j, o := range defaults {
			if i == j || (d.scope == listing) != (o.scope == listing) {
				continue
			}
			for _, k := range m.bindings[i].Keys {
				first, second := defaults[min(i, j)].action, defaults[max(i, j)].action
				if id := k + string(first+second); slices.Contains(m.bindings[j].Keys, k) && !shared(k, first, second) && !seen[id] {
					seen[id] = true
					out = append(out, fmt.Sprintf("keybinds: %s is both %s and %s; the first that can be done counts", m.Pretty(k), first, second))
				}
			}
		}
		for _, k := range m.bindings[i].Keys {
			if slices.Contains(m.leader, k) {
				out = append(out, fmt.Sprintf("keybinds: %s is the leader key, so %s never sees it", k, d.action))
			}
		}
	}
	return out
}

// shared reports whether two actions have the key in common by default.
func shared(key string, a, b Action) bool {
	n := 0
	for _, d := range defaults {
		if d.action == a || d.action == b {
			if list, _ := parse("", d.keys, nil); slices.Contains(list, key) {
				n++
			}
		}
	}
	return n == 2
}

// parse reads a configured value: alternatives between commas, "none" for none.
// What is not a key is reported and left out.
func parse(name, spec string, problems []string) ([]string, []string) {
	var out []string
	for alt := range strings.SplitSeq(spec, ",") {
		k := Normal(alt)
		switch {
		case k == "" || k == "none":
		case !isKey(strings.TrimPrefix(k, "<leader>")):
			problems = append(problems, fmt.Sprintf("keybinds: %s: %.40q is not a key; keys look like ctrl+k, f5 or <leader>k", name, strings.TrimSpace(alt)))
		default:
			out = append(out, k)
		}
	}
	return out, problems
}

// isKey reports whether a normalised keystroke can be pressed.
func isKey(key string) bool {
	for _, m := range [...]string{"ctrl+", "alt+", "shift+", "super+"} {
		if rest, ok := strings.CutPrefix(key, m); ok && rest != "" {
			key = rest
		}
	}
	if utf8.RuneCountInString(key) == 1 {
		return true
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(key, "f")); err == nil && key[0] == 'f' {
		return n >= 1 && n <= 63
	}
	return slices.Contains([]string{"enter", "esc", "tab", "space", "backspace", "delete", "insert", "up", "down", "left", "right",
		"home", "end", "pgup", "pgdown", "menu", "pause", "capslock", "printscreen"}, key)
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

// Idle returns the configured actions of OpenCode's that this screen does not have.
func (m *Map) Idle() []string { return m.idle }

// Sequence is a key that may follow the leader.
type Sequence struct {
	Key    string
	Action Action
	Help   string
}

// Sequences returns what may follow the leader, in the order of the help.
func (m *Map) Sequences() []Sequence {
	var out []Sequence
	for _, b := range m.bindings {
		for _, k := range b.Keys {
			if rest, ok := strings.CutPrefix(k, "<leader>"); ok {
				out = append(out, Sequence{rest, b.Action, b.Help})
			}
		}
	}
	return out
}

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
