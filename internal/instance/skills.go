package instance

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/config"
	"lathe/internal/jsonc"
	"lathe/internal/order"
	"lathe/internal/permission"
	"lathe/internal/printable"
	"lathe/internal/workspace"
)

const (
	maxSkill      = 256 << 10 // bytes of one SKILL.md
	maxSkills     = 200
	maxSkillDepth = 5
	maxSkillTree  = 20_000 // entries that are looked at below one place
	maxSkillName  = 100    // bytes
	maxSkillAbout = 1024   // characters of a description that are advertised
)

// ErrShadowed means that another skill of the same name is used instead.
var ErrShadowed = errors.New("the latter counts")

// Skill is a set of instructions for one kind of task, loaded when it is needed.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	File        string `json:"file"` // its SKILL.md
	Repository  bool   `json:"-"`    // part of the repository, which may not be trusted
}

// Dir returns the directory that holds the skill's files.
func (s Skill) Dir() string { return filepath.Dir(s.File) }

// Skills finds the skills of a directory. Those that existed when the instance was
// made are advertised; the skill tool loads them as they are now.
type Skills struct {
	*place
	started  []Skill
	problems []error
}

func newSkills(p *place) *Skills {
	k := &Skills{place: p}
	k.started, k.problems = k.All()
	for _, err := range k.problems {
		p.log.Warn("a skill has a problem", "err", err)
	}
	return k
}

// Started returns the skills as they were when the instance was made, and Problems
// what was wrong with the others.
func (k *Skills) Started() []Skill  { return k.started }
func (k *Skills) Problems() []error { return k.problems }

// skillRoot is a directory below which skills are looked for.
type skillRoot struct {
	dir        string
	repository bool
}

// roots lists the places of skills, the most specific last. A skill is text for
// the model, like AGENTS.md, so skills of an untrusted repository count too.
func (k *Skills) roots() []skillRoot {
	var roots []skillRoot
	flags := k.Config.Flags
	external := func(dir string, repository bool) {
		if !flags.DisableClaudeCode && !flags.DisableClaudeCodeSkills && !flags.DisableExternalSkills {
			roots = append(roots, skillRoot{filepath.Join(dir, ".claude", "skills"), repository})
		}
		if !flags.DisableExternalSkills {
			roots = append(roots, skillRoot{filepath.Join(dir, ".agents", "skills"), repository})
		}
	}
	if k.Paths.Home != "" {
		external(k.Paths.Home, false)
	}
	if !flags.DisableProjectConfig {
		for _, dir := range slices.Backward(k.upward()) {
			external(dir, true)
		}
	}
	for _, d := range k.Config.Directories {
		for _, name := range []string{"skill", "skills"} {
			roots = append(roots, skillRoot{filepath.Join(d.Path, name), d.Trust == config.Repository})
		}
	}
	for _, path := range k.Config.Skills.Paths {
		if places := k.Places(path); len(places) > 0 {
			roots = append(roots, skillRoot{places[0], k.Config.Untrusted("skills") || k.Inside(places[0])})
		}
	}
	return roots
}

