package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/people"
	"lathe/internal/store"
)

// NewUser is lathe user.
func NewUser(env *console.Env) *cobra.Command {
	u := &users{env: env}
	cmd := &cobra.Command{
		Use: "user", Short: "Say who may use a team's servers, and give them tokens",
		Long: `User keeps the people who may use the servers that share a PostgreSQL (LATHE_STORE,
or "server": {"store": …} in your configuration). As long as there are none,
nobody is asked for a token. Once there is one, a server that starts asks every caller
for a token, as a bearer token or in place of the password. The server's own password,
if it has one, counts as an owner's.

Roles: a reader sees sessions, an author also starts sessions and works in those that
are their own or their project's, an owner does everything. With --project a person
uses these directories and what is below them, and no others.

Whoever can run these commands can read and write the whole database.`,
		Example: `  lathe user add ann --role author --expires 90d
  lathe user add bot --role reader --project /srv/app
  LATHE_SERVER_PASSWORD=lathe_… lathe attach https://lathe.example.com
  lathe user revoke tok_abc
  lathe audit --person ann`,
	}
	cmd.AddCommand(u.add(), u.list(), u.token(), u.revoke(), u.remove(), u.give(), u.key())
	return cmd
}

// users are the people of a store.
type users struct {
	env      *console.Env
	role     string
	projects []string
	expires  string
	format   console.ListFormat
}

// with runs fn on the store that servers share, and records what was done.
func (u *users) with(ctx context.Context, what, about string, fn func(s *store.Store) error) error {
	return u.withApp(ctx, what, about, func(a *app.App) error { return fn(a.Store) })
}

// withApp is with for what needs more than the store.
func (u *users) withApp(ctx context.Context, what, about string, fn func(a *app.App) error) error {
	address, err := app.StoreOf(ctx, u.env, "")
	if err != nil {
		return err
	}
	if address == "" {
		return lathe.Errorf(lathe.CodeInvalid, "set LATHE_STORE, as postgres://user@host/database; one machine needs only a password: lathe serve --password-file",
			"people, with their tokens and keys, are kept in the database that servers share, and none is named")
	}
	dir, err := console.WorkDir(u.env, "")
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, u.env, app.Options{Dir: dir, Store: address})
	if err != nil {
		return err
	}
	if what != "" { // first: nothing is done that the audit does not know
		err = a.Store.Audit.Record(ctx, store.Change{From: here(u.env), What: what, About: about})
	}
	if err == nil {
		err = fn(a)
	}
	return errors.Join(err, a.Close())
}

// here names the command line for the audit.
func here(env *console.Env) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("command line of %s on %s", cmp.Or(env.Getenv("USER"), env.Getenv("LOGNAME"), fmt.Sprint("user ", os.Getuid())), host)
}

func (u *users) add() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Add a person, or change one, and print a token", Args: console.ExactArgs(1, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := store.Person{Name: args[0], Role: u.role}
			switch {
			case !people.IsName(p.Name):
				return lathe.Errorf(lathe.CodeInvalid, "use letters, digits and . _ @ + -", "%q is no name", p.Name)
			case !people.IsRole(p.Role):
				return console.Usagef("--role is reader, author or owner, not %q", p.Role)
			}
			for _, dir := range u.projects {
				if !filepath.IsAbs(dir) {
					return console.Usagef("--project %q is not an absolute path, as it is on the machine with the files", dir)
				}
				p.Projects = append(p.Projects, filepath.Clean(dir))
			}
			return u.with(cmd.Context(), "user add", fmt.Sprintf("%s: %s %s", p.Name, p.Role, strings.Join(p.Projects, ", ")), func(s *store.Store) error {
				known, err := s.People.People(cmd.Context())
				if err == nil {
					err = s.People.PutPerson(cmd.Context(), p)
				}
				if err != nil {
					return err
				}
				for _, k := range known {
					if k.Name == p.Name {
						fmt.Fprintf(u.env.Stderr, "lathe: %s was there and is changed; tokens stay as they are. For another one: lathe user token %s\n", p.Name, p.Name)
						return nil
					}
				}
				if len(known) == 0 {
					fmt.Fprintln(u.env.Stderr, "lathe: servers that run already ask for tokens once they are started again")
				}
				return u.newToken(cmd.Context(), s, p.Name, "")
			})
		},
	}
	cmd.Flags().StringVar(&u.role, "role", people.Author, "reader, author or owner")
	cmd.Flags().StringArrayVar(&u.projects, "project", nil, "directory that the person may use, with all below it (repeatable; default: all)")
	cmd.Flags().StringVar(&u.expires, "expires", "", "how long the token is valid, such as 90d or 12h (default: until it is revoked)")
	return cmd
}

