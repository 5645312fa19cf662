package manage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// NewAuth is lathe auth.
func NewAuth(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "auth",
		Aliases: []string{"providers"},
		Short:   "Manage the credentials of model providers",
		Long: `Credentials are kept in auth.json in lathe's data directory, readable by you
alone. Keys in the environment (such as ANTHROPIC_API_KEY) work as well and
need no login. Credentials that OpenCode stored are used too.`,
	}
	cmd.AddCommand(newLogin(env), newLogout(env), newAuthList(env))
	return cmd
}

func newLogin(env *console.Env) *cobra.Command {
	var method string
	var uncheck bool
	cmd := &cobra.Command{
		Use:   "login [provider | address]",
		Short: "Store a key for a provider",
		Long: `Login stores a key. It asks for the key without showing it, or reads it from
standard input when that is not a terminal. The key is tried with one small request
first, and not stored if the provider refuses it; if it cannot be tried, within 20
seconds, it is stored. With an http(s) address it asks that host how to log in
(/.well-known/opencode). If a plugin adds ways to log in to the provider, it offers
them.`,
		Example: "  lathe auth login anthropic\n  echo $KEY | lathe auth login openai --no-check",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := ""
			if len(args) > 0 {
				id = auth.ID(args[0])
			}
			return login(cmd.Context(), env, id, method, !uncheck)
		},
	}
	cmd.Flags().BoolVar(&uncheck, "no-check", false, "store the key without trying it")
	cmd.Flags().StringVarP(&method, "method", "m", "", "the way to log in, by its number or label, if plugins add any")
	return cmd
}

// login asks for the key before it opens anything, so that what cannot be one is reported at
// once.
func login(ctx context.Context, env *console.Env, id, method string, check bool) (err error) {
	in := bufio.NewReader(io.LimitReader(env.Stdin, 1<<20))
	if id == "" {
		if id, err = askProvider(env, in); err != nil {
			return err
		}
	}
	if strings.HasPrefix(id, "http://") || strings.HasPrefix(id, "https://") {
		return loginWellKnown(ctx, env, id)
	}
	if !auth.ValidID(id) {
		return console.Usagef("provider %q is not a name of small letters, digits and hyphens", id)
	}
	if err := loginByPlugin(ctx, env, in, id, method); !errors.Is(err, errByKey) {
		return err
	}
	key, err := face.ReadKey(env, in, id)
	if err != nil {
		return err
	}
	return face.With(ctx, env, func(f *face.Face, _ string) error {
		return f.StoreKey(ctx, env, id, key, check, func() error { return f.SetKey(ctx, id, key) })
	})
}

func askProvider(env *console.Env, in *bufio.Reader) (string, error) {
	if !env.StdinTTY {
		return "", console.Usagef("name the provider: lathe auth login PROVIDER")
	}
	fmt.Fprint(env.Stderr, "Provider (anthropic, openai, google, openrouter …): ")
	line, err := in.ReadString('\n')
	if err != nil && line == "" {
		return "", console.Usagef("no provider was given")
	}
	return auth.ID(strings.TrimSpace(line)), nil
}

// loginWellKnown asks a host how to log in, and runs the command it names once
// the person agrees.
func loginWellKnown(ctx context.Context, env *console.Env, address string) error {
	how, err := auth.Discover(ctx, http.DefaultClient, address)
	if err != nil {
		return err
	}
	if !env.StdinTTY {
		return console.Usagef("%s wants to run %q; run the login on a terminal to agree", address, console.Clean(strings.Join(how.Command, " ")))
	}
	fmt.Fprintf(env.Stderr, "%s wants to run this command to log in:\n  %s\nRun it? [y/N] ", address, console.Clean(strings.Join(how.Command, " ")))
	line, _ := bufio.NewReader(env.Stdin).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return lathe.Errorf(lathe.CodeAborted, "", "nothing was stored")
	}
	cmd := exec.CommandContext(ctx, how.Command[0], how.Command[1:]...)
	cmd.Stderr, cmd.Stdin, cmd.Env = console.Raw(env.Stderr), env.Stdin, env.Environ
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run the login command of %s: %w", address, err)
	}
	token := strings.TrimSpace(string(out))
	if token == "" {
		return lathe.Errorf(lathe.CodeProvider, "", "the login command of %s printed no token", address)
	}
	return face.With(ctx, env, func(f *face.Face, _ string) error {
		if err := f.SetToken(ctx, address, how.Env, token); err != nil {
			return err
		}
		fmt.Fprintf(env.Stderr, "lathe: logged in to %s\n", address)
		return nil
	})
}

func newLogout(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "logout provider", Short: "Remove a stored credential", Args: console.ExactArgs(1, "one provider"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return logout(cmd.Context(), env, f, auth.ID(args[0])) })
		},
	}
}

func logout(ctx context.Context, env *console.Env, f *face.Face, id string) error {
	have, err := f.Credentials(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(have.Stored, func(c api.Credential) bool { return c.Provider == id }) {
		return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe auth list", "no credential is stored for %q", id)
	}
	if err := f.RemoveKey(ctx, id); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: removed the credential of %s\n", id)
	return nil
}

func newAuthList(env *console.Env) *cobra.Command {
	var format console.ListFormat
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List stored credentials and keys in the environment", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return listCredentials(cmd.Context(), env, f, format) })
		},
	}
	format.Flag(cmd.Flags())
	return cmd
}

func listCredentials(ctx context.Context, env *console.Env, f *face.Face, format console.ListFormat) error {
	have, err := f.Credentials(ctx)
	if err != nil {
		return err
	}
	if format.JSON {
		return console.PrintJSON(env, have)
	}
	for _, c := range have.Stored {
		fmt.Fprintf(env.Stdout, "%-24s %s\n", console.Clean(c.Provider), c.Kind)
	}
	for _, k := range have.Environment {
		fmt.Fprintf(env.Stdout, "%-24s %s in the environment\n", console.Clean(k.Provider), console.Clean(k.Variable))
	}
	return nil
}
