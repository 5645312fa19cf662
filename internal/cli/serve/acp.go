package serve

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/acp"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/client"
	"lathe/internal/tool"
)

// acpOptions are the settings of `lathe acp`.
type acpOptions struct {
	attach       string
	passwordFile string
	trust        bool
}

// NewACP is lathe acp.
func NewACP(env *console.Env) *cobra.Command {
	var o acpOptions
	cmd := &cobra.Command{
		Use: "acp", Short: "Let an editor drive lathe (Agent Client Protocol)",
		Args: cobra.NoArgs,
		Long: `Acp speaks the Agent Client Protocol on standard input and output, for editors
that know it: Zed, JetBrains' IDEs, Neovim, Emacs and others. You do not run it by
hand; an editor starts it. docs/editors.md has the settings for each.

The editor's sessions are lathe's: lathe session list shows them, the screen opens
them, and everything can be undone. With --attach the editor works in a running
server, and its turns go on when the editor is closed.

Log output goes to lathe's log, or to standard error with --print-logs.`,
		Example: `  lathe acp
  lathe acp --attach auto
  lathe acp --attach http://127.0.0.1:4096 --password-file ~/.config/lathe/password`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runACP(cmd.Context(), env, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.attach, "attach", "", "work in a running server: http://host:port, unix:PATH, or auto to find one")
	f.StringVar(&o.passwordFile, "password-file", "", "file with the server's password, readable by you alone")
	f.BoolVar(&o.trust, "trust", false, "trust this repository's configuration in this run")
	return cmd
}

func runACP(ctx context.Context, env *console.Env, o acpOptions) error {
	if env.StdinTTY {
		return lathe.Errorf(lathe.CodeInvalid, "see docs/editors.md; to work in the terminal, run lathe", "lathe acp talks to an editor, and standard input is a terminal")
	}
	password, err := face.Password(o.passwordFile)
	if err != nil {
		return err
	}
	dir, err := console.WorkDir(env, "")
	if err != nil {
		return err
	}
	var f *face.Face
	var opened atomic.Pointer[app.App]
	in := acp.Options{
		In: env.Stdin, Out: env.Stdout, Now: env.Now, Leave: o.attach != "",
		Files: func(id lathe.SessionID, files tool.Files) func() {
			if f.App == nil { // a server's tools work on the server's disk
				return func() {}
			}
			return f.App.Buffers.Take(id, files)
		},
		Open: func() (_ *client.Client, err error) {
			f, err = face.Connect(ctx, env, face.Target{Attach: o.attach, Password: password, Dir: dir, Trust: o.trust, Attended: true})
			if err != nil {
				return nil, err
			}
			opened.Store(f.App)
			return f.Client, nil
		},
	}
	in.Log = slog.New(&laterLog{func() *slog.Logger {
		if a := opened.Load(); a != nil {
			return a.Log
		}
		return nil
	}})
	err = acp.Serve(ctx, in)
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}

// laterLog is a log that does not exist until something has opened it.
type laterLog struct{ get func() *slog.Logger }

// Enabled reports whether the log is there and takes the level.
func (l *laterLog) Enabled(ctx context.Context, level slog.Level) bool {
	log := l.get()
	return log != nil && log.Enabled(ctx, level)
}

// Handle writes a record.
func (l *laterLog) Handle(ctx context.Context, r slog.Record) error {
	return l.get().Handler().Handle(ctx, r)
}

// WithAttrs is not used: records are whole.
func (l *laterLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup is not used: records are whole.
func (l *laterLog) WithGroup(string) slog.Handler { return l }
