package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/config"
	"lathe/internal/workspace"
)

// NewShare is lathe share.
func NewShare(env *console.Env) *cobra.Command {
	var o exportOptions
	var service bool
	cmd := &cobra.Command{
		Use: "share [id]", Short: "Write a session as one web page that opens offline, or publish it", Args: cobra.MaximumNArgs(1),
		Long: "Share writes a session, the newest of this directory unless one is named, as a single HTML file without\n" +
			"scripts, to be sent to others. With --service it is published instead, on the share service that\n" +
			"enterprise.url names in the configuration, and later messages follow; lathe unshare withdraws it.\n" +
			"The page goes to lathe's own files, and its path is printed; --output names another place.\n" +
			"Secrets are removed as far as they are recognised; look at it before you send it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if service && (o.Sanitize || o.output != "") {
				return console.Usagef("--service excludes --output and --sanitize")
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				sess, err := f.Session(cmd.Context(), args)
				if err != nil {
					return err
				}
				if service {
					return publish(cmd.Context(), env, f, sess)
				}
				o.Format = api.FormatHTML
				if o.output == "" {
					return sharePage(cmd.Context(), env, f, sess, o)
				}
				return export(cmd.Context(), env, f, sess, o)
			})
		},
	}
	cmd.Flags().BoolVar(&service, "service", false, "publish it on the configured share service")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "the file to write; it must not exist (default: one among lathe's own files)")
	cmd.Flags().BoolVar(&o.Sanitize, "sanitize", false, "remove texts, names and contents")
	return cmd
}

// sharePage writes the page among lathe's own files, in place of an earlier one of the
// session, and prints where it is: nobody asked for a file in the project.
func sharePage(ctx context.Context, env *console.Env, f *face.Face, sess lathe.Session, o exportOptions) (err error) {
	paths, err := config.DefaultPaths(env.Getenv)
	if err != nil {
		return err
	}
	in, err := f.Export(ctx, sess.ID, o.Export)
	if err != nil {
		return err
	}
	page, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return err
	}
	path := filepath.Join(paths.State, "pages", string(sess.ID)+".html")
	if err := config.Ensure(filepath.Dir(path)); err != nil {
		return err
	}
	if err := workspace.WriteFile(path, page, 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, path)
	return err
}

// publish shares a session and prints where.
func publish(ctx context.Context, env *console.Env, f *face.Face, sess lathe.Session) error {
	sess, err := f.Share(ctx, sess.ID)
	if sess.Share != nil {
		fmt.Fprintln(env.Stdout, console.Clean(sess.Share.URL))
	}
	return err
}

// NewUnshare is lathe unshare.
func NewUnshare(env *console.Env) *cobra.Command {
	var forget bool
	cmd := &cobra.Command{
		Use: "unshare [id]", Short: "Withdraw a published session", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				sess, err := f.Session(cmd.Context(), args)
				if err != nil {
					return err
				}
				if sess.Share == nil {
					fmt.Fprintf(env.Stderr, "lathe: session %s is not shared\n", sess.ID)
					return nil
				}
				_, err = f.Unshare(cmd.Context(), sess.ID, forget)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "forget it here even if the service cannot be reached; what is stored there stays there")
	return cmd
}
