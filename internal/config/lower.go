package config

import (
	"fmt"
	"strings"

	"lathe/internal/jsonc"
)

// lower rewrites older and newer spellings of a source's tree, in place, into
// the keys that the decoder knows. Where both spellings are present the known
// one stays and the other is a warning.
func (d *decoder) lower(root *jsonc.Value) {
	if root.Kind != jsonc.Object {
		return
	}
	d.rename(root, "", "snapshots", "snapshot")
	d.rename(root, "", "media", "attachment")
	d.rename(root, "", "reference", "references")
	d.rename(root, "", "commands", "command")
	d.rename(root, "", "agents", "agent")
	d.rename(root, "", "providers", "provider")
	if auto := root.Delete("autoshare"); auto != nil && auto.Kind == jsonc.Bool && auto.True && root.Get("share") == nil {
		root.Set("share", jsonc.NewString("auto").AtOf(auto))
	}
	if p := root.Delete("permissions"); p != nil {
		d.fail(p, "permissions", `is not understood; write the rules under "permission"`)
	}
	d.lowerNetwork(root)
	d.lowerCompaction(root.Get("compaction"))
	d.lowerShell(root)
	d.lowerModes(root)
	if agents := root.Get("agent"); agents != nil {
		for _, m := range agents.Members {
			d.lowerAgent(m.Value, "agent."+m.Key)
		}
	}
	if mcp := root.Get("mcp"); mcp != nil {
		if servers := mcp.Get("servers"); servers != nil && servers.Get("type") == nil && servers.Get("enabled") == nil {
			mcp.Delete("servers")
			for _, m := range servers.Members {
				if mcp.Get(m.Key) == nil {
					mcp.Put(m)
				}
			}
		}
	}
}

// rename moves a key to the name it is known by.
func (d *decoder) rename(obj *jsonc.Value, path, from, to string) {
	old := obj.Get(from)
	if old == nil {
		return
	}
	if obj.Get(to) != nil {
		d.warnings = append(d.warnings, Issue{join(path, from), old.Pos(),
			fmt.Sprintf("%q is another name for %q, which is set too and wins", join(path, from), to)})
		obj.Delete(from)
		return
	}
	obj.Rename(from, to)
}

// lowerNetwork moves the rules for hosts, which may have a key of their own, in
// with the others.
func (d *decoder) lowerNetwork(root *jsonc.Value) {
	rules := root.Get("network")
	if rules == nil || rules.Kind == jsonc.Null {
		return
	}
	if rules.Kind != jsonc.Object && rules.Kind != jsonc.String {
		d.want(root.Delete("network"), "network", "an action or an object of hosts")
		return
	}
	perm := permissionObject(root.Get("permission"))
	if perm.Kind != jsonc.Object {
		return // reported elsewhere
	}
	if perm.Get("network") != nil {
		d.warnings = append(d.warnings, Issue{"network", rules.Pos(), `"network" is another name for "permission.network", which is set too and wins`})
		root.Delete("network")
		return
	}
	root.Delete("network")
	if root.Get("permission") == nil || root.Get("permission").Kind != jsonc.Object {
		root.Set("permission", perm)
	}
	perm.Set("network", rules)
}

func (d *decoder) lowerCompaction(c *jsonc.Value) {
	if c == nil || c.Kind != jsonc.Object {
		return
	}
	if tokens := c.Path("keep", "tokens"); tokens != nil {
		c.Delete("keep")
		if c.Get("preserve_recent_tokens") == nil {
			c.Set("preserve_recent_tokens", tokens)
		}
	}
	d.rename(c, "compaction", "buffer", "reserved")
}

// lowerShell takes apart what may be written together: the program, the variables that
// commands get although they look like secrets, and the limits of commands.
func (d *decoder) lowerShell(root *jsonc.Value) {
	sh := root.Get("shell")
	if sh == nil || sh.Kind != jsonc.Object {
		return
	}
	root.Delete("shell")
	if env := sh.Get("env"); env != nil {
		if kept := root.Get("keep_env"); kept != nil && kept.Kind == jsonc.Array && env.Kind == jsonc.Array {
			env.Items = append(env.Items, kept.Items...)
		}
		root.Set("keep_env", env)
	}
	if limits := sh.Get("limits"); limits != nil {
		root.Set("limits", limits)
	}
	if path := sh.Get("path"); path != nil {
		root.Set("shell", path)
	}
}

