package config

import (
	"path"
	"reflect"
	"strings"

	"lathe/internal/jsonc"
)

// finish applies the environment's overrides and decodes the merged tree.
func (l *loader) finish() (*Config, error) {
	c := l.c
	d := &decoder{home: l.o.Paths.Home}
	lowerTools(l.root, d, "")
	l.permissionOverlay()
	l.overrides()
	l.uniquePlugins()
	l.keepLeaders()
	d.object(l.root, "", reflect.ValueOf(c).Elem())
	if err := d.err(); err != nil {
		return nil, err
	}
	c.repoRules, c.repoAgents = l.repo.rules, l.repo.agents
	c.LeftOut = append(c.LeftOut, l.repo.left...)
	c.Flags = l.flags
	c.tree = l.root
	return c, nil
}

// permissionOverlay merges OPENCODE_PERMISSION and LATHE_PERMISSION over the
// files' rules. One that does not parse is a warning.
func (l *loader) permissionOverlay() {
	for _, name := range []string{"OPENCODE_PERMISSION", "LATHE_PERMISSION"} {
		text := l.o.Getenv(name)
		if strings.TrimSpace(text) == "" {
			continue
		}
		v, err := jsonc.Parse(name, []byte(text))
		if err == nil {
			d := &decoder{}
			new(Rules).decode(d, v, "permission")
			err = d.err()
		}
		if err != nil {
			l.warn("", "skipped "+err.Error())
			continue
		}
		l.c.trust[v.Source()] = Environment
		l.c.Sources = append(l.c.Sources, Source{name, Environment})
		base := permissionObject(l.root.Get("permission")).Clone()
		merge(base, permissionObject(v), "")
		l.root.Set("permission", base)
	}
}

func (l *loader) overrides() {
	set := func(name string, v *jsonc.Value, keys ...string) {
		src := jsonc.NewSource(name, nil)
		l.c.trust[src] = Environment
		obj := l.root
		for _, k := range keys[:len(keys)-1] {
			next := obj.Get(k)
			if next == nil || next.Kind != jsonc.Object {
				next = jsonc.NewObject().At(src, 0)
				obj.Set(k, next)
			}
			obj = next
		}
		obj.Set(keys[len(keys)-1], v.At(src, 0))
	}
	f := l.flags
	if l.root.Get("username") == nil {
		if name := firstOf(l.o.Getenv("USER"), l.o.Getenv("LOGNAME"), l.o.Getenv("USERNAME")); name != "" {
			set("USER", jsonc.NewString(name), "username")
		}
	}
	if f.AutoShare {
		set("OPENCODE_AUTO_SHARE", jsonc.NewString("auto"), "share")
	}
	if f.DisableShare {
		set("OPENCODE_DISABLE_SHARE", jsonc.NewString("disabled"), "share")
	}
	if f.DisableAutoupdate {
		set("OPENCODE_DISABLE_AUTOUPDATE", jsonc.NewBool(false), "autoupdate")
	}
	if f.DisableAutocompact {
		set("OPENCODE_DISABLE_AUTOCOMPACT", jsonc.NewBool(false), "compaction", "auto")
	}
	if f.DisablePrune {
		set("OPENCODE_DISABLE_PRUNE", jsonc.NewBool(false), "compaction", "prune")
	}
}

// uniquePlugins keeps only the last of several plugins with one name, in its place.
func (l *loader) uniquePlugins() {
	list := l.root.Get("plugin")
	if list == nil || list.Kind != jsonc.Array {
		return
	}
	last := map[string]int{}
	for i, e := range list.Items {
		last[pluginName(e)] = i
	}
	var kept []*jsonc.Value
	for i, e := range list.Items {
		if last[pluginName(e)] == i {
			kept = append(kept, e)
		}
	}
	list.Items = kept
}

// pluginName returns the package without its version, or a file's base name.
func pluginName(e *jsonc.Value) string {
	spec := e.Text
	if e.Kind == jsonc.Array && len(e.Items) > 0 {
		spec = e.Items[0].Text
	}
	if file, ok := strings.CutPrefix(spec, "file://"); ok {
		base := path.Base(file)
		return strings.TrimSuffix(base, path.Ext(base))
	}
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		return spec[:i]
	}
	return spec
}
