package cli

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
	"lathe/internal/instance"
	"lathe/internal/workspace"
)

func newAgents(env *Env) *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return withApp(cmd.Context(), env, func(a *app, dir string) error {
			inst, err := a.svc.Instance(cmd.Context(), dir)
			if err != nil {
				return err
			}
			printAgents(env, inst)
			return nil
		})
	}
	cmd := &cobra.Command{
		Use: "agents", Aliases: []string{"agent"}, Short: "List agents, or create one", Args: noArgs, RunE: list,
		Long: "Agents lists the agents that can be used here: their mode, model, what they are\nfor, and their rules beyond the defaults.",
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List agents", Args: noArgs, RunE: list},
		newAgentCreate(env),
	)
	return cmd
}

func printAgents(env *Env, inst *instance.Instance) {
	st := newStyle(env.StdoutTTY, env.Getenv)
	for _, a := range inst.Agents.All() {
		if a.Hidden {
			continue
		}
		model := ""
		if !a.Model.IsZero() {
			model = "  " + clean(a.Model.String())
		}
		fmt.Fprintf(env.Stdout, "%s (%s)%s\n", st.bold(clean(a.Name)), a.Mode, model)
		if a.Description != "" {
			fmt.Fprintf(env.Stdout, "  %s\n", oneLine(a.Description, 200))
		}
		if rules := ruleSummary(inst.Agents.Rules(a)); rules != "" {
			fmt.Fprintf(env.Stdout, "  %s\n", st.dim(oneLine(rules, 200)))
		}
	}
}

// ruleSummary groups the rules beyond the defaults by action, in order.
func ruleSummary(rules []instance.SourcedRule) string {
	var groups []string
	for _, action := range []lathe.Action{lathe.Deny, lathe.AskMe, lathe.Allow} {
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

// agentOptions are the settings of `lathe agent create`.
type agentOptions struct {
	name, path, description, mode, prompt, model string
	tools                                        []string
	toolsSet, global                             bool
}

func newAgentCreate(env *Env) *cobra.Command {
	var o agentOptions
	cmd := &cobra.Command{
		Use: "create", Short: "Create an agent as a Markdown file", Args: noArgs,
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
			return withApp(cmd.Context(), env, func(a *app, dir string) error { return createAgent(cmd.Context(), env, a, dir, o) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "name of the agent; left out, it is made from the description")
	f.StringVar(&o.path, "path", "", "directory to write the file to")
	f.BoolVar(&o.global, "global", false, "write it to your own configuration")
	f.StringVar(&o.description, "description", "", "what the agent should do, and when to use it")
	f.StringVar(&o.mode, "mode", instance.ModeAll, "all, primary or subagent")
	f.StringVar(&o.prompt, "prompt", "", "the agent's instructions")
	f.StringSliceVar(&o.tools, "tools", nil, "tools that the agent may use, separated by commas")
	f.StringVarP(&o.model, "model", "m", "", "model that designs the agent")
	return cmd
}

func (o *agentOptions) check() error {
	switch {
	case strings.TrimSpace(o.description) == "":
		return usageError{errors.New("--description is needed: what should the agent do?")}
	case !slices.Contains([]string{instance.ModeAll, instance.ModePrimary, instance.ModeSubagent}, o.mode):
		return usageError{fmt.Errorf("--mode %q is none of all, primary, subagent", o.mode)}
	case o.path != "" && o.global:
		return usageError{errors.New("--path and --global exclude each other")}
	case o.name != "" && !agentName(o.name):
		return usageError{fmt.Errorf("--name %q: use lower-case letters, digits and hyphens", o.name)}
	}
	return nil
}

func agentName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && name[0] != '-'
}

// slug makes a name of the first words of a text.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words[:min(len(words), 3)], "-")
	return name[:min(len(name), 64)]
}

func createAgent(ctx context.Context, env *Env, a *app, dir string, o agentOptions) error {
	inst, err := a.svc.Instance(ctx, dir)
	if err != nil {
		return err
	}
	off, err := o.toolsOff(inst)
	if err != nil {
		return err
	}
	draft := instance.AgentDraft{Identifier: slug(o.description), WhenToUse: o.description, SystemPrompt: o.prompt}
	if o.prompt == "" {
		var ref lathe.ModelRef
		if o.model != "" {
			if ref, err = inst.Models.ParseRef(o.model); err != nil {
				return err
			}
		}
		if draft, err = inst.DesignAgent(ctx, ref, o.description); err != nil {
			return err
		}
		draft.Identifier = slug(draft.Identifier)
	}
	if o.name != "" {
		draft.Identifier = o.name
	}
	if !agentName(draft.Identifier) {
		return usageError{errors.New("no name can be made from this; give one with --name")}
	}
	path := filepath.Join(o.folder(env, a, inst), draft.Identifier+".md")
	if err := writeNew(path, agentFile(draft, o.mode, off)); err != nil {
		return err
	}
	if inst.Trust.Stored {
		if err := keepTrust(ctx, env, inst, path); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(env.Stdout, path)
	return err
}

// keepTrust goes on trusting a checkout in which lathe itself has just written a
// file for the person, if that is all that changed.
func keepTrust(ctx context.Context, env *Env, inst *instance.Instance, path string) error {
	return withCheckout(ctx, env, []string{inst.Root.Dir}, func(c instance.Checkout, o instance.Options) error {
		changed := c.Judge(o).Changed
		if len(changed) != 1 || filepath.Join(c.Dir, filepath.FromSlash(changed[0].Path)) != path {
			return nil
		}
		return trustAdd(ctx, env, c, o)
	})
}

// toolsOff returns the tools that are not in --tools.
func (o *agentOptions) toolsOff(inst *instance.Instance) ([]string, error) {
	if !o.toolsSet {
		return nil, nil
	}
	var off, all []string
	for _, t := range inst.Tools.Tools() {
		name := t.Spec().Name
		all = append(all, name)
		if !slices.Contains(o.tools, name) && name != "invalid" {
			off = append(off, name)
		}
	}
	for _, name := range o.tools {
		if !slices.Contains(all, name) {
			return nil, usageError{fmt.Errorf("--tools: there is no tool %q; there are: %s", name, strings.Join(all, ", "))}
		}
	}
	slices.Sort(off)
	return off, nil
}

func (o *agentOptions) folder(env *Env, a *app, inst *instance.Instance) string {
	switch {
	case o.global:
		return filepath.Join(a.paths.Config, "agents")
	case o.path != "" && filepath.IsAbs(o.path):
		return o.path
	case o.path != "":
		return filepath.Join(env.Dir, o.path)
	case inst.Root.VCS == "":
		return filepath.Join(inst.Root.Dir, ".lathe", "agents")
	}
	return filepath.Join(inst.Root.TopLevel, ".lathe", "agents")
}

// agentFile renders the Markdown. JSON strings are YAML strings.
func agentFile(d instance.AgentDraft, mode string, off []string) []byte {
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
