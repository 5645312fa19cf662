package config

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"lathe"
	"lathe/internal/jsonc"
)

// PluginChange adds a plugin to the list of a configuration, or removes it.
type PluginChange struct {
	Spec   string
	Remove bool
	Dir    string // of a directory's own configuration; empty: the person's
}

// ChangePlugins changes the list "plugin" of one configuration file and returns the
// file. Of a package another version takes the place of the one that stood there. To
// remove what is not there is an error.
func ChangePlugins(ctx context.Context, p Paths, c PluginChange) (string, error) {
	dir := c.Dir
	if dir == "" {
		dir = p.Config
	}
	var items []*jsonc.Value
	for _, name := range []string{"lathe.jsonc", "lathe.json", "opencode.jsonc", "opencode.json"} { // as update chooses
		text, err := readFile(filepath.Join(dir, name), jsonc.MaxSize)
		if err != nil {
			continue
		}
		tree, err := jsonc.Parse(name, text)
		if err != nil {
			return "", lathe.Errorf(lathe.CodeInvalid, "correct the file", "%v", err)
		}
		if list := tree.Get("plugin"); list != nil {
			items = list.Items
		}
		break
	}
	added := jsonc.NewString(c.Spec)
	before := len(items)
	items = slices.DeleteFunc(slices.Clone(items), func(e *jsonc.Value) bool { return pluginName(e) == pluginName(added) })
	if c.Remove && len(items) == before {
		return "", lathe.Errorf(lathe.CodeNotFound, "see where it stands with: lathe plugin list; a directory's own is removed with --project",
			"the configuration in %s names no plugin %q", dir, c.Spec)
	}
	if !c.Remove {
		items = append(items, added)
	}
	list := make([]json.RawMessage, 0, len(items))
	for _, e := range items {
		list = append(list, e.Append(nil))
	}
	patch, err := json.Marshal(map[string]any{"plugin": list})
	if err != nil {
		return "", err
	}
	if c.Dir == "" {
		return UpdateGlobal(ctx, p, patch)
	}
	return UpdateProject(ctx, p, c.Dir, patch)
}
