package manage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
	"lathe/internal/workspace"
)

// NewAgents is lathe agents.
func NewAgents(env *console.Env) *cobra.Command {
	var format console.ListFormat
	list := func(cmd *cobra.Command, _ []string) error {
		return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
			agents, err := f.RuledAgents(cmd.Context())
			if err != nil {
				return err
			}
			if format.JSON {
				return console.PrintList(env, slices.DeleteFunc(agents, func(a api.RuledAgent) bool { return a.Hidden }))
			}
			printAgents(env, agents)
			return nil
		})
	}
	cmd := &cobra.Command{
		Use: "agents", Aliases: []string{"agent"}, Short: "List agents, or create one", Args: console.NoArgs, RunE: list,
		Long: "Agents lists the agents that can be used here: their mode, model, what they are\nfor, and their rules beyond the defaults.",
	}
	sub := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List agents", Args: console.NoArgs, RunE: list}
	format.Flag(cmd.Flags())
	format.Flag(sub.Flags())
	cmd.AddCommand(sub, newAgentCreate(env))
	return cmd
}

func printAgents(env *console.Env, agents []api.RuledAgent) {
	st := console.NewStyle(env.StdoutTTY, env.Getenv)
	for _, a := range agents {
		if a.Hidden {
			continue
		}
		model := ""
		if a.Model != "" {
			model = "  " + console.Clean(a.Model)
		}
		fmt.Fprintf(env.Stdout, "%s (%s)%s\n", st.Bold(console.Clean(a.Name)), a.Mode, model)
		if a.Description != "" {
			fmt.Fprintf(env.Stdout, "  %s\n", console.OneLine(a.Description, 200))
		}
		if rules := ruleSummary(a.Rules); rules != "" {
			fmt.Fprintf(env.Stdout, "  %s\n", st.Dim(console.OneLine(rules, 200)))
		}
	}
}

// ruleSummary groups the rules other than the defaults by action, in order.
func ruleSummary(rules []api.SourcedRule) string {
	var groups []string
	for _, action := range []lathe.Action{lathe.Deny, lathe.AskMe, lathe.Review, lathe.Allow} {
		var names []string
		for _, r := range rules {
			name := r.Permission
			if r.Pattern != "*" {
				name += ":" + r.Pattern
			}
			if r.Action == action && r.Source != "default" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			groups = append(groups, fmt.Sprintf("%s %s", action, strings.Join(names, ", ")))
		}
	}
	return strings.Join(groups, "; ")
}

var modes = [...]string{"all", "primary", "subagent"}

// agentOptions are the settings of `lathe agent create`.
type agentOptions struct {
	name, path, description, mode, prompt, model string
	tools                                        []string
	toolsSet, global                             bool
}

