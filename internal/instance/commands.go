package instance

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the built-in commands
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/mcp"
	"lathe/internal/order"
	"lathe/internal/shell"
)

const (
	commandTime   = 2 * time.Minute // for each shell command of a template
	commandOutput = 50 << 10        // bytes of its output
	maxTemplate   = 1 << 20         // bytes of an expanded template
	maxCommandRun = 20              // shell commands of one template
)

//go:embed text/init.md
var initText string

//go:embed text/review.md
var reviewText string

// Command is a prompt with a name.
type Command struct {
	Name        string
	Description string
	Template    string
	Agent       string
	Model       string
	Variant     string
	Subtask     *bool
	Source      string     // "built in", "command", "skill" or "mcp"
	File        string     // where it is written; empty for built-in ones
	Repository  bool       // the template is part of the repository
	prompt      *mcp.Texts // of a server, which makes the text; nil: Template does
	Untrusted   bool       // the repository is not trusted, or a command of such a repository stands for this one
}

// Commands are the commands of a directory: built in, configured, and one for each
// skill.
type Commands struct {
	*place
	skills  *Skills
	shell   *Shell
	servers *mcp.Servers
}

// Hints returns the placeholders of the template: $1, $2 …, then $ARGUMENTS.
func (c Command) Hints() []string {
	var out []string
	if c.prompt != nil {
		for n := range c.prompt.Arguments {
			out = append(out, "$"+strconv.Itoa(n+1))
		}
		return out
	}
	for _, m := range placeholders().FindAllString(c.Template, -1) {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		x, errX := strconv.Atoi(a[1:])
		y, errY := strconv.Atoi(b[1:])
		switch {
		case errX != nil:
			return 1
		case errY != nil:
			return -1
		}
		return cmp.Compare(x, y)
	})
	return out
}

