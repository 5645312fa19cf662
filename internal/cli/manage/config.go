// Package manage has the commands about what a directory is equipped with: configuration,
// accounts, models, agents, trust and permissions, MCP servers, language servers, plugins,
// worktrees, and the instructions that lathe learn adds to.
//
// A file is a command, named after it; where one has many below it, the others are beside it
// under its name: mcp.go, mcpchange.go, mcpimport.go and mcpserve.go, or plugin.go,
// pluginhooks.go and plugintest.go. All but mcpserve.go and the running servers of lsp.go
// ask an engine through package face once, print what it says and end.
package manage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/printable"
)

// NewConfig is lathe config.
func NewConfig(env *console.Env) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "config [key]",
		Short: "Show the effective configuration and where each value comes from",
		Long: `Config shows the configuration in effect in this directory, merged from all its
sources. Each line is a key, its value, and the place where it was written. A key
such as agent.build limits it to what is below that key. Credentials are hidden.

The sources, lowest first: organisations, your own files, the file that
LATHE_CONFIG names, project files from the checkout's root down, .opencode and
.lathe directories, LATHE_CONFIG_CONTENT, the administrator's files.`,
		Example: "  lathe config\n  lathe config permission\n  lathe config --format json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return console.Usagef("--format %q is neither text nor json", format)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				conf, err := f.Config(cmd.Context())
				if err != nil {
					return err
				}
				if format == "json" {
					return configJSON(env, conf)
				}
				key := ""
				if len(args) > 0 {
					key = args[0]
				}
				return configText(env, conf, key)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

func configJSON(env *console.Env, c api.Config) error {
	var out bytes.Buffer
	if err := json.Indent(&out, printable.JSON(c.Values), "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(env.Stdout, out.String())
	return err
}

func configText(env *console.Env, c api.Config, key string) error {
	var tree any
	dec := json.NewDecoder(bytes.NewReader(c.Values))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return err
	}
	st := console.NewStyle(env.StdoutTTY, env.Getenv)
	for _, o := range c.Origins {
		if key != "" && o.Path != key && !strings.HasPrefix(o.Path, key+".") {
			continue
		}
		value := lookup(tree, o.Path)
		fmt.Fprintf(env.Stdout, "%s = %s  %s\n", console.Clean(o.Path), console.Clean(value), st.Dim("("+console.Clean(o.Where)+", "+o.Trust+")"))
	}
	for _, s := range c.Sources {
		if key == "" {
			fmt.Fprintf(env.Stderr, "read: %s (%s)\n", console.Clean(s.Name), s.Trust)
		}
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Clean(w))
	}
	for _, l := range c.LeftOut {
		fmt.Fprintf(env.Stderr, "left out: %s (%s): %s\n", console.Clean(l.Path), console.Clean(l.Where), console.Clean(l.Reason))
	}
	return nil
}

// lookup returns the value at a dotted path as compact JSON. Keys may hold dots
// themselves, so every split is tried.
func lookup(tree any, path string) string {
	if v, ok := find(tree, path); ok {
		if out, err := json.Marshal(v); err == nil {
			return string(printable.JSON(out))
		}
	}
	return "…"
}

func find(tree any, path string) (any, bool) {
	obj, ok := tree.(map[string]any)
	if !ok {
		return nil, false
	}
	if v, ok := obj[path]; ok {
		return v, true
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if sub, ok := obj[path[:i]]; ok {
			if v, ok := find(sub, path[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}