func newAgentCreate(env *console.Env) *cobra.Command {
	var o agentOptions
	cmd := &cobra.Command{
		Use: "create", Short: "Create an agent as a Markdown file", Args: console.NoArgs,
		Long: `Create writes an agent as a Markdown file and prints its path. With --prompt the
prompt is yours; without it the connected model writes one from the description.

The file goes to .lathe/agents of this checkout, with --global to your own
configuration, or to the directory that --path names. --tools lists what the
agent may use; left out, it may use everything.`,
		Example: `  lathe agent create --description "Reviews Go code for races" --mode subagent --tools read,grep,glob
  lathe agent create --name docs --description "Writes documentation" --prompt "You write …"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.toolsSet = cmd.Flags().Changed("tools")
			if err := o.check(); err != nil {
				return err
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return createAgent(cmd.Context(), env, f, o) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "name of the agent; left out, it is made from the description")
	f.StringVar(&o.path, "path", "", "directory to write the file to")
	f.BoolVar(&o.global, "global", false, "write it to your own configuration")
	f.StringVar(&o.description, "description", "", "what the agent should do, and when to use it")
	f.StringVar(&o.mode, "mode", "all", "all, primary or subagent")
	f.StringVar(&o.prompt, "prompt", "", "the agent's instructions")
	f.StringSliceVar(&o.tools, "tools", nil, "tools that the agent may use, separated by commas")
	f.StringVarP(&o.model, "model", "m", "", "model that designs the agent")
	return cmd
}

func (o *agentOptions) check() error {
	switch {
	case strings.TrimSpace(o.description) == "":
		return console.Usagef("--description is needed: what should the agent do?")
	case !slices.Contains(modes[:], o.mode):
		return console.Usagef("--mode %q is not one of all, primary, subagent", o.mode)
	case o.path != "" && o.global:
		return console.Usagef("--path and --global exclude each other")
	case o.name != "" && !agentName(o.name):
		return console.Usagef("--name %q: use lower-case letters, digits and hyphens", o.name)
	}
	return nil
}

func agentName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && name[0] != '-'
}

// slug makes a name from the first words of a text.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words[:min(len(words), 3)], "-")
	return name[:min(len(name), 64)]
}

func createAgent(ctx context.Context, env *console.Env, f *face.Face, o agentOptions) error {
	off, err := o.toolsOff(ctx, f)
	if err != nil {
		return err
	}
	draft := api.AgentDraft{Identifier: slug(o.description), WhenToUse: o.description, SystemPrompt: o.prompt}
	if o.prompt == "" {
		if draft, err = f.DraftAgent(ctx, o.description, o.model); err != nil {
			return err
		}
		draft.Identifier = slug(draft.Identifier)
	}
	if o.name != "" {
		draft.Identifier = o.name
	}
	if !agentName(draft.Identifier) {
		return console.Usagef("no name can be made from this; give one with --name")
	}
	before, err := f.TrustState(ctx)
	if err != nil {
		return err
	}
	path := filepath.Join(o.folder(env, f, before.Dir), draft.Identifier+".md")
	if err := writeNew(path, agentFile(draft, o.mode, off)); err != nil {
		return err
	}
	if before.Stored {
		if err := keepTrust(ctx, env, f, path); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(env.Stdout, path)
	return err
}

// keepTrust keeps a checkout trusted after lathe itself has written a file for
// the person, if nothing else changed.
func keepTrust(ctx context.Context, env *console.Env, f *face.Face, path string) error {
	t, err := f.TrustState(ctx)
	if err != nil || len(t.Changed) != 1 || filepath.Join(t.Dir, filepath.FromSlash(t.Changed[0].Path)) != path {
		return err
	}
	if err := f.Decide(ctx, api.Decision{Digest: t.Digest, Keep: true}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stderr, "lathe: trusted %s as it is now (%s)\n", console.Clean(t.Dir), say.Plural(len(t.Files), "file"))
	return err
}

// toolsOff returns the tools that are not in --tools.
func (o *agentOptions) toolsOff(ctx context.Context, f *face.Face) ([]string, error) {
	if !o.toolsSet {
		return nil, nil
	}
	all, err := f.Tools(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range o.tools {
		if !slices.Contains(all, name) {
			return nil, console.Usagef("--tools: there is no tool %q; there are: %s", name, strings.Join(all, ", "))
		}
	}
	off := slices.DeleteFunc(all, func(name string) bool { return slices.Contains(o.tools, name) || name == "invalid" })
	slices.Sort(off)
	return off, nil
}

func (o *agentOptions) folder(env *console.Env, f *face.Face, checkout string) string {
	switch {
	case o.global:
		return filepath.Join(f.App.Paths.Config, "agents")
	case o.path != "" && filepath.IsAbs(o.path):
		return o.path
	case o.path != "":
		return filepath.Join(env.Dir, o.path)
	}
	return filepath.Join(checkout, ".lathe", "agents")
}

// agentFile renders the Markdown. JSON strings are YAML strings.
func agentFile(d api.AgentDraft, mode string, off []string) []byte {
	var b bytes.Buffer
	text, err := json.Marshal(d.WhenToUse)
	if err != nil { // a string always encodes
		panic(err)
	}
	fmt.Fprintf(&b, "---\ndescription: %s\nmode: %s\n", text, mode)
	if len(off) > 0 {
		b.WriteString("tools:\n")
		for _, name := range off {
			fmt.Fprintf(&b, "  %s: false\n", name)
		}
	}
	fmt.Fprintf(&b, "---\n%s\n", strings.TrimSpace(d.SystemPrompt))
	return b.Bytes()
}

// writeNew writes a file that must not exist.
func writeNew(path string, data []byte) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return lathe.Errorf(lathe.CodeInvalid, "choose another --name, or remove the file", "%s exists already", path)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: %w", path, err)
	}
	return workspace.WriteFile(path, data, 0o644)
}