// All returns the commands by name.
func (cs *Commands) All() []Command {
	list := cs.written()
	for _, p := range cs.prompts(list) {
		list = append(list, Command{Name: p.Command, Description: describePrompt(p), Source: "mcp", prompt: &p})
	}
	order.Stable(list, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Prompts returns the prompts of servers, with the commands that they are called by.
func (cs *Commands) Prompts() []mcp.Texts { return cs.prompts(cs.written()) }

// prompts returns the prompts of servers, called by other names than written commands.
func (cs *Commands) prompts(written []Command) []mcp.Texts {
	names := make([]string, len(written))
	for j, c := range written {
		names[j] = c.Name
	}
	return cs.servers.Prompts(names...)
}

// written returns the commands that do not come from servers, in no order.
func (cs *Commands) written() []Command {
	list := []Command{
		{Name: "init", Description: "create or update AGENTS.md", Template: initText, Source: "built in"},
		{Name: "review", Description: "review changes: uncommitted, a commit, a branch or a pull request", Template: reviewText, Source: "built in", Subtask: new(true), Agent: "general"},
	}
	add := func(c Command, replace bool) {
		j := slices.IndexFunc(list, func(o Command) bool { return o.Name == c.Name })
		switch {
		case j < 0:
			list = append(list, c)
		case replace:
			list[j] = c
		}
	}
	for _, c := range cs.Config.Commands {
		from, _ := cs.Config.Origin("command", c.Name, "template")
		add(Command{
			Name: c.Name, Description: c.Description, Template: c.Template, Agent: c.Agent, Model: c.Model, Variant: c.Variant,
			Subtask: c.Subtask, Source: "command", File: cmp.Or(from.Pos.File, c.Pos.File),
			Repository: from.Trust == config.Repository, Untrusted: cs.Config.Untrusted("command", c.Name),
		}, true)
	}
	for _, s := range cs.skills.Started() {
		add(Command{
			Name: s.Name, Description: s.Description, Source: "skill", File: s.File, Repository: s.Repository, Untrusted: s.Repository && !cs.Trust.Given,
			Template: "Load the skill " + strconv.Quote(s.Name) + " and do what it says.\n\n$ARGUMENTS",
		}, false)
	}
	return list
}

// describePrompt says what a server's prompt is, and what it is given.
func describePrompt(p mcp.Texts) string {
	text := cmp.Or(p.Description, p.Title, "prompt of "+p.Server)
	if len(p.Arguments) > 0 {
		text += " (" + strings.Join(p.Arguments, ", ") + ")"
	}
	return text
}

// get returns a command by name.
func (cs *Commands) get(name string) (Command, error) {
	list := cs.All()
	names := make([]string, len(list))
	for j, c := range list {
		if c.Name == name {
			return c, nil
		}
		names[j] = c.Name
	}
	return Command{}, lathe.Errorf(lathe.CodeNotFound, "the commands are: "+strings.Join(names, ", "), "there is no command %q", name)
}

// InSubagent reports whether the command runs in a subagent.
func (c Command) InSubagent(a Agent) bool {
	if c.Subtask != nil {
		return *c.Subtask
	}
	return a.Mode == ModeSubagent
}

// given are the arguments of a command. They are tainted once a command of an
// untrusted repository has passed on something other than its own arguments.
type given struct {
	text    string
	tainted bool
}

// Expand follows a command to the one that is finally meant, and returns it with
// the text of its prompt. A template that begins with "/name" stands for that
// command, with what follows as its arguments.
func (cs *Commands) Expand(ctx context.Context, name, arguments string) (Command, string, error) {
	return cs.expand(ctx, name, given{text: arguments}, nil)
}

// expand returns the command that is finally meant, and its text. Chain holds
// the names that led here.
func (cs *Commands) expand(ctx context.Context, name string, args given, chain []string) (Command, string, error) {
	if slices.Contains(chain, name) {
		return Command{}, "", lathe.Errorf(lathe.CodeInvalid, "change the template of one of them",
			"the commands stand for each other in a circle: %s", strings.Join(append(chain, name), " → "))
	}
	c, err := cs.get(name)
	if err != nil {
		return c, "", err
	}
	if c.prompt != nil { // foreign text: nothing in it is a placeholder, a command or a shell line
		text, err := cs.servers.Prompt(ctx, *c.prompt, splitArguments(args.text))
		if err != nil {
			return c, "", fmt.Errorf("command %q: %w", name, err)
		}
		return c, shortened(text), nil
	}
	text, err := cs.expandTemplate(ctx, c, args)
	if err != nil {
		return c, "", fmt.Errorf("command %q: %w", name, err)
	}
	next, rest, ok := cs.standsFor(c, text)
	if !ok {
		return c, text, nil
	}
	pass := given{text: rest, tainted: args.tainted || c.Untrusted && rest != strings.TrimSpace(args.text)}
	inner, text, err := cs.expand(ctx, next, pass, append(chain, name))
	if err != nil {
		return c, "", err
	}
	set(&inner.Agent, c.Agent)
	set(&inner.Model, c.Model)
	set(&inner.Variant, c.Variant)
	if c.Subtask != nil {
		inner.Subtask = c.Subtask
	}
	inner.Repository, inner.Untrusted = inner.Repository || c.Repository, inner.Untrusted || c.Untrusted
	return inner, text, nil
}

func shortened(text string) string {
	if len(text) > maxTemplate {
		return strings.ToValidUTF8(text[:maxTemplate], "") + "\n(the rest was left out)"
	}
	return text
}

// standsFor reports which command a template stands for, if it begins with "/" and
// the name of one.
func (cs *Commands) standsFor(c Command, text string) (name, arguments string, ok bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(c.Template), " ")
	word, _, _ = strings.Cut(word, "\n")
	name, ok = strings.CutPrefix(word, "/")
	if !ok || name == "" {
		return "", "", false
	}
	if _, err := cs.get(name); err != nil {
		return "", "", false
	}
	return name, strings.TrimSpace(strings.TrimPrefix(text, word)), true
}

var (
	placeholders = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:[1-9][0-9]?|ARGUMENTS)`) })
	shellParts   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("!`([^`]+)`") })
	argumentList = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\[Image \d+\]|"[^"]*"|'[^']*'|[^\s"']+`)
	})
)

// splitArguments splits what follows a command into words; quotes hold some
// together.
func splitArguments(s string) []string {
	var out []string
	for _, w := range argumentList().FindAllString(s, -1) {
		if len(w) > 1 && (w[0] == '"' || w[0] == '\'') && w[len(w)-1] == w[0] {
			w = w[1 : len(w)-1]
		}
		out = append(out, w)
	}
	return out
}

// positional returns the arguments as the template numbers them: the highest
// number takes all that remain.
func positional(template, arguments string) []string {
	words := splitArguments(arguments)
	highest := 0
	for _, m := range placeholders().FindAllString(template, -1) {
		if n, err := strconv.Atoi(m[1:]); err == nil {
			highest = max(highest, n)
		}
	}
	out := make([]string, highest)
	for j := range out {
		switch {
		case j >= len(words):
		case j == highest-1:
			out[j] = strings.Join(words[j:], " ")
		default:
			out[j] = words[j]
		}
	}
	return out
}

