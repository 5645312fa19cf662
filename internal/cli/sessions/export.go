package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

type exportOptions struct {
	api.Export
	output string
}

// NewExport is lathe export.
func NewExport(env *console.Env) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use: "export [id]", Short: "Write a session as JSON, Markdown or a web page", Args: cobra.MaximumNArgs(1),
		Long: "Export writes a session, the newest of this directory unless one is named, to standard output or a file.\n" +
			"JSON can be imported again, here or in OpenCode. Markdown and HTML leave out secrets, and the contents of files that may not be read without an ask.\n" +
			"What was reverted is left out; --reverted includes it. --sanitize removes everything that was said, and keeps what happened.",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch o.Format {
			case api.FormatJSON, api.FormatMarkdown, api.FormatHTML:
			case "md":
				o.Format = api.FormatMarkdown
			default:
				return console.Usagef("--format %q is not json, markdown or html", o.Format)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				sess, err := f.Session(cmd.Context(), args)
				if err != nil {
					return err
				}
				return export(cmd.Context(), env, f, sess, o)
			})
		},
	}
	cmd.Flags().StringVar(&o.Format, "format", api.FormatJSON, "json, markdown or html")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "the file to write; it must not exist")
	cmd.Flags().BoolVar(&o.Sanitize, "sanitize", false, "remove texts, names and contents")
	cmd.Flags().BoolVar(&o.Reverted, "reverted", false, "include what was reverted")
	return cmd
}

// export writes a session to standard output, or to a file whose name it prints.
func export(ctx context.Context, env *console.Env, f *face.Face, sess lathe.Session, o exportOptions) (err error) {
	in, err := f.Export(ctx, sess.ID, o.Export)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if o.output == "" {
		_, err := io.Copy(env.Stdout, in)
		return err
	}
	file, err := newFile(env, o.output)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, in)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name())) // do not leave half a session behind
	}
	_, err = fmt.Fprintln(env.Stdout, file.Name())
	return err
}
