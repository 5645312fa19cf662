package manage

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// newServerOptions are those of lathe mcp add.
type newServerOptions struct {
	url     string
	headers []string
	env     []string
	cwd     string
	timeout int
	project bool
	eager   bool
	free    bool
}

func (o *mcpOptions) add(env *console.Env) *cobra.Command {
	var a newServerOptions
	cmd := &cobra.Command{
		Use:   "add NAME (-- COMMAND [ARG…] | --url ADDRESS)",
		Short: "Add a server to your configuration",
		Example: `  lathe mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  lathe mcp add docs --url https://example.com/mcp
  lathe mcp add issues --env TOKEN={env:ISSUES_TOKEN} -- issues-server`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.free && a.project {
				return lathe.Errorf(lathe.CodeInvalid, "leave out --project", "only your own configuration says that a server is not confined")
			}
			entry, err := a.entry(args[1:])
			if err != nil {
				return err
			}
			return o.with(cmd.Context(), env, func(f *face.Face) error { return addServer(cmd.Context(), env, f, args[0], entry, a.project) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&a.url, "url", "", "address of a remote server")
	fl.StringArrayVar(&a.headers, "header", nil, "NAME=VALUE that is sent to it; {env:NAME} keeps a secret out of the file")
	fl.StringArrayVar(&a.env, "env", nil, "NAME=VALUE for a local server's environment; {env:NAME} works here too")
	fl.StringVar(&a.cwd, "cwd", "", "directory that a local server runs in")
	fl.IntVar(&a.timeout, "timeout", 0, "milliseconds to wait for it")
	fl.BoolVar(&a.project, "project", false, "write it into this directory's lathe.json instead of your own")
	fl.BoolVar(&a.eager, "eager", false, "start it with lathe instead of with its first call")
	fl.BoolVar(&a.free, "unconfined", false, "let a local server's program use the whole machine, as programs that you start do")
	return cmd
}

// entry is the server as the configuration has it.
func (a *newServerOptions) entry(command []string) (map[string]any, error) {
	out := map[string]any{}
	switch {
	case a.url != "" && len(command) > 0:
		return nil, lathe.Errorf(lathe.CodeInvalid, "give --url, or a command after --", "a server has an address or a command, not both")
	case a.url != "":
		if u, err := url.Parse(a.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, lathe.Errorf(lathe.CodeInvalid, "it begins with https://", "%q is not the address of a server", a.url)
		}
		out["type"], out["url"] = "remote", a.url
	case len(command) > 0:
		out["type"], out["command"] = "local", command
	default:
		return nil, lathe.Errorf(lathe.CodeInvalid, "for a local one: lathe mcp add NAME -- COMMAND; for a remote one: lathe mcp add NAME --url ADDRESS", "what server it is was not said")
	}
	for key, list := range map[string][]string{"headers": a.headers, "environment": a.env} {
		values, err := namedValues(list)
		if err != nil {
			return nil, err
		}
		if len(values) > 0 {
			out[key] = values
		}
	}
	if a.cwd != "" {
		out["cwd"] = a.cwd
	}
	if a.timeout > 0 {
		out["timeout"] = a.timeout
	}
	if a.eager {
		out["lazy"] = false
	}
	if a.free {
		out["sandbox"] = "off"
	}
	return out, nil
}

func namedValues(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, nv := range list {
		name, value, ok := strings.Cut(nv, "=")
		if !ok || name == "" {
			return nil, lathe.Errorf(lathe.CodeInvalid, "write NAME=VALUE", "%q has no value", name)
		}
		out[name] = value
	}
	return out, nil
}

func addServer(ctx context.Context, env *console.Env, f *face.Face, name string, entry map[string]any, project bool) error {
	if strings.TrimSpace(name) == "" || strings.ContainsAny(name, "\x00\n") {
		return lathe.Errorf(lathe.CodeInvalid, "", "%q is no name for a server", name)
	}
	if err := f.ChangeConfig(ctx, !project, map[string]any{"mcp": map[string]any{name: entry}}); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "%s is added; trying it …\n", console.Clean(name))
	d, err := f.Server(ctx, name, true)
	switch {
	case lathe.CodeOf(err) == lathe.CodeNotFound && project:
		fmt.Fprintln(env.Stderr, "it is used when you trust this repository: lathe trust add")
		return nil
	case err != nil:
		return err
	}
	fmt.Fprintf(env.Stdout, "%s: %s, %s\n", console.Clean(d.Name), serverState(d.MCPServer), serverHas(d.MCPServer))
	if d.Why != "" {
		fmt.Fprintf(env.Stdout, "%s\n", console.Clean(d.Why))
	}
	return nil
}

func (o *mcpOptions) remove(env *console.Env) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a server from your configuration", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), env, func(f *face.Face) error {
				before, err := f.Servers(cmd.Context(), false)
				if err != nil {
					return err
				}
				if !hasServer(before, args[0]) {
					return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe mcp list", "there is no MCP server %q", args[0])
				}
				_ = f.LogoutServer(cmd.Context(), args[0]) // a login without its server is of no use
				if err := f.ChangeConfig(cmd.Context(), !project, map[string]any{"mcp": map[string]any{args[0]: nil}}); err != nil {
					return err
				}
				after, err := f.Servers(cmd.Context(), false)
				if err != nil {
					return err
				}
				if hasServer(after, args[0]) {
					return lathe.Errorf(lathe.CodeInvalid, "see where with: lathe config; a directory's own is removed with --project", "%q is configured somewhere else, too", args[0])
				}
				fmt.Fprintf(env.Stdout, "%s is removed\n", console.Clean(args[0]))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "remove it from this directory's configuration instead of your own")
	return cmd
}

