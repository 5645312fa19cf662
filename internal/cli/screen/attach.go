package screen

import (
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// NewAttach is lathe attach.
func NewAttach(env *console.Env) *cobra.Command {
	o := Options{attach: "auto"}
	var passwordFile string
	cmd := &cobra.Command{
		Use: "attach [address...]", Short: "Open the screen on a running server",
		Long: `Attach opens the same screen as lathe alone, on the sessions of a server: what
one screen does, all others on that server see at once, and any of them can answer
what lathe asks. Leaving the screen stops nothing.

The address is what lathe serve printed: http://host:port, or unix:PATH. Without
one, a server of yours on this machine is used: the one for this directory,
else the one started last.

Of several addresses, of servers that share a database, the first that answers is
used; when that server is gone, the next one is, from the event where the screen was.
The state line says which. Other commands take them with commas:
--attach http://a:4096,http://b:4096.

The screen is about this directory; with a server on another machine, about that
server's own, unless --dir names one there. A broken connection is re-established, and
the screen catches up with what it missed.

A server with a password is given it from LATHE_SERVER_PASSWORD, from a file with
--password-file, or in the address (http://user:password@host, which other users
of this machine may see). Traffic is not encrypted: to reach another machine, use
an SSH tunnel or an https address.`,
		Example: `  lathe attach
  lathe attach -c
  lathe attach http://127.0.0.1:4096 --session ses_…
  lathe attach http://a.example.com:4096 http://b.example.com:4096
  lathe attach unix:/run/user/1000/lathe.sock
  ssh -NL 4096:127.0.0.1:4096 host & lathe attach http://127.0.0.1:4096 --dir /srv/app`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 0 {
				o.attach = strings.Join(args, ",")
			}
			if o.password, err = face.Password(passwordFile); err != nil {
				return err
			}
			return Run(cmd.Context(), env, o)
		},
	}
	AddFlags(cmd, &o)
	cmd.Flags().StringVar(&o.Dir, "dir", "", "directory on the server's machine")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "file with the server's password, readable by you alone")
	return cmd
}
