package screen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/tui/prefs"
	"lathe/internal/workspace"
)

// The screen's memory is kept as OpenCode keeps it: which models in model.json,
// the rest in kv.json, both in the state directory.
const (
	modelState = "model.json"
	otherState = "kv.json"
	maxState   = 256 << 10
)

type modelStateFile struct {
	Recent   []modelStateRef   `json:"recent"`
	Favorite []modelStateRef   `json:"favorite"`
	Variant  map[string]string `json:"variant"`
}

type modelStateRef struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

type otherStateFile struct {
	Theme  string `json:"theme,omitempty"`
	Mode   string `json:"theme_mode,omitempty"`
	NoTips bool   `json:"tips_hidden,omitempty"`
	Times  bool   `json:"timestamps,omitempty"`
	Guided bool   `json:"guide_chosen,omitempty"`
	Offer  bool   `json:"setup_offered,omitempty"`

	Sidebar   string `json:"sidebar,omitempty"` // "hide"; otherwise it is shown if there is room
	Scrollbar bool   `json:"scrollbar_visible,omitempty"`
	Names     bool   `json:"username_visible,omitempty"`

	Vim     bool     `json:"vim_mode,omitempty"`
	Ignored []string `json:"programs_ignored,omitempty"`
	Left    []string `json:"sessions_left,omitempty"`
}

// loadPrefs reads what the screen remembers. What cannot be read is forgotten: it
// must not keep the screen from opening.
func loadPrefs(dir string) prefs.Prefs {
	var m modelStateFile
	var o otherStateFile
	readState(filepath.Join(dir, "screen.json"), &o) // where the theme was kept before
	readState(filepath.Join(dir, modelState), &m)
	readState(filepath.Join(dir, otherState), &o)
	p := prefs.Prefs{Recent: refsOf(m.Recent), Favorite: refsOf(m.Favorite), Theme: o.Theme, NoTips: o.NoTips, Times: o.Times, Guided: o.Guided, Offered: o.Offer,
		NoSidebar: o.Sidebar == "hide", Scrollbar: o.Scrollbar, Names: o.Names, Vim: o.Vim, Ignored: o.Ignored, Left: o.Left}
	if o.Mode == "dark" || o.Mode == "light" {
		p.Mode = o.Mode
	}
	for id, v := range m.Variant {
		if v != "" && v != "default" {
			if p.Variant == nil {
				p.Variant = map[string]string{}
			}
			p.Variant[id] = v
		}
	}
	return p
}

func readState(path string, into any) {
	data, err := workspace.ReadFile(path, maxState)
	if err == nil {
		_ = json.Unmarshal(data, into) // as far as it can be understood
	}
}

func refsOf(list []modelStateRef) []lathe.ModelRef {
	var out []lathe.ModelRef
	for _, r := range list {
		if r.ProviderID != "" && r.ModelID != "" && len(out) < 100 {
			out = append(out, lathe.ModelRef{Provider: r.ProviderID, Model: r.ModelID})
		}
	}
	return out
}

// savePrefs writes what the screen remembers. Keys of others are kept.
func savePrefs(dir string, p prefs.Prefs) error {
	if err := config.Ensure(dir); err != nil {
		return err
	}
	m := modelStateFile{Recent: []modelStateRef{}, Favorite: []modelStateRef{}, Variant: p.Variant}
	for _, r := range p.Recent {
		m.Recent = append(m.Recent, modelStateRef{r.Provider, r.Model})
	}
	for _, r := range p.Favorite {
		m.Favorite = append(m.Favorite, modelStateRef{r.Provider, r.Model})
	}
	if m.Variant == nil {
		m.Variant = map[string]string{}
	}
	if err := mergeState(filepath.Join(dir, modelState), m, nil); err != nil {
		return err
	}
	o := otherStateFile{Theme: p.Theme, Mode: p.Mode, NoTips: p.NoTips, Times: p.Times, Guided: p.Guided, Offer: p.Offered, Scrollbar: p.Scrollbar, Names: p.Names, Vim: p.Vim, Ignored: p.Ignored, Left: p.Left}
	if p.NoSidebar {
		o.Sidebar = "hide"
	}
	return mergeState(filepath.Join(dir, otherState), o, []string{
		"theme", "theme_mode", "tips_hidden", "timestamps", "guide_chosen", "setup_offered", "sidebar", "scrollbar_visible", "username_visible", "vim_mode", "programs_ignored", "sessions_left"})
}

// mergeState sets the keys of a value in a file. Of the keys in ours, those
// that the value leaves out are removed.
func mergeState(path string, value any, ours []string) error {
	doc := map[string]json.RawMessage{}
	readState(path, &doc)
	for _, k := range ours {
		delete(doc, k)
	}
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err == nil {
		raw, err = json.MarshalIndent(doc, "", "  ")
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return workspace.WriteFile(path, append(raw, '\n'), 0o600)
}

// writeNumbered writes a file that does not exist yet; if the name is taken, it
// adds a number.
func writeNumbered(dir, name string, data []byte) (string, error) {
	base, ext := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
	for n := 1; n <= 99; n++ {
		path := filepath.Join(dir, name)
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", base, n, ext))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		return path, errors.Join(err, f.Close())
	}
	return "", fmt.Errorf("write %s: 99 files of that name are there already", filepath.Join(dir, name))
}