// All returns the skills there are, by name, and what is wrong with others.
func (k *Skills) All() ([]Skill, []error) {
	var found []Skill
	var problems []error
	for _, root := range k.roots() {
		files, err := k.find(root)
		if err != nil {
			problems = append(problems, err)
		}
		for _, file := range files {
			s, _, err := k.read(file, root.repository)
			if err != nil {
				problems = append(problems, fmt.Errorf("skill %s was left out: %w", file, err))
				continue
			}
			j := slices.IndexFunc(found, func(o Skill) bool { return o.Name == s.Name })
			switch {
			case j < 0 && len(found) < maxSkills:
				found = append(found, s)
			case j >= 0 && !sameFile(found[j].File, s.File):
				problems = append(problems, fmt.Errorf("skill %q is in %s and in %s: %w", s.Name, found[j].File, s.File, ErrShadowed))
				found[j] = s
			}
		}
	}
	order.Stable(found, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return found, problems
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// find returns the SKILL.md files below a place, by path. Links to directories
// are followed, but those of the repository only if they stay within it.
func (k *Skills) find(root skillRoot) ([]string, error) {
	if root.repository && !k.Inside(root.dir) {
		if _, err := os.Stat(root.dir); err != nil {
			return nil, nil
		}
		return nil, fmt.Errorf("skills in %s were left out: it leads out of the repository", root.dir)
	}
	tree := workspace.Tree{
		Depth: maxSkillDepth, Entries: maxSkillTree,
		Pass: func(name string) bool { return name == "node_modules" || name == ".git" },
	}
	if root.repository {
		tree.Enter = k.Root.Contains
	}
	files, all := tree.Find(root.dir, func(name string) bool { return name == "SKILL.md" })
	if !all {
		return files[:min(len(files), maxSkills)], fmt.Errorf("not all skills in %s were looked for: it has more than %d entries", root.dir, maxSkillTree)
	}
	return files[:min(len(files), maxSkills)], nil
}

// read reads a SKILL.md. A repository's must be inside it: a link would make
// other files readable.
func (k *Skills) read(file string, repository bool) (Skill, string, error) {
	if repository && !k.Inside(file) {
		return Skill{}, "", errors.New("it leads out of the repository")
	}
	data, err := workspace.ReadFile(file, maxSkill)
	if err != nil {
		return Skill{}, "", err
	}
	head, body, err := config.FrontMatter(file, data)
	if err != nil {
		return Skill{}, "", err
	}
	s := Skill{Name: stringOf(head, "name"), Description: stringOf(head, "description"), File: file, Repository: repository}
	switch {
	case s.Name == "":
		return s, "", errors.New("its front matter has no name")
	case len(s.Name) > maxSkillName || strings.ContainsAny(s.Name, "\r\n\t"):
		return s, "", fmt.Errorf("its name is not one line of at most %d bytes", maxSkillName)
	}
	return s, strings.ToValidUTF8(body, "\uFFFD"), nil
}

func stringOf(head *jsonc.Value, key string) string {
	v := head.Get(key)
	if v == nil || v.Kind != jsonc.String {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(v.Text, "\uFFFD"))
}

// load reads the skills for the skill tool, as they are now.
func (k *Skills) load(context.Context) ([]builtin.Skill, error) {
	list, _ := k.All()
	out := make([]builtin.Skill, 0, len(list))
	for _, s := range list {
		_, body, err := k.read(s.File, s.Repository)
		if err != nil {
			continue // it has just been removed
		}
		out = append(out, builtin.Skill{Name: s.Name, Description: s.Description, Dir: s.Dir(), Body: body})
	}
	return out, nil
}

// skillDirs returns the directories that skills may be read from without an ask.
func skillDirs(list []Skill) []string {
	dirs := make([]string, 0, len(list))
	for _, s := range list {
		dirs = append(dirs, s.Dir())
		if real, err := workspace.Resolve(s.Dir()); err == nil && real != s.Dir() {
			dirs = append(dirs, real)
		}
	}
	return dirs
}

// SkillsBlock advertises the skills that the rules permit; empty if there are
// none. A skill without a description is only loaded by name.
func SkillsBlock(list []Skill, rules []lathe.Rule) string {
	if permission.Hidden("skill", rules) {
		return ""
	}
	var b strings.Builder
	for _, s := range list {
		if s.Description == "" || permission.Evaluate("skill", s.Name, rules).Action == lathe.Deny {
			continue
		}
		fmt.Fprintf(&b, "  <skill>\n    <name>%s</name>\n    <description>%s</description>\n    <location>%s</location>\n  </skill>\n",
			html.EscapeString(s.Name), html.EscapeString(printable.Shorten(strings.Join(strings.Fields(s.Description), " "), maxSkillAbout)), html.EscapeString(s.File))
	}
	if b.Len() == 0 {
		return ""
	}
	return "Skills are instructions for particular kinds of task. When a task fits the description of one, load it with the skill tool before you begin.\n" +
		"<available_skills>\n" + b.String() + "</available_skills>"
}