// lowerModes turns "mode" entries into primary agents.
func (d *decoder) lowerModes(root *jsonc.Value) {
	modes := root.Delete("mode")
	if modes == nil || modes.Kind != jsonc.Object {
		if modes != nil {
			d.want(modes, "mode", "an object")
		}
		return
	}
	agents := root.Get("agent")
	if agents == nil || agents.Kind != jsonc.Object {
		agents = jsonc.NewObject()
		root.Set("agent", agents)
	}
	for _, m := range modes.Members {
		if m.Value.Kind != jsonc.Object {
			d.want(m.Value, "mode."+m.Key, "an object")
			continue
		}
		m.Value.Set("mode", jsonc.NewString("primary").AtOf(m.Value))
		if old := agents.Get(m.Key); old != nil {
			merge(old, m.Value, "")
			continue
		}
		agents.Put(m)
	}
}

func (d *decoder) lowerAgent(a *jsonc.Value, path string) {
	if a.Kind != jsonc.Object {
		return
	}
	d.rename(a, path, "maxSteps", "steps")
	d.rename(a, path, "system", "prompt")
	d.rename(a, path, "disabled", "disable")
	d.rename(a, path, "topP", "top_p")
	if p := a.Delete("permissions"); p != nil {
		d.fail(p, path+".permissions", `is not understood; write the rules under "permission"`)
	}
	if body := a.Path("request", "body"); body != nil && body.Kind == jsonc.Object {
		a.Delete("request")
		if opts := a.Get("options"); opts != nil && opts.Kind == jsonc.Object {
			merge(body, opts, "")
		}
		a.Set("options", body)
	}
	if model := a.Get("model"); model != nil && model.Kind == jsonc.String && a.Get("variant") == nil {
		if name, variant, ok := strings.Cut(model.Text, "#"); ok {
			a.Set("model", jsonc.NewString(name).AtOf(model))
			a.Set("variant", jsonc.NewString(variant).AtOf(model))
		}
	}
	lowerTools(a, d, path)
}

// lowerTools turns {"tools": {"bash": false}} into permission rules before the
// explicit ones, which win.
func lowerTools(obj *jsonc.Value, d *decoder, path string) {
	tools := obj.Delete("tools")
	if tools == nil || tools.Kind == jsonc.Null {
		return
	}
	if tools.Kind != jsonc.Object {
		d.want(tools, join(path, "tools"), "an object")
		return
	}
	perm := jsonc.NewObject()
	for _, m := range tools.Members {
		if m.Value.Kind != jsonc.Bool {
			d.want(m.Value, join(join(path, "tools"), m.Key), "true or false")
			continue
		}
		action := "deny"
		if m.Value.True {
			action = "allow"
		}
		perm.Set(toolPermission(m.Key), jsonc.NewString(action).AtOf(m.Value))
	}
	for _, m := range permissionObject(obj.Get("permission")).Members {
		perm.Put(m)
	}
	obj.Set("permission", perm)
}

func toolPermission(tool string) string {
	switch tool {
	case "write", "edit", "patch", "multiedit":
		return "edit"
	}
	return tool
}

// permissionObject returns a permission value as an object: a single action
// applies to every permission.
func permissionObject(v *jsonc.Value) *jsonc.Value {
	if v == nil {
		return jsonc.NewObject()
	}
	if v.Kind == jsonc.String {
		obj := jsonc.NewObject()
		obj.Set("*", v)
		return obj
	}
	return v
}

// merge lays src over dst: objects key by key, an overridden key keeping its
// place, everything else replaced; the lists "plugin" and "instructions", and those
// of "hooks", are joined instead. dst is changed; src is not, but may be shared.
func merge(dst, src *jsonc.Value, path string) {
	for _, m := range src.Members {
		old := dst.Get(m.Key)
		at := join(path, m.Key)
		switch {
		case m.Value.Kind == jsonc.Null && old != nil:
		case old != nil && old.Kind == jsonc.Object && m.Value.Kind == jsonc.Object:
			merge(old, m.Value, at)
		case old != nil && old.Kind == jsonc.Array && m.Value.Kind == jsonc.Array && joined(at):
			joinLists(old, m.Value)
		default:
			m.Value = m.Value.Clone()
			dst.Put(m)
		}
	}
}

// joined reports whether a list adds up over the sources.
func joined(path string) bool {
	return path == "plugin" || path == "instructions" || strings.HasPrefix(path, "hooks.")
}

func joinLists(dst, src *jsonc.Value) {
	have := map[string]bool{}
	for _, e := range dst.Items {
		have[string(e.Append(nil))] = true
	}
	for _, e := range src.Items {
		if key := string(e.Append(nil)); !have[key] {
			have[key] = true
			dst.Items = append(dst.Items, e.Clone())
		}
	}
}
