package manage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

// mcpOptions say which servers are meant: the person's or the project's.
type mcpOptions struct {
	attach, passFile, dir string
	trust, attended       bool
}

// NewMCP is lathe mcp.
func NewMCP(env *console.Env) *cobra.Command {
	var o mcpOptions
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Manage MCP servers",
		Long: `MCP servers give models additional tools, resources and
prompts. They are part of the configuration (mcp in lathe.json or opencode.json) and
start when they are first needed. A repository's servers start only if it is
trusted.`,
	}
	f := cmd.PersistentFlags()
	f.StringVar(&o.attach, "attach", "", "address of a running server of lathe; auto: one that runs here; empty: none")
	f.StringVar(&o.passFile, "password-file", "", "file with that server's password, readable by you alone")
	f.StringVar(&o.dir, "dir", "", "directory whose servers to use")
	f.BoolVar(&o.trust, "trust", false, "use the configuration of this repository in this run")
	cmd.AddCommand(o.list(env), o.tools(env), o.debug(env), o.add(env), o.remove(env), o.imports(env), o.auth(env), o.logout(env), o.serve(env))
	return cmd
}

func (o *mcpOptions) with(ctx context.Context, env *console.Env, do func(*face.Face) error) error {
	password, err := face.Password(o.passFile)
	if err != nil {
		return err
	}
	dir, err := face.DirFor(env, o.attach, o.dir)
	if err != nil {
		return err
	}
	f, err := face.Connect(ctx, env, face.Target{Attach: o.attach, Password: password, Dir: dir, Trust: o.trust, Attended: o.attended})
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

func (o *mcpOptions) list(env *console.Env) *cobra.Command {
	var format console.ListFormat
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List servers and how they are doing", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.with(cmd.Context(), env, func(f *face.Face) error { return listServers(cmd.Context(), env, f, format) })
		},
	}
	format.Flag(cmd.Flags())
	return cmd
}

func listServers(ctx context.Context, env *console.Env, f *face.Face, format console.ListFormat) error {
	all, err := f.Servers(ctx, true)
	if err != nil {
		return err
	}
	if format.JSON {
		return console.PrintList(env, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(env.Stderr, "no MCP server is configured; add one with: lathe mcp add")
		return tellImports(ctx, env, f)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, s := range all {
		state := serverState(s)
		if m := serverMemory(s); m != "" {
			state += ", " + m
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", console.Clean(s.Name), state, serverHas(s), console.OneLine(s.Where, 80))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, s := range all {
		if s.Why != "" {
			fmt.Fprintf(env.Stdout, "\n%s: %s\n", console.Clean(s.Name), console.Clean(s.Why))
		}
		if len(s.Changed) > 0 {
			fmt.Fprintf(env.Stdout, "\n%s: what it says of these tools has changed since you looked: %s; look with: lathe mcp tools %s\n",
				console.Clean(s.Name), console.Clean(strings.Join(s.Changed, ", ")), console.Clean(s.Name))
		}
	}
	return tellImports(ctx, env, f)
}

// serverState describes a server's state for people.
func serverState(s api.MCPServer) string {
	switch s.State {
	case "waiting":
		return "starts when needed"
	case "needs_auth":
		return "needs a login"
	case "needs_client_registration":
		return "needs a clientId"
	}
	return s.State
}

func serverHas(s api.MCPServer) string {
	if !s.Known {
		return "-"
	}
	out := say.Plural(s.Tools, "tool")
	if s.Resources > 0 {
		out += ", " + say.Plural(s.Resources, "resource")
	}
	if s.Prompts > 0 {
		out += ", " + say.Plural(s.Prompts, "prompt")
	}
	return out
}

// serverMemory tells what the processes of a server have; empty if none runs here.
func serverMemory(s api.MCPServer) string {
	if s.Memory == 0 {
		return ""
	}
	return fmt.Sprintf("%d MiB", (s.Memory+1<<19)>>20)
}

func (o *mcpOptions) tools(env *console.Env) *cobra.Command {
	var schema bool
	var format console.ListFormat
	cmd := &cobra.Command{
		Use: "tools SERVER", Short: "List a server's tools, by the names that rules use", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), env, func(f *face.Face) error { return listTools(cmd.Context(), env, f, args[0], schema, format) })
		},
	}
	format.Flag(cmd.Flags())
	cmd.Flags().BoolVar(&schema, "schema", false, "show the arguments of each tool")
	return cmd
}

func listTools(ctx context.Context, env *console.Env, f *face.Face, name string, schema bool, format console.ListFormat) error {
	fmt.Fprintf(env.Stderr, "asking %s what it has …\n", console.Clean(name))
	d, err := f.Server(ctx, name, true)
	if err != nil {
		return err
	}
	if !d.Known {
		return lathe.Errorf(lathe.CodeNotFound, "see what is wrong with: lathe mcp debug "+console.Clean(name), "server %q cannot be asked: %s", name, console.Clean(d.Why))
	}
	if format.JSON {
		return errors.Join(console.PrintList(env, d.List), f.SeenServer(ctx, name))
	}
	for _, t := range d.List {
		line := t.Key
		if t.Hints != "" {
			line += " (" + t.Hints + ")"
		}
		for _, c := range d.Changed {
			if c == t.Name {
				line += " [changed]"
			}
		}
		fmt.Fprintln(env.Stdout, console.Clean(line))
		if text := console.OneLine(t.Description, 200); text != "" {
			fmt.Fprintln(env.Stdout, "    "+text)
		}
		if schema {
			fmt.Fprintln(env.Stdout, "    "+console.Clean(string(t.Schema)))
		}
	}
	for _, n := range d.Notes {
		fmt.Fprintf(env.Stderr, "note: %s\n", console.Clean(n))
	}
	return f.SeenServer(ctx, name)
}

func (o *mcpOptions) debug(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "debug SERVER", Short: "Start a server and show what happens", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), env, func(f *face.Face) error { return debugServer(cmd.Context(), env, f, args[0]) })
		},
	}
}

func debugServer(ctx context.Context, env *console.Env, f *face.Face, name string) error {
	before := env.Now()
	d, err := f.Server(ctx, name, true)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	row := func(what, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", what, console.Clean(value))
		}
	}
	kind := "local"
	if d.Remote {
		kind = "remote"
	}
	row("server", d.Name+", "+kind)
	row("where", d.Where)
	row("state", serverState(d.MCPServer))
	row("why", d.Why)
	row("login", d.Login)
	row("says it is", d.Title)
	row("protocol", d.Protocol)
	row("has", serverHas(d.MCPServer))
	row("memory", serverMemory(d.MCPServer))
	switch {
	case d.Remote:
	case d.Free:
		row("may use", "the whole machine")
	default:
		row("may use", "what commands may: it is confined; \"sandbox\": \"off\" in its configuration gives it the whole machine")
	}
	row("took", env.Now().Sub(before).Round(1e6).String())
	for _, n := range d.Notes {
		row("note", n)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if d.State == "failed" {
		return lathe.Errorf(lathe.CodeProvider, "its log is in lathe's log: lathe debug paths", "server %q cannot be used", name)
	}
	return nil
}

func hasServer(all []api.MCPServer, name string) bool {
	for _, s := range all {
		if s.Name == name {
			return true
		}
	}
	return false
}