// expandTemplate fills in a template: arguments, and the output of the shell
// commands in it. Arguments are never read as shell code: a command gets them as
// $1, $2 … and $ARGUMENTS of the shell.
func (cs *Commands) expandTemplate(ctx context.Context, c Command, from given) (string, error) {
	arguments := from.text
	args := positional(c.Template, arguments)
	fill := func(text string) string {
		return placeholders().ReplaceAllStringFunc(text, func(m string) string {
			if n, err := strconv.Atoi(m[1:]); err == nil {
				return args[n-1]
			}
			return arguments
		})
	}
	spans := shellParts().FindAllStringSubmatchIndex(c.Template, -1)
	if len(spans) > 0 {
		if err := cs.mayRun(c, from, len(spans)); err != nil {
			return "", err
		}
	}
	outputs, err := cs.runTemplate(ctx, c, spans, args, arguments)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	last := 0
	for j, m := range spans {
		b.WriteString(fill(c.Template[last:m[0]]))
		b.WriteString(outputs[j])
		last = m[1]
	}
	b.WriteString(fill(c.Template[last:]))
	if !placeholders().MatchString(c.Template) && strings.TrimSpace(arguments) != "" {
		b.WriteString("\n\n" + arguments)
	}
	text := strings.TrimSpace(b.String())
	if len(text) > maxTemplate {
		return "", lathe.Errorf(lathe.CodeInvalid, "shorten the template or its arguments", "the prompt has %d bytes; at most %d are sent", len(text), maxTemplate)
	}
	return text, nil
}

// mayRun says why the shell commands of a template may not run; nil: they may.
func (cs *Commands) mayRun(c Command, from given, commands int) error {
	switch {
	case c.Untrusted:
		return lathe.Errorf(lathe.CodePermission, "read it, then trust the repository with: lathe trust", "its template runs shell commands, and this repository is not trusted")
	case from.tainted:
		return lathe.Errorf(lathe.CodePermission, "type the command yourself, or trust the repository with: lathe trust",
			"its template runs shell commands, and a command of this repository, which is not trusted, wrote its arguments: %.200q", from.text)
	case commands > maxCommandRun:
		return lathe.Errorf(lathe.CodeInvalid, "run them as a script", "its template runs %d shell commands; at most %d are", commands, maxCommandRun)
	}
	return nil
}

// runTemplate runs the shell commands of a template in parallel.
func (cs *Commands) runTemplate(ctx context.Context, c Command, spans [][]int, args []string, arguments string) ([]string, error) {
	outputs := make([]string, len(spans))
	var wg sync.WaitGroup
	for j, m := range spans {
		script := shellArguments(cs.shell.Path, args) + c.Template[m[2]:m[3]]
		wg.Go(func() { outputs[j] = cs.capture(ctx, c, script, arguments) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return outputs, nil
}

// shellArguments returns the line that gives a script its arguments.
func shellArguments(sh string, args []string) string {
	line := "set --"
	for _, a := range args {
		line += " '" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	if filepath.Base(sh) == "zsh" {
		line = "setopt shwordsplit; " + line
	}
	return line + "\n"
}

// own reports whether the person wrote the template: its lines are the person's own
// commands, those of others are confined.
func (c *Command) own() bool { return c.Source == "command" && !c.Repository && !c.Untrusted }

// capture runs a script of a command and returns its output, with a note if it failed.
func (cs *Commands) capture(ctx context.Context, c Command, script, arguments string) string {
	env, kind := cs.shell.Env, shell.KindCommand
	if c.own() {
		env, kind = cs.shell.Own, shell.KindTerminal
	}
	spool := shell.NewSpool(shell.SpoolOptions{Head: commandOutput})
	defer spool.Close()
	exit, err := cs.shell.Runner.Run(ctx, shell.Command{
		Script: script, Dir: cs.Root.Dir, Env: shell.Env(env, map[string]string{"ARGUMENTS": arguments}),
		Shell: cs.shell.Path, Timeout: commandTime, Kind: kind, Output: func(chunk []byte) { _, _ = spool.Write(chunk) },
	})
	out := strings.TrimRight(strings.ToValidUTF8(string(bytes.TrimRight(spool.Head(), "\n")), "\uFFFD"), " \t")
	note := func(format string, a ...any) {
		if out != "" {
			out += "\n"
		}
		out += fmt.Sprintf(format, a...)
	}
	switch {
	case err != nil:
		note("(the command could not be run: %v)", err)
	case exit.TimedOut:
		note("(the command was stopped after %s)", commandTime)
	case exit.Code != 0:
		note("(exit code %d)", exit.Code)
	}
	if spool.Total() > commandOutput {
		note("(%d more bytes of output were left out)", spool.Total()-commandOutput)
	}
	return out
}