// newToken makes a token and prints it, once.
func (u *users) newToken(ctx context.Context, s *store.Store, person, role string) error {
	t := store.Token{Person: person, Role: role}
	life, err := lifetime(u.expires)
	if err != nil {
		return err
	}
	if life > 0 {
		t.Expires = u.env.Now().Add(life)
	}
	text, id, hash := people.NewToken()
	t.ID = id
	err = s.People.AddToken(ctx, t, hash)
	if errors.Is(err, store.ErrNotFound) {
		return noPerson(err, person)
	}
	if err != nil {
		e := lathe.Errorf(lathe.CodeOf(err), "if lathe user list shows it once the database is back, end it with lathe user revoke; then make another with lathe user token",
			"token %s of %s was not made for certain, and is not shown", id, person)
		e.Cause = err
		return e
	}
	fmt.Fprintf(u.env.Stderr, "lathe: token %s of %s; it is not shown again\n", id, person)
	_, err = fmt.Fprintln(u.env.Stdout, text)
	return err
}

// lifetime reads a duration that may be in days.
func lifetime(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	days, inDays := strings.CutSuffix(text, "d")
	d, err := time.ParseDuration(text)
	if inDays {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 || d > 100*365*24*time.Hour {
		return 0, console.Usagef("--expires %q is no time such as 90d or 12h", text)
	}
	return d, nil
}

func noPerson(err error, name string) error {
	if errors.Is(err, store.ErrNotFound) {
		return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe user list", "there is no person %q", name)
	}
	return err
}

func (u *users) list() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List people, their tokens, and web pages that are logged in", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return u.with(cmd.Context(), "", "", func(s *store.Store) error {
				all, err := s.People.People(cmd.Context())
				if err != nil {
					return err
				}
				tokens, err := s.People.Tokens(cmd.Context(), "")
				if err != nil {
					return err
				}
				logins, err := s.Logins.Logins(cmd.Context(), "")
				if err != nil {
					return err
				}
				return u.print(all, tokens, logins)
			})
		},
	}
	u.format.Flag(cmd.Flags())
	return cmd
}

func (u *users) print(all []store.Person, tokens []store.Token, logins []store.Login) error {
	if u.format.JSON {
		pages := make([]pageLogin, len(logins))
		for i, l := range logins {
			pages[i] = pageLogin{l.ID, l.Person, l.Created, l.Expires, l.Used}
		}
		return console.PrintJSON(u.env, map[string]any{"people": all, "tokens": tokens, "logins": pages})
	}
	w := tabwriter.NewWriter(u.env.Stdout, 0, 0, 2, ' ', 0)
	for _, p := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, p.Role, console.Clean(cmp.Or(strings.Join(p.Projects, ", "), "all directories")))
		for _, t := range tokens {
			if t.Person == p.Name {
				fmt.Fprintf(w, "  %s\t%s\t%s\n", t.ID, cmp.Or(t.Role, p.Role), state(t, u.env.Now()))
			}
		}
		printLogins(w, logins, p.Name)
	}
	if slices.ContainsFunc(logins, func(l store.Login) bool { return l.Person == "" }) {
		fmt.Fprintln(w, "with the server's own password")
		printLogins(w, logins, "")
	}
	return w.Flush()
}

// pageLogin is what is shown of a login.
type pageLogin struct {
	ID      string
	Person  string
	Created time.Time
	Expires time.Time
	Used    time.Time
}

// printLogins shows the web pages of a person that are logged in.
func printLogins(w io.Writer, logins []store.Login, person string) {
	for _, l := range logins {
		if l.Person == person {
			fmt.Fprintf(w, "  %s\tweb page\t%s\n", l.ID, usage(l.Used, l.Expires))
		}
	}
}

// state says whether a token is valid, and when it was used.
func state(t store.Token, now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked " + minute(t.Revoked)
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return "expired " + minute(t.Expires)
	}
	return usage(t.Used, t.Expires)
}

func minute(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }

// usage says when something was used and until when it may be.
func usage(used, until time.Time) string {
	text := "never used"
	if !used.IsZero() {
		text = "used " + minute(used)
	}
	if !until.IsZero() {
		text += ", until " + minute(until)
	}
	return text
}

