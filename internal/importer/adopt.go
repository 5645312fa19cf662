package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/jsonc"
	"lathe/internal/workspace"
)

// Bounds of what is taken over.
const (
	mostFiles    = 1000
	mostEntries  = 20_000
	deepest      = 8
	maxDefined   = 1 << 20 // bytes of a command or an agent
	instructions = "AGENTS.md"
)

// kind is a sort of file that a program keeps for its person.
type kind struct {
	name string // as it is told
	from string // folder below the program's directory; for instructions, the file
	to   string // folder of lathe's configuration
	deep int    // levels of folders
	// rewrite returns the file as lathe reads it, and what does not come along.
	rewrite func(head *jsonc.Value, body string) (text string, notes []string, err error)
}

// kinds are what a program has that lathe has in another form.
func kinds(program string) []kind {
	if program == api.Codex {
		return []kind{{"command", "prompts", "command", 0, codexPrompt}}
	}
	return []kind{{"command", "commands", "command", deepest, claudeCommand}, {"agent", "agents", "agent", deepest, claudeAgent}}
}

// files lists the files of a kind, by path.
func (k kind) files(dir string) []string {
	tree := workspace.Tree{Depth: k.deep, Entries: mostEntries}
	list, _ := tree.Find(filepath.Join(dir, k.from), func(name string) bool { return strings.HasSuffix(name, ".md") })
	return list[:min(len(list), mostFiles)]
}

// Adopt copies the commands and agents that a person made for a program, and for Codex its
// instructions, into lathe's configuration. What is there already stays as it is. The
// program keeps its own, and its logins are never read.
func (m Machine) Adopt(ctx context.Context, in api.Import, tell func(api.ImportNews) error) error {
	dir := m.claudeDir()
	switch in.Program {
	case api.ClaudeCode:
	case api.Codex:
		dir = m.codexDir()
	default:
		return lathe.Errorf(lathe.CodeInvalid, "", "%q is not a program whose files can be taken over", in.Program)
	}
	sum := api.ImportSum{Outcomes: map[string]int{}}
	one := func(f api.ImportedFile) error {
		sum.Outcomes[f.Outcome]++
		return tell(api.ImportNews{File: &f})
	}
	for _, k := range kinds(in.Program) {
		for _, path := range k.files(dir) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := one(m.adopt(k, dir, path, in.DryRun)); err != nil {
				return err
			}
		}
	}
	if in.Program == api.Codex && isThere(filepath.Join(dir, instructions)) {
		if err := one(m.adoptInstructions(filepath.Join(dir, instructions), in.DryRun)); err != nil {
			return err
		}
	}
	return tell(api.ImportNews{Sum: &sum})
}

// adopt takes over one file.
func (m Machine) adopt(k kind, dir, path string, dry bool) api.ImportedFile {
	name, _ := filepath.Rel(filepath.Join(dir, k.from), path)
	name = strings.TrimSuffix(filepath.ToSlash(name), ".md")
	out := api.ImportedFile{Kind: k.name, Name: name, From: path, Outcome: api.ImportFailed}
	raw, err := workspace.ReadFile(path, maxDefined)
	if err != nil {
		return failed(out, err)
	}
	head, body, err := config.FrontMatter(path, raw)
	if err != nil {
		return failed(out, errors.New("what stands between --- and --- is not YAML"))
	}
	if k.name == "agent" {
		out.Name = textOf(head, "name", name)
		if slices.Contains(config.BuiltinAgents(), out.Name) {
			return failed(out, errors.New("lathe has an agent of this name"))
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(out.Name)) || strings.ContainsAny(out.Name, "\\:\x00\n") {
		return failed(out, errors.New("its name cannot be that of a file"))
	}
	text, notes, err := k.rewrite(head, body)
	if err != nil {
		return failed(out, err)
	}
	out.Notes = notes
	out.To = filepath.Join(m.Paths.Config, k.to, filepath.FromSlash(out.Name)+".md")
	for _, there := range []string{m.Paths.Config, m.Paths.OpenCodeConfig} {
		for _, folder := range []string{k.to, k.to + "s"} {
			if p := filepath.Join(there, folder, filepath.FromSlash(out.Name)+".md"); p != out.To && isFile(p) {
				out.Outcome, out.To = api.ImportKept, p
				return out
			}
		}
	}
	return put(out, []byte(text), dry)
}

// adoptInstructions takes over what Codex is told everywhere, if lathe is told nothing yet.
func (m Machine) adoptInstructions(path string, dry bool) api.ImportedFile {
	out := api.ImportedFile{Kind: "instructions", Name: instructions, From: path, To: filepath.Join(m.Paths.Config, instructions), Outcome: api.ImportFailed}
	raw, err := workspace.ReadFile(path, maxDefined)
	if err != nil {
		return failed(out, err)
	}
	for _, p := range []string{filepath.Join(m.Paths.OpenCodeConfig, instructions), filepath.Join(m.Paths.Home, ".claude", "CLAUDE.md")} {
		if isFile(p) { // lathe reads the first of these that there is
			out.Outcome, out.To = api.ImportKept, p
			return out
		}
	}
	return put(out, raw, dry)
}

// put writes a file unless there is one.
func put(out api.ImportedFile, text []byte, dry bool) api.ImportedFile {
	there, err := os.ReadFile(out.To)
	switch {
	case err == nil && bytes.Equal(there, text):
		out.Outcome = api.ImportSame
		return out
	case err == nil:
		out.Outcome = api.ImportKept
		return out
	case !errors.Is(err, fs.ErrNotExist):
		return failed(out, err)
	case dry:
		out.Outcome = api.ImportRead
		return out
	}
	if err := config.Ensure(filepath.Dir(out.To)); err != nil {
		return failed(out, err)
	}
	if err := workspace.WriteFile(out.To, text, 0o600); err != nil {
		return failed(out, err)
	}
	out.Outcome = api.ImportAdded
	return out
}

func failed(out api.ImportedFile, err error) api.ImportedFile {
	out.Outcome, out.To, out.Notes = api.ImportFailed, "", []string{err.Error()}
	return out
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// textOf returns a text of a front matter.
func textOf(head *jsonc.Value, key, without string) string {
	if v := head.Get(key); v != nil && v.Kind == jsonc.String && strings.TrimSpace(v.Text) != "" {
		return strings.TrimSpace(v.Text)
	}
	return without
}

// without notes which keys of a front matter do not come along.
func without(head *jsonc.Value, known ...string) (notes []string) {
	var left []string
	for _, m := range head.Members {
		if !slices.Contains(known, m.Key) {
			left = append(left, m.Key)
		}
	}
	if left != nil {
		notes = append(notes, "without: "+strings.Join(left, ", "))
	}
	return notes
}

// command writes a command as lathe reads it.
func command(head *jsonc.Value, body string) string {
	description := textOf(head, "description", "")
	if hint := textOf(head, "argument-hint", ""); hint != "" {
		description = strings.TrimSpace(description + " " + hint)
	}
	out := jsonc.NewObject()
	if description != "" {
		out.Set("description", jsonc.NewString(description))
	}
	return document(out, body)
}

// document writes a front matter and what follows it. JSON is YAML, a line for each key.
func document(head *jsonc.Value, body string) string {
	var out strings.Builder
	if len(head.Members) > 0 {
		out.WriteString("---\n")
		for _, m := range head.Members {
			fmt.Fprintf(&out, "%s: %s\n", m.Key, m.Value.Append(nil))
		}
		out.WriteString("---\n")
	}
	return out.String() + body + "\n"
}

// claudeCommand rewrites a command of Claude Code. Its text has the same places for
// arguments, commands and files.
func claudeCommand(head *jsonc.Value, body string) (string, []string, error) {
	return command(head, body), without(head, "description", "argument-hint"), nil
}

// namedPlace is a place for an argument that Codex fills in by its name.
var namedPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$[A-Z][A-Z0-9_]*\b`) })

// codexPrompt rewrites a prompt of Codex. One with text that would run a command in lathe, and
// is only text for Codex, is refused.
func codexPrompt(head *jsonc.Value, body string) (string, []string, error) {
	if strings.Contains(body, "!`") {
		return "", nil, errors.New("it has !`…`, which would run a command here")
	}
	notes := without(head, "description", "argument-hint")
	for _, place := range namedPlace().FindAllString(body, -1) {
		if place != "$ARGUMENTS" {
			notes = append(notes, place+" is not filled in: arguments have no names here")
			break
		}
	}
	return command(head, body), notes, nil
}

