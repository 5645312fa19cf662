package config

import (
	"slices"
	"strings"

	"lathe/internal/jsonc"
)

// Every value of the merged tree keeps its source, and thereby whoever is
// responsible for it. An entry written by several sources has no single origin:
// ask for that of the value that matters.

// Origins lists where every value comes from, in the order of the merged keys.
// A list counts as one value.
func (c *Config) Origins() []Origin {
	var list []Origin
	c.walkOrigins(c.tree, "", &list)
	return list
}

func (c *Config) walkOrigins(v *jsonc.Value, at string, list *[]Origin) {
	if v.Kind != jsonc.Object {
		*list = append(*list, Origin{at, v.Pos(), c.trust[v.Source()]})
		return
	}
	for _, m := range v.Members {
		c.walkOrigins(m.Value, join(at, m.Key), list)
	}
}

// Origin returns where a value comes from; false when nothing set it.
func (c *Config) Origin(keys ...string) (Origin, bool) {
	v := c.tree.Path(keys...)
	if v == nil {
		return Origin{}, false
	}
	return Origin{strings.Join(keys, "."), v.Pos(), c.trust[v.Source()]}, true
}

// Untrusted reports whether the value at the keys, or one below it, was written
// by a repository that is not trusted.
func (c *Config) Untrusted(keys ...string) bool {
	_, foreign := c.writers(c.tree.Path(keys...))
	return foreign
}

// OnlyUntrusted reports whether only untrusted repositories wrote what is at the
// keys.
func (c *Config) OnlyUntrusted(keys ...string) bool {
	mine, foreign := c.writers(c.tree.Path(keys...))
	return foreign && !mine
}

// writers reports whether a tree has values of an untrusted repository, and
// whether it has others.
func (c *Config) writers(v *jsonc.Value) (mine, foreign bool) {
	if v == nil {
		return false, false
	}
	if src := v.Source(); src != nil && (v.Kind != jsonc.Object || len(v.Members) == 0) {
		foreign = c.trust[src] == Repository && !c.Trusted
		mine = !foreign
	}
	for _, m := range v.Members {
		a, b := c.writers(m.Value)
		mine, foreign = mine || a, foreign || b
	}
	for _, e := range v.Items {
		a, b := c.writers(e)
		mine, foreign = mine || a, foreign || b
	}
	return mine, foreign
}

// separate removes entries from the merged tree that a source of the other kind
// redefines: a command belongs to an untrusted repository entirely or not at
// all.
func (l *loader) separate(root *jsonc.Value, untrusted bool) {
	fresh, old := root.Get("command"), l.root.Get("command")
	if fresh == nil || old == nil {
		return
	}
	for _, m := range fresh.Members {
		if mine, foreign := l.c.writers(old.Get(m.Key)); untrusted && mine || !untrusted && foreign {
			old.Delete(m.Key)
		}
	}
}

// builtinAgents belong to the person without being written anywhere.
var builtinAgents = []string{"build", "plan", "general", "explore", "compaction", "title", "summary"}

// BuiltinAgents are the names of the agents that lathe brings along.
func BuiltinAgents() []string { return slices.Clone(builtinAgents) }

// mine reports whether an agent is built in, or has so far been defined by
// anybody other than untrusted repositories.
func (l *loader) mine(agent string) bool {
	if slices.Contains(builtinAgents, agent) {
		return true
	}
	mine, _ := l.c.writers(l.root.Path("agent", agent))
	return mine
}

// keepLeaders leaves out what an untrusted repository said about leading for
// agents that a later source turned out to define.
func (l *loader) keepLeaders() {
	agents := l.root.Get("agent")
	if agents == nil {
		return
	}
	for _, a := range agents.Members {
		if !l.mine(a.Key) {
			continue
		}
		for _, key := range leaderKeys {
			if _, foreign := l.c.writers(a.Value.Get(key)); foreign {
				l.c.LeftOut = append(l.c.LeftOut, LeftOut{"agent." + a.Key + "." + key, a.Value.Get(key).Pos(), leaderReason})
				a.Value.Delete(key)
			}
		}
	}
}
