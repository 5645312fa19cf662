package manage

import (
	"io"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/mcpserve"
)

func (o *mcpOptions) serve(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve lathe as an MCP server, for other agents and editors", Args: console.NoArgs,
		Long: `Serve speaks the Model Context Protocol on standard input and output: other agents and
editors can start lathe sessions in this directory, prompt and continue them, read
them and search them. You are asked for permission if the other side can show a
question; otherwise it is refused.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if env.StdinTTY {
				return lathe.Errorf(lathe.CodeInvalid, "put it into the other program's configuration", "lathe mcp serve talks to a program, and standard input is a terminal")
			}
			attended := *o
			attended.attended = true
			return attended.with(cmd.Context(), env, func(f *face.Face) error {
				return mcpserve.Run(cmd.Context(), f.Client, env.Stdin, openWriter{env.Stdout})
			})
		},
	}
}

// openWriter is a writer that is not closed.
type openWriter struct{ io.Writer }

// Close does nothing.
func (openWriter) Close() error { return nil }