// claudeTools are what stands in the list of an agent of Claude Code for what lathe's
// permissions call otherwise.
var claudeTools = []struct {
	permission string
	tools      []string
}{
	{"edit", []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}}, {"bash", []string{"Bash"}}, {"webfetch", []string{"WebFetch"}},
	{"websearch", []string{"WebSearch"}}, {"codesearch", []string{"WebSearch"}}, {"task", []string{"Task", "Agent"}},
	{"skill", []string{"Skill"}}, {"question", []string{"AskUserQuestion"}},
	{"read", []string{"Read", "NotebookRead"}}, {"grep", []string{"Grep"}}, {"glob", []string{"Glob"}}, {"list", []string{"Glob", "LS"}},
}

// claudeAgent rewrites a subagent of Claude Code. What its list of tools leaves out is denied;
// what it names goes by the person's rules.
func claudeAgent(head *jsonc.Value, body string) (string, []string, error) {
	out := jsonc.NewObject()
	out.Set("description", jsonc.NewString(textOf(head, "description", "An agent made for Claude Code")))
	out.Set("mode", jsonc.NewString("subagent"))
	listed, all := toolNames(head.Get("tools"))
	barred, _ := toolNames(head.Get("disallowedTools"))
	denied := jsonc.NewObject()
	for _, t := range claudeTools {
		has := func(list []string) bool {
			return slices.ContainsFunc(t.tools, func(name string) bool { return slices.Contains(list, name) })
		}
		if !all && !has(listed) || has(barred) {
			denied.Set(t.permission, jsonc.NewString("deny"))
		}
	}
	if len(denied.Members) > 0 {
		out.Set("permission", denied)
	}
	if strings.TrimSpace(body) == "" {
		return "", nil, errors.New("it has no text")
	}
	notes := without(head, "name", "description", "tools", "disallowedTools", "color")
	if v := head.Get("tools"); v != nil && strings.Contains(string(v.Append(nil)), "(") {
		notes = append(notes, "a tool is not limited to what its list says in parentheses")
	}
	return document(out, body), notes, nil
}

// toolNames reads a list of tools, which may be one text with commas. All is true where there
// is none. What is said of a tool in parentheses is left out.
func toolNames(v *jsonc.Value) (names []string, all bool) {
	if v == nil || v.Kind == jsonc.Null {
		return nil, true
	}
	var texts []string
	for _, item := range v.Items {
		texts = append(texts, item.Text)
	}
	if v.Kind == jsonc.String {
		texts = strings.Split(v.Text, ",")
	}
	for _, t := range texts {
		name, _, _ := strings.Cut(t, "(")
		if name = strings.TrimSpace(name); name == "*" {
			return nil, true
		} else if name != "" {
			names = append(names, name)
		}
	}
	return names, false
}
