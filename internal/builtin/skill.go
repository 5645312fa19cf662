package builtin

import (
	"context"
	_ "embed" // the description
	"fmt"
	"html"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/permission"
	"lathe/internal/tool"
)

const maxSkillFiles = 10

//go:embed skill.md
var skillText string

// Skill is a set of instructions that is loaded when it is needed.
type Skill struct {
	Name        string
	Description string
	Dir         string // directory that holds its files; may be empty
	Body        string // the instructions
}

type skillInput struct {
	Name string `json:"name"`
}

func (e sessionTools) skillTool() tool.Tool {
	s := spec("skill", skillText, `{"type":"object","properties":{`+
		`"name":{"type":"string","description":"Name of the skill"}},"required":["name"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, e.skill)
}

func (e sessionTools) skill(ctx context.Context, call *tool.Call, in skillInput) (tool.Result, error) {
	skills, err := e.Skills(ctx)
	if err != nil {
		return tool.Result{}, failf("The skills could not be read: %v", err)
	}
	i := slices.IndexFunc(skills, func(s Skill) bool { return s.Name == in.Name })
	if i < 0 {
		var names []string
		for _, s := range skills {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		list := strings.Join(names, ", ")
		if list == "" {
			list = "none"
		}
		return tool.Result{}, failf("Skill %q not found. Available skills: %s", in.Name, list)
	}
	s := skills[i]
	if err := ask(ctx, call, tool.Request{Permission: "skill", Patterns: []string{s.Name}, Always: []string{permission.Literal(s.Name)}}); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{
		Title: "Loaded skill: " + s.Name, Output: s.text(),
		Metadata: map[string]any{"name": s.Name, "dir": s.Dir},
	}, nil
}

func (s Skill) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<skill_content name=%q>\n# Skill: %s\n\n%s\n", html.EscapeString(s.Name), s.Name, strings.TrimSpace(s.Body))
	if s.Dir != "" {
		fmt.Fprintf(&b, "\nBase directory of this skill: %s\nRelative paths in it start there. Not all of its files may be listed.\n", s.Dir)
		b.WriteString("\n<skill_files>\n")
		for _, file := range skillFiles(s.Dir) {
			fmt.Fprintf(&b, "<file>%s</file>\n", html.EscapeString(file))
		}
		b.WriteString("</skill_files>\n")
	}
	b.WriteString("</skill_content>")
	return b.String()
}

// skillFiles returns up to ten files of a skill besides its instructions.
func skillFiles(dir string) []string {
	var out []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(out) == maxSkillFiles {
			return fs.SkipAll
		}
		if d.Type().IsRegular() && d.Name() != "SKILL.md" {
			out = append(out, path)
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		return nil
	})
	return out
}
