package manage

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

func (o *mcpOptions) imports(env *console.Env) *cobra.Command {
	var yes, no bool
	cmd := &cobra.Command{
		Use:   "import [FILE…]",
		Short: "Use the servers that other programs' files name",
		Long: `Import shows the MCP servers that other programs' files name: .mcp.json of the repository,
what "claude mcp add" wrote for you, and Codex' config.toml. They are used if you say so
here, or when the screen asks. A file that says something else later is asked about again.

At a terminal it asks about each file that you have not answered for. With --yes or --no
it answers for all of them, or for the files that you name, also those answered before.`,
		Example: "  lathe mcp import\n  lathe mcp import --yes .mcp.json\n  lathe mcp import --no ~/.claude.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes && no {
				return console.Usagef("--yes and --no exclude each other")
			}
			return o.with(cmd.Context(), env, func(f *face.Face) error {
				all, err := f.Imports(cmd.Context())
				if err == nil {
					all, err = importsOf(env, all, args)
				}
				if err != nil {
					return err
				}
				decide := func(m api.MCPImport) (use, answered bool) { return yes, yes || no }
				if !yes && !no && env.Interactive() {
					in := bufio.NewReader(io.LimitReader(env.Stdin, 64<<10))
					decide = func(m api.MCPImport) (bool, bool) { return askImport(env, in, m) }
				}
				return answerImports(cmd.Context(), env, f, all, decide)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "use them")
	cmd.Flags().BoolVar(&no, "no", false, "do not use them, and do not ask again")
	return cmd
}

// importsOf returns the files that the arguments name, or all of them without arguments.
func importsOf(env *console.Env, all []api.MCPImport, args []string) ([]api.MCPImport, error) {
	if len(args) == 0 {
		return all, nil
	}
	var out []api.MCPImport
	for _, arg := range args {
		before := len(out)
		for _, m := range all {
			if m.Path == console.Absolute(env, arg) {
				out = append(out, m)
			}
		}
		if len(out) == before {
			return nil, lathe.Errorf(lathe.CodeNotFound, "list the files with: lathe mcp import", "%q names no MCP servers for this directory", arg)
		}
	}
	return out, nil
}

// askImport asks at the terminal. Answers already given are not asked for again.
func askImport(env *console.Env, in *bufio.Reader, m api.MCPImport) (use, answered bool) {
	if !m.Open() {
		return false, false
	}
	fmt.Fprint(env.Stderr, "use these servers? [y/N] ")
	line, err := in.ReadString('\n')
	if err != nil && line == "" {
		return false, false // nobody answered
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes", true
}

func answerImports(ctx context.Context, env *console.Env, f *face.Face, all []api.MCPImport, decide func(api.MCPImport) (use, answered bool)) error {
	if len(all) == 0 {
		fmt.Fprintln(env.Stderr, "no file of another program names MCP servers for this directory")
		return nil
	}
	open := false
	for i, m := range all {
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		showImport(env, m)
		use, answered := decide(m)
		switch {
		case !answered:
			open = open || m.Open()
			continue
		case use && len(m.Servers) == 0:
			continue
		}
		if err := f.AnswerImport(ctx, api.MCPImportAnswer{ID: m.ID, Digest: m.Digest, Use: use}); err != nil {
			return err
		}
		word := "used from now on"
		if !use {
			word = "not used"
		}
		fmt.Fprintf(env.Stdout, "  %s\n", word)
	}
	if open {
		fmt.Fprintln(env.Stderr, "\nuse them with: lathe mcp import --yes")
	}
	return nil
}

func showImport(env *console.Env, m api.MCPImport) {
	fmt.Fprintf(env.Stdout, "%s (%s): %s\n", console.Clean(m.Path), console.Clean(importScope(m)), importState(m))
	for _, s := range m.Servers {
		line := "  " + s.Name + "  " + s.Where
		if len(s.Given) > 0 {
			line += "  with " + strings.Join(s.Given, ", ")
		}
		if s.Own {
			line += "  [your configuration has a server of this name, which is used instead]"
		}
		fmt.Fprintln(env.Stdout, console.Clean(line))
	}
	for _, s := range m.Skipped {
		fmt.Fprintf(env.Stdout, "  cannot be used: %s\n", console.Clean(s))
	}
}

// importScope says whether the servers are the person's or the project's.
func importScope(m api.MCPImport) string {
	switch m.Scope {
	case "project":
		return "of the repository"
	case "local":
		return "yours, in " + m.Dir
	}
	return "yours, everywhere"
}

func importState(m api.MCPImport) string {
	switch m.State {
	case "used":
		return "used"
	case "refused":
		return "not used, as you said"
	case "changed":
		return "not used: it has changed since you answered"
	}
	return "not used yet"
}

// tellImports says that there are servers that the person was not asked about.
func tellImports(ctx context.Context, env *console.Env, f *face.Face) error {
	all, err := f.Imports(ctx)
	if err != nil {
		return err
	}
	for _, m := range slices.DeleteFunc(all, func(m api.MCPImport) bool { return !m.Open() }) {
		names := make([]string, len(m.Servers))
		for i, s := range m.Servers {
			names[i] = s.Name
		}
		fmt.Fprintf(env.Stderr, "%s (%s) names servers that are %s: %s; look at them with: lathe mcp import\n",
			console.Clean(m.Path), console.Clean(importScope(m)), importState(m), console.OneLine(strings.Join(names, ", "), 120))
	}
	return nil
}
