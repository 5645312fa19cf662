package manage

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// runningLanguages lists the language servers that run in a server of lathe.
type runningLanguages struct{ attach, passFile string }

func (o *runningLanguages) flags(f *pflag.FlagSet) {
	f.StringVar(&o.attach, "attach", "", "show those that run in the server at this address (http://…, or unix:PATH); auto: one that runs here")
	f.StringVar(&o.passFile, "password-file", "", "with --attach: file with the server's password, readable by you alone")
}

func (o *runningLanguages) list(ctx context.Context, env *console.Env, format console.ListFormat) error {
	return face.Attached(ctx, env, o.attach, o.passFile, func(f *face.Face) error {
		setup, err := f.Setup(ctx)
		if err != nil {
			return err
		}
		if format.JSON {
			return console.PrintList(env, setup.LSP)
		}
		if len(setup.LSP) == 0 {
			_, err = fmt.Fprintln(env.Stdout, `language servers are switched off here; "lsp": true in the configuration switches them on`)
			return err
		}
		w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
		for _, s := range setup.LSP {
			fmt.Fprintf(w, "%s\t%s\t%s\n", console.Clean(s.Name), console.Clean(s.Kind), console.Clean(s.State))
		}
		return w.Flush()
	})
}
