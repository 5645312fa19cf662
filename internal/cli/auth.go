package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/catalog"
	"lathe/internal/provider"
)

func newAuth(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "auth",
		Aliases: []string{"providers"},
		Short:   "Manage the credentials of model providers",
		Long: `Credentials are kept in auth.json in lathe's data directory, readable by you
alone. Keys in the environment (ANTHROPIC_API_KEY and its like) work as well and
need no login. Credentials that OpenCode stored are used too.`,
	}
	cmd.AddCommand(newLogin(env), newLogout(env), newAuthList(env))
	return cmd
}

func newLogin(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "login [provider | address]",
		Short: "Store a key for a provider",
		Long: `Login stores a key. It asks for the key without showing it, or reads it from
standard input when that is not a terminal. With an http(s) address it asks that
host how to log in (/.well-known/opencode).`,
		Example: "  lathe auth login anthropic\n  echo $KEY | lathe auth login openai",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return login(cmd.Context(), env, args)
		},
	}
}

func login(ctx context.Context, env *Env, args []string) error {
	_, _, store, err := places(env)
	if err != nil {
		return err
	}
	id := ""
	if len(args) > 0 {
		id = auth.ID(args[0])
	}
	in := bufio.NewReader(io.LimitReader(env.Stdin, 1<<20))
	if id == "" {
		if id, err = askProvider(env, in); err != nil {
			return err
		}
	}
	if strings.HasPrefix(id, "http://") || strings.HasPrefix(id, "https://") {
		return loginWellKnown(ctx, env, store, id)
	}
	if !validProvider(id) {
		return usageError{fmt.Errorf("provider %q is not a name of small letters, digits and hyphens", id)}
	}
	key, err := readKey(env, in, id)
	if err != nil {
		return err
	}
	if err := store.Set(ctx, id, auth.API{Key: auth.NewSecret(key)}); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: stored a key for %s\n", id)
	if _, known := catalog.Embedded().Info(id); !known {
		fmt.Fprintf(env.Stderr, "lathe: %s is not in the catalogue; define it under \"provider\" in the configuration\n", id)
	}
	return nil
}

func validProvider(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func askProvider(env *Env, in *bufio.Reader) (string, error) {
	if !env.StdinTTY {
		return "", usageError{errors.New("name the provider: lathe auth login PROVIDER")}
	}
	fmt.Fprint(env.Stderr, "Provider (anthropic, openai, google, openrouter …): ")
	line, err := in.ReadString('\n')
	if err != nil && line == "" {
		return "", usageError{errors.New("no provider was given")}
	}
	return auth.ID(strings.TrimSpace(line)), nil
}

// readKey reads a key without showing it on a terminal.
func readKey(env *Env, in *bufio.Reader, id string) (string, error) {
	var line string
	var err error
	if env.StdinTTY {
		fmt.Fprintf(env.Stderr, "Key for %s (not shown): ", id)
		var raw []byte
		raw, err = term.ReadPassword(int(env.Stdin.Fd()))
		fmt.Fprintln(env.Stderr)
		line = string(raw)
	} else {
		line, err = in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	key := strings.TrimSpace(line)
	if key == "" {
		return "", usageError{errors.New("no key was given; nothing was stored")}
	}
	if strings.ContainsAny(key, " \t") || strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return "", usageError{errors.New("that is not a key: it holds spaces or characters that no header can carry; nothing was stored")}
	}
	return key, nil
}

// loginWellKnown asks a host how to log in, and runs the command it names once
// the person agrees.
func loginWellKnown(ctx context.Context, env *Env, store *auth.Store, address string) error {
	var doc struct {
		Auth struct {
			Command []string `json:"command"`
			Env     string   `json:"env"`
		} `json:"auth"`
	}
	if err := fetchJSON(ctx, address+"/.well-known/opencode", &doc); err != nil {
		return err
	}
	if len(doc.Auth.Command) == 0 || doc.Auth.Env == "" {
		return lathe.Errorf(lathe.CodeProvider, "", "%s does not say how to log in", address)
	}
	if !env.StdinTTY {
		return usageError{fmt.Errorf("%s wants to run %q; run the login on a terminal to agree", address, clean(strings.Join(doc.Auth.Command, " ")))}
	}
	fmt.Fprintf(env.Stderr, "%s wants to run this command to log in:\n  %s\nRun it? [y/N] ", address, clean(strings.Join(doc.Auth.Command, " ")))
	line, _ := bufio.NewReader(env.Stdin).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return lathe.Errorf(lathe.CodeAborted, "", "nothing was stored")
	}
	cmd := exec.CommandContext(ctx, doc.Auth.Command[0], doc.Auth.Command[1:]...)
	cmd.Stderr, cmd.Stdin, cmd.Env = env.Stderr, env.Stdin, env.Environ
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run the login command of %s: %w", address, err)
	}
	token := strings.TrimSpace(string(out))
	if token == "" {
		return lathe.Errorf(lathe.CodeProvider, "", "the login command of %s printed no token", address)
	}
	if err := store.Set(ctx, address, auth.WellKnown{Key: doc.Auth.Env, Token: auth.NewSecret(token)}); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: logged in to %s\n", address)
	return nil
}

func fetchJSON(ctx context.Context, url string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return usageError{err}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return lathe.Errorf(lathe.CodeProvider, "check the address and the network", "fetch %s: %v", url, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return lathe.Errorf(lathe.CodeProvider, "check the address", "fetch %s: HTTP status %d", url, res.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(into); err != nil {
		return lathe.Errorf(lathe.CodeProvider, "check the address", "%s is not the document that was expected: %v", url, err)
	}
	return nil
}

func newLogout(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "logout provider", Short: "Remove a stored credential", Args: exactArgs(1, "one provider"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, _, store, err := places(env)
			if err != nil {
				return err
			}
			id := auth.ID(args[0])
			had, err := store.Remove(cmd.Context(), id)
			if err != nil {
				return err
			}
			if !had {
				return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe auth list", "no credential is stored for %q", id)
			}
			fmt.Fprintf(env.Stderr, "lathe: removed the credential of %s\n", id)
			return nil
		},
	}
}

func newAuthList(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List stored credentials and keys in the environment", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, _, store, err := places(env)
			if err != nil {
				return err
			}
			all, err := store.All()
			if err != nil {
				return err
			}
			for _, id := range sortedNames(all) {
				fmt.Fprintf(env.Stdout, "%-24s %s\n", clean(id), kindOf(id, all[id], env.Now()))
			}
			for _, info := range catalog.Embedded().Providers() {
				for _, name := range info.Env {
					if env.Getenv(name) != "" {
						fmt.Fprintf(env.Stdout, "%-24s %s in the environment\n", info.ID, name)
					}
				}
			}
			return nil
		},
	}
}

func kindOf(id string, e auth.Entry, now time.Time) string {
	switch e := e.(type) {
	case auth.API:
		return "key"
	case auth.OAuth:
		if why := provider.LoginProblem(id, e, now); why != "" {
			return "login (oauth), cannot be used: " + why
		}
		return "login (oauth)"
	case auth.WellKnown:
		return "organisation"
	}
	return "of a kind lathe does not know"
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
