package data

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/keyring"
)

// userKeys are the commands about the keys that people have for providers. A person works
// through a server, with a token; whoever has the database names the person.
type userKeys struct {
	*users
	person           string
	attach, passFile string
}

func (u *users) key() *cobra.Command {
	k := &userKeys{users: u}
	cmd := &cobra.Command{
		Use: "key", Short: "A person's own keys for model providers",
		Long: `Key stores, lists and removes what a person has for model providers. Turns that the
person's prompts start use these keys, and nobody else's turns do. They are encrypted
in the database with a secret that it never sees (lathe user key secret), which the
servers that take keys, and the workers that use them, get in LATHE_KEYS_SECRET or in
a file that "keys": {"file": …} in your configuration names.

With --attach it works through a server, for the person whose token is in
LATHE_SERVER_PASSWORD or --password-file; else on the database itself, for --person.`,
		Example: `  LATHE_SERVER_PASSWORD=lathe_… lathe user key add anthropic --attach https://lathe.example.com
  echo $KEY | lathe user key add openai --person ann
  lathe user key list --person ann
  (umask 077; lathe user key secret > ~/.config/lathe/keys-secret)
  lathe user key rotate`,
	}
	f := cmd.PersistentFlags()
	f.StringVar(&k.person, "person", "", "whose keys they are, on the database itself")
	f.StringVar(&k.attach, "attach", "", "work through the server at this address (http://…, or unix:PATH); auto: one that runs here")
	f.StringVar(&k.passFile, "password-file", "", "with --attach: file with your token, readable by you alone")
	cmd.AddCommand(k.add(), k.list(), k.remove(), k.secret(), k.rotate())
	return cmd
}

// do works through the server if one is named, else on the database.
func (k *userKeys) do(ctx context.Context, what, about string, through func(*face.Face) error, here func(*app.App) error) error {
	switch {
	case k.attach != "" && k.person != "":
		return console.Usagef("with --attach it is the person whose token you have; leave out --person")
	case k.attach != "":
		return face.Attached(ctx, k.env, k.attach, k.passFile, through)
	case k.passFile != "":
		return console.Usagef("--password-file is for a server; name it with --attach")
	case k.person == "" && what != "":
		return console.Usagef("name the person with --person, or a server with --attach")
	}
	return k.withApp(ctx, what, about, here)
}

func (k *userKeys) add() *cobra.Command {
	var uncheck bool
	cmd := &cobra.Command{
		Use: "add PROVIDER", Short: "Store a key, read without showing it or from standard input", Args: console.ExactArgs(1, "a provider"),
		Long: `Add stores a key. The key is tried with one small request first, and not stored if the
provider refuses it; if it cannot be tried, within 20 seconds, it is stored.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, id := cmd.Context(), auth.ID(args[0])
			if !auth.ValidID(id) {
				return console.Usagef("provider %q is not a name of small letters, digits and hyphens", id)
			}
			key, err := face.ReadKey(k.env, bufio.NewReader(io.LimitReader(k.env.Stdin, 1<<20)), id)
			if err != nil {
				return err
			}
			return k.do(ctx, "user key add", k.person+": "+id,
				func(f *face.Face) error {
					if _, err := f.OwnKeys(ctx); err != nil { // it would become the server's key
						return err
					}
					return f.StoreKey(ctx, k.env, id, key, !uncheck, func() error { return f.SetOwnKey(ctx, id, key) })
				},
				func(a *app.App) error {
					if err := a.Keys.Ready(); err != nil {
						return err
					}
					return face.With(ctx, k.env, func(f *face.Face, _ string) error {
						return f.StoreKey(ctx, k.env, id, key, !uncheck, func() error { return a.Keys.Set(ctx, k.person, id, auth.API{Key: auth.NewSecret(key)}) })
					})
				})
		},
	}
	cmd.Flags().BoolVar(&uncheck, "no-check", false, "store the key without trying it")
	return cmd
}

func (k *userKeys) remove() *cobra.Command {
	return &cobra.Command{
		Use: "remove PROVIDER", Aliases: []string{"rm"}, Short: "Remove a key", Args: console.ExactArgs(1, "a provider"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, id := cmd.Context(), auth.ID(args[0])
			none := lathe.Errorf(lathe.CodeNotFound, "list them with: lathe user key list", "there is no key for %q", id)
			return k.do(ctx, "user key remove", k.person+": "+id, func(f *face.Face) error {
				all, err := f.OwnKeys(ctx)
				if err == nil && !has(all, id) {
					err = none
				}
				if err == nil {
					err = f.RemoveOwnKey(ctx, id)
				}
				return err
			}, func(a *app.App) error {
				found, err := a.Keys.Remove(ctx, k.person, id)
				if err == nil && !found {
					err = none
				}
				return err
			})
		},
	}
}

func has(all []api.PersonKey, provider string) bool {
	for _, one := range all {
		if one.Provider == provider {
			return true
		}
	}
	return false
}

func (k *userKeys) list() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List for which providers there are keys, and how they end", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return k.do(ctx, "", "", func(f *face.Face) error {
				all, err := f.OwnKeys(ctx)
				if err != nil {
					return err
				}
				return k.print(all)
			}, func(a *app.App) error {
				all, err := a.Keys.List(ctx, k.person)
				if err != nil {
					return err
				}
				return k.print(all)
			})
		},
	}
	k.format.Flag(cmd.Flags())
	return cmd
}

func (k *userKeys) print(all []api.PersonKey) error {
	if k.format.JSON {
		return console.PrintList(k.env, all)
	}
	w := tabwriter.NewWriter(k.env.Stdout, 0, 0, 2, ' ', 0)
	for _, one := range all {
		ends, note := "", ""
		if one.Hint != "" {
			ends = "…" + one.Hint
		}
		if !one.Readable {
			note = "cannot be read by this machine"
			if k.attach != "" {
				note = "cannot be read by this server"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", console.Clean(one.Person), console.Clean(one.Provider), console.Clean(ends), one.Changed.Local().Format("2006-01-02 15:04"), note)
	}
	return w.Flush()
}

func (k *userKeys) secret() *cobra.Command {
	return &cobra.Command{
		Use: "secret", Short: "Print a new secret that seals keys; put it before the old ones", Args: console.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(k.env.Stdout, keyring.NewSecret())
			return err
		},
	}
}

func (k *userKeys) rotate() *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Seal all keys with the newest secret", Args: console.NoArgs,
		Long: `Rotate seals all keys with the first of the secrets that others have sealed. Put a new
secret before the old one on every server and worker first; when this has been done, the
old one is needed no more.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return k.withApp(cmd.Context(), "user key rotate", "", func(a *app.App) error {
				changed, unreadable, err := a.Keys.Rotate(cmd.Context())
				if err != nil {
					return err
				}
				fmt.Fprintf(k.env.Stderr, "lathe: %d sealed with the newest secret\n", changed)
				if unreadable > 0 {
					return lathe.Errorf(lathe.CodeAuth, "their secret is needed too; or their owners store them again", "%d cannot be read with the secrets that are here", unreadable)
				}
				return nil
			})
		},
	}
}
