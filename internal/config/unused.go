package config

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/jsonc"
)

// Unused is something that the configuration asks for and this build does not do.
type Unused struct {
	Kind string // in the plural: "MCP servers"
	Name string // empty where only the kind is known
	From string // the file that says so
}

// withoutEffect are the settings that this build reads but does not act on, and
// their names. Whoever makes lathe act on one removes it here.
var withoutEffect = map[string]string{
	"references":            "references",
	"experimental.hook":     "hooks",
	"experimental.policies": "policies",
}

// HasEffect reports whether a setting that a repository was denied, as
// [LeftOut.Path] names it, would do anything if the repository were trusted.
func HasEffect(path string) bool { return kindWithoutEffect(path) == "" }

func kindWithoutEffect(path string) string {
	keys := strings.Split(path, ".")
	if kind := withoutEffect[keys[0]]; kind != "" {
		return kind
	}
	if len(keys) > 1 {
		return withoutEffect[keys[0]+"."+keys[1]]
	}
	return ""
}

// Unused lists what was found but is not used, including settings of an
// untrusted repository that trust would not change. What is switched off is
// left out.
func (c *Config) Unused() []Unused {
	var out []Unused
	add := func(kind, name string, pos jsonc.Pos) {
		u := Unused{withoutEffect[kind], name, pos.File}
		if !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	for _, r := range c.References {
		add("references", r.Name, r.Pos)
	}
	for _, key := range []string{"hook", "policies"} {
		if o, ok := c.Origin("experimental", key); ok {
			add("experimental."+key, key, o.Pos)
		}
	}
	return append(out, c.deniedUnused()...)
}

// deniedUnused lists settings denied to an untrusted repository that would have no effect anyway.
func (c *Config) deniedUnused() (out []Unused) {
	for _, l := range c.LeftOut {
		kind := kindWithoutEffect(l.Path)
		if kind == "" {
			continue
		}
		if u := (Unused{Kind: kind, From: l.Pos.File}); !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}

// unusedShown is how many names of one kind are listed.
const unusedShown = 6

// UnusedLines says what is not used, a line for each kind and file.
func UnusedLines(list []Unused) []string {
	type group struct{ kind, from string }
	names := map[group][]string{}
	var order []group
	for _, u := range list {
		g := group{u.Kind, u.From}
		if names[g] == nil {
			order = append(order, g)
		}
		names[g] = append(names[g], u.Name)
	}
	var out []string
	for _, g := range order {
		shown := names[g]
		if more := len(shown) - unusedShown; more > 0 {
			shown = append(slices.Clone(shown[:unusedShown]), fmt.Sprintf("and %d more", more))
		}
		line := "this build of lathe does not use " + g.kind
		if text := strings.Join(shown, ", "); text != "" {
			line += ": " + text
		}
		if g.from != "" {
			line += " (" + g.from + ")"
		}
		out = append(out, line)
	}
	return out
}
