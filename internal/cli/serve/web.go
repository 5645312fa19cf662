package serve

import (
	"fmt"
	"net"
	"os/exec"

	"github.com/spf13/cobra"

	"lathe/internal/cli/console"
	"lathe/internal/shell"
)

// NewWeb is lathe web.
func NewWeb(env *console.Env) *cobra.Command {
	o := serveOptions{port: -1}
	var stay bool
	cmd := &cobra.Command{
		Use: "web", Short: "Open lathe in a browser", Args: console.NoArgs,
		Long: `Web serves like lathe serve and opens its page in your browser: sessions as they
run, what they ask, what they changed, and undo. Everything comes from this program;
nothing is fetched from elsewhere. An interrupt (Ctrl-C) stops the server.

lathe serve has the same page at "/". With a password the page asks for it once and
keeps you logged in for 30 days; it shows the sessions of every directory then, and
otherwise those of the directory that the server was started in. To use it from
another machine or a phone, put a TLS proxy in front (a path prefix is fine) and name
its host with --host, or use an SSH tunnel.

The flags are those of lathe serve.`,
		Example: `  lathe web
  lathe web --no-open --port 8080
  lathe web --password-file ~/.lathe-password`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.open = func(url string) {
				fmt.Fprintf(env.Stderr, "lathe: the page is at %s\n", url)
				if stay {
					return
				}
				if err := openBrowser(url); err != nil {
					fmt.Fprintf(env.Stderr, "lathe: no browser could be opened (%v); open the address yourself\n", err)
				}
			}
			return serve(cmd.Context(), env, o, cmd.Flags().Changed)
		},
	}
	addServeFlags(cmd, &o)
	cmd.Flags().BoolVar(&stay, "no-open", false, "only print the address")
	return cmd
}

// openPage tells where the page is once the server listens.
func (o *serveOptions) openPage(listeners []net.Listener) {
	if o.open == nil {
		return
	}
	for _, l := range listeners {
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			host, port := "localhost", tcp.Port // a name, so that the browser counts the page as secure
			if !tcp.IP.IsLoopback() && !tcp.IP.IsUnspecified() {
				host = tcp.IP.String()
			}
			o.open("http://" + net.JoinHostPort(host, fmt.Sprint(port)) + "/")
			return
		}
	}
}

// openBrowser has the person's browser open an address. It does not wait for it.
func openBrowser(url string) error {
	args := shell.Opener(url)
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
