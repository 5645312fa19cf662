package instance

import (
	"log/slog"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// place is where an instance is, and what may be used from there.
type place struct {
	Root    workspace.Root
	Paths   config.Paths
	Config  *config.Config
	Trust   Trust
	log     *slog.Logger
	reading func() tool.Reading // what the default agent may read
}

func (p *place) Places(name string) []string {
	name = filepath.FromSlash(name)
	switch rest, home := strings.CutPrefix(name, "~"+string(filepath.Separator)); {
	case name == "":
		return nil
	case home:
		return []string{filepath.Join(p.Paths.Home, rest)}
	case filepath.IsAbs(name):
		return []string{filepath.Clean(name)}
	}
	places := []string{filepath.Join(p.Root.Dir, name)}
	if p.Root.VCS != "" && p.Root.TopLevel != p.Root.Dir {
		places = append(places, filepath.Join(p.Root.TopLevel, name))
	}
	return places
}

// Inside reports whether a path is within the workspace.
func (p *place) Inside(path string) bool {
	real, err := workspace.Resolve(path)
	return err == nil && p.Root.Contains(real)
}

// ownFile reports whether a file of the repository may be shown to the model as an instruction.
// In an untrusted repository a link must not lead outside, nor to anything that a rule for some
// files protects from being read without an ask: that could be a secret.
func (p *place) ownFile(path string) bool {
	if p.Trust.Given {
		return true
	}
	real, err := p.Root.Resolve(path)
	if err != nil || !p.Root.Contains(real) {
		return false
	}
	v := p.reading().Content(real)
	return v.Action == lathe.Allow || v.Rule.Pattern == "*"
}

// upward returns the directories from the instance's to the checkout's top.
func (p *place) upward() []string {
	dirs := []string{p.Root.Dir}
	if p.Root.VCS == "" {
		return dirs
	}
	for dir := p.Root.Dir; dir != p.Root.TopLevel; {
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
		dirs = append(dirs, dir)
	}
	return dirs
}