func (u *users) token() *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use: "token NAME", Short: "Print another token of a person", Args: console.ExactArgs(1, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if role != "" && !people.IsRole(role) {
				return console.Usagef("--role is reader, author or owner, not %q", role)
			}
			return u.with(cmd.Context(), "user token", args[0], func(s *store.Store) error { return u.newToken(cmd.Context(), s, args[0], role) })
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "the most that the token allows (default: the role of the person)")
	cmd.Flags().StringVar(&u.expires, "expires", "", "how long the token is valid, such as 90d or 12h (default: until it is revoked)")
	return cmd
}

func (u *users) revoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke TOKEN", Short: "End a token or the login of a web page, named as lathe user list does", Args: console.ExactArgs(1, "a token's identifier"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return u.with(cmd.Context(), "user revoke", args[0], func(s *store.Store) error {
				revoke := s.People.RevokeToken
				if strings.HasPrefix(args[0], "login_") {
					revoke = s.Logins.EndLogin
				}
				err := revoke(cmd.Context(), args[0])
				if errors.Is(err, store.ErrNotFound) {
					return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe user list", "there is no such token or login")
				}
				return err
			})
		},
	}
}

func (u *users) remove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a person and revoke all tokens; sessions stay", Args: console.ExactArgs(1, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return u.with(cmd.Context(), "user remove", args[0], func(s *store.Store) error {
				if err := s.People.RemovePerson(cmd.Context(), args[0]); err != nil {
					return noPerson(err, args[0])
				}
				left, err := s.People.People(cmd.Context())
				if err == nil && len(left) == 0 {
					fmt.Fprintln(u.env.Stderr, "lathe: nobody is left; servers that are started from now on ask for no tokens")
				}
				return err
			})
		},
	}
}

func (u *users) give() *cobra.Command {
	return &cobra.Command{
		Use: "give SESSION [NAME]", Short: "Give a session to a person, or to everybody who may use its project", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, name := lathe.SessionID(args[0]), ""
			if len(args) == 2 {
				name = args[1]
			}
			return u.with(cmd.Context(), "user give", fmt.Sprintf("%s to %s", id, cmp.Or(name, "its project")), func(s *store.Store) error {
				if _, err := s.Session(cmd.Context(), id); errors.Is(err, store.ErrNotFound) {
					return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe session list --all", "there is no session %q", id)
				} else if err != nil {
					return err
				}
				all, err := s.People.People(cmd.Context())
				if err != nil {
					return err
				}
				for _, p := range all {
					if p.Name == name {
						return s.Belongings.Claim(cmd.Context(), id, name)
					}
				}
				if name != "" {
					return noPerson(store.ErrNotFound, name)
				}
				return s.Belongings.Claim(cmd.Context(), id, "")
			})
		},
	}
}

// NewAudit is lathe audit.
func NewAudit(env *console.Env) *cobra.Command {
	u := &users{env: env}
	var f store.ChangeFilter
	var session, since string
	cmd := &cobra.Command{
		Use: "audit", Short: "Show who changed what on a team's servers", Args: console.NoArgs,
		Long: `Audit lists what people changed, or were refused, on the servers that share a
PostgreSQL, the newest first: when, who, with which token, from where, and what. Each
entry was stored before it was done.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Session = lathe.SessionID(session)
			if since != "" {
				d, err := lifetime(since)
				if err != nil {
					return console.Usagef("--since %q is no time such as 7d or 2h", since)
				}
				f.Since = env.Now().Add(-d)
			}
			return u.with(cmd.Context(), "", "", func(s *store.Store) error {
				all, err := s.Audit.Changes(cmd.Context(), f)
				if err != nil {
					return err
				}
				return u.printChanges(all)
			})
		},
	}
	u.format.Flag(cmd.Flags())
	cmd.Flags().StringVar(&f.Person, "person", "", "what this person did")
	cmd.Flags().StringVar(&session, "session", "", "what was done to this session")
	cmd.Flags().StringVar(&since, "since", "", "how far to look back, such as 7d or 2h (default: all)")
	cmd.Flags().IntVarP(&f.Limit, "limit", "n", 100, "how many entries to show at most")
	return cmd
}

func (u *users) printChanges(all []store.Change) error {
	if u.format.JSON {
		return console.PrintList(u.env, all)
	}
	w := tabwriter.NewWriter(u.env.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range all {
		refused := ""
		if c.Refused {
			refused = "refused"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", c.At.Local().Format("2006-01-02 15:04:05"), console.Clean(cmp.Or(c.Person, "-")), console.Clean(c.From),
			console.Clean(c.What), console.Clean(c.About), refused)
	}
	return w.Flush()
}