func (o *mcpOptions) logout(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Forget the login to a server", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), env, func(f *face.Face) error {
				if err := f.LogoutServer(cmd.Context(), args[0]); err != nil {
					return err
				}
				fmt.Fprintf(env.Stdout, "logged out of %s\n", console.Clean(args[0]))
				return nil
			})
		},
	}
}

func (o *mcpOptions) auth(env *console.Env) *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "auth NAME",
		Short: "Log in to a remote server",
		Long: `Auth logs in to a remote server: it opens the server's page in a browser and waits
for you to allow lathe there. If no browser can reach this machine,
open the printed address elsewhere and paste the final address, or the code, here.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), env, func(f *face.Face) error { return loginServer(cmd.Context(), env, f, args[0], !noBrowser) })
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address only")
	return cmd
}

func loginServer(ctx context.Context, env *console.Env, f *face.Face, name string, open bool) error {
	login, err := f.BeginLogin(ctx, name, open)
	if err != nil {
		return err
	}
	if login.Already {
		fmt.Fprintf(env.Stdout, "%s wants no login\n", console.Clean(name))
		return nil
	}
	if login.Opened {
		fmt.Fprintln(env.Stderr, "allow lathe in the browser; if none opened, open this address:")
	} else {
		fmt.Fprintln(env.Stderr, "open this address in a browser:")
	}
	fmt.Fprintln(env.Stderr, console.Clean(login.URL))
	fmt.Fprintln(env.Stderr, "or paste the address that the browser is sent to at the end:")
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 2)
	go func() { ended <- f.AwaitLogin(ctx, name) }() // ends with ctx
	go func() {                                      // a read that cannot be stopped; it ends with the program
		if line := firstInput(env.Stdin); line != "" {
			ended <- f.FinishLogin(ctx, name, line)
		}
	}()
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "logged in to %s\n", console.Clean(name))
	return nil
}

// firstInput returns the first line that is typed or piped in, if any.
func firstInput(in *os.File) string {
	line, _ := bufio.NewReader(io.LimitReader(in, 64<<10)).ReadString('\n')
	return strings.TrimSpace(line)
}
