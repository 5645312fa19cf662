package wire

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe"
)

type project struct {
	ID        string           `json:"id"`
	Worktree  string           `json:"worktree"`
	VCS       string           `json:"vcs,omitempty"`
	Name      string           `json:"name,omitempty"`
	Icon      *projectIcon     `json:"icon,omitempty"`
	Commands  *projectCommands `json:"commands,omitempty"`
	Sandboxes []string         `json:"sandboxes"`
	Time      projectTime      `json:"time"`
}

type projectIcon struct {
	URL      string `json:"url,omitempty"`
	Override string `json:"override,omitempty"`
	Color    string `json:"color,omitempty"`
}

type projectCommands struct {
	Start string `json:"start,omitempty"`
}

type projectTime struct {
	Created number `json:"created"`
	Updated number `json:"updated"`
}

// EncodeProject returns a project.
func EncodeProject(p lathe.Project) any {
	out := project{
		ID: p.ID, Worktree: p.Worktree, VCS: p.VCS, Name: p.Name, Sandboxes: list(p.Sandboxes),
		Time: projectTime{ms(p.Created), ms(p.Updated)},
	}
	if p.Icon != (lathe.Icon{}) {
		out.Icon = &projectIcon{p.Icon.URL, p.Icon.Override, p.Icon.Color}
	}
	if p.Start != "" {
		out.Commands = &projectCommands{p.Start}
	}
	return out
}

// EncodeProjects returns a list of projects.
func EncodeProjects(all []lathe.Project) any {
	out := make([]any, 0, len(all))
	for _, p := range all {
		out = append(out, EncodeProject(p))
	}
	return out
}

// ProjectRequest is a change of a project. What is absent stays; what is empty is
// taken away.
type ProjectRequest struct {
	Name *string `json:"name"`
	Icon struct {
		URL      *string `json:"url"`
		Override *string `json:"override"`
		Color    *string `json:"color"`
	} `json:"icon"`
	Commands struct {
		Start *string `json:"start"`
	} `json:"commands"`
}

// Limits of what is kept of a project, in bytes. An icon goes out with every
// list of projects.
const (
	maxProjectName  = 256
	maxProjectIcon  = 256 << 10
	maxProjectColor = 64
	maxProjectStart = 16 << 10
)

// Apply changes a project. A field that cannot be kept is named in the error, and
// nothing is changed.
func (r ProjectRequest) Apply(p *lathe.Project) (field string, err error) {
	next := *p
	for _, f := range []struct {
		name string
		from *string
		to   *string
		bad  func(string) error
	}{
		{"name", r.Name, &next.Name, line(maxProjectName)},
		{"icon.url", r.Icon.URL, &next.Icon.URL, iconAddress},
		{"icon.override", r.Icon.Override, &next.Icon.Override, iconAddress},
		{"icon.color", r.Icon.Color, &next.Icon.Color, line(maxProjectColor)},
		{"commands.start", r.Commands.Start, &next.Start, script},
	} {
		if f.from == nil {
			continue
		}
		v := strings.TrimSpace(*f.from)
		if err := f.bad(v); err != nil {
			return f.name, err
		}
		*f.to = v
	}
	*p = next
	return "", nil
}

// line returns a check for text of one line.
func line(most int) func(string) error {
	return func(s string) error {
		switch {
		case len(s) > most:
			return fmt.Errorf("longer than %d bytes", most)
		case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
			return errors.New("expected one line of text")
		}
		return nil
	}
}

// iconAddress lets through what a client can show as a picture and cannot run.
func iconAddress(s string) error {
	low := strings.ToLower(s[:min(len(s), 16)])
	switch {
	case s == "":
		return nil
	case len(s) > maxProjectIcon:
		return fmt.Errorf("larger than %d bytes; choose a smaller picture", maxProjectIcon)
	case !strings.HasPrefix(low, "data:image/") && !strings.HasPrefix(low, "https://") && !strings.HasPrefix(low, "http://"):
		return errors.New("expected an address that begins with data:image/, https:// or http://")
	}
	return line(maxProjectIcon)(s)
}

func script(s string) error {
	switch {
	case len(s) > maxProjectStart:
		return fmt.Errorf("longer than %d bytes", maxProjectStart)
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return errors.New("expected a command")
	}
	return nil
}

type (
	worktreeReady struct {
		Name   string `json:"name"`
		Branch string `json:"branch"`
	}
	worktreeFailed struct {
		Message string `json:"message"`
	}
	worktree struct {
		Name      string `json:"name"`
		Branch    string `json:"branch"`
		Directory string `json:"directory"`
	}
)

// WorktreeRequest asks for a linked worktree.
type WorktreeRequest struct {
	Name         string `json:"name"`
	StartCommand string `json:"startCommand"`
}

// Check returns what is wrong with the start command, and with which field; the
// name is for git to judge.
func (r WorktreeRequest) Check() (field string, err error) {
	return "startCommand", script(r.StartCommand)
}

// WorktreeTarget names a linked worktree.
type WorktreeTarget struct {
	Directory string `json:"directory"`
}

// EncodeWorktree returns a linked worktree.
func EncodeWorktree(name, branch, dir string) any { return worktree{name, branch, dir} }
