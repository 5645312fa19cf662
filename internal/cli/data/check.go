package data

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/snapshot"
	"lathe/internal/store"
	"lathe/internal/store/sqlite"
)

// shownInjuries is how many are printed one by one.
const shownInjuries = 20

func newDBCheck(env *console.Env) *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use: "check", Short: "Read everything in the store and report damage", Args: console.NoArgs,
		Long: "Check reads the whole database and every file that it refers to, compares them with their checksums, and reports what is\n" +
			"damaged. --repair makes a new database from everything that can be read; notes replace the rest. What was there before\n" +
			"is kept in the data directory, below damaged. No other lathe may use the database meanwhile.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if repair {
				if err := repairDB(cmd.Context(), env); err != nil {
					return err
				}
			}
			return withFiles(cmd.Context(), env, func(_ *app.App, db *sqlite.DB) error {
				found, err := db.Check(cmd.Context())
				if err != nil {
					return err
				}
				if len(found) == 0 {
					fmt.Fprintln(env.Stderr, "lathe: the database is sound")
					return nil
				}
				lines, hints := injuries(found)
				for _, line := range lines {
					fmt.Fprintln(env.Stdout, console.Clean(line))
				}
				for _, hint := range hints {
					fmt.Fprintln(env.Stderr, console.Clean("lathe: hint: "+hint))
				}
				return console.ExitError{Code: console.ExitFailed, Err: fmt.Errorf("%d damaged places were found", len(found))}
			})
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "keep what can be read, and replace the rest with notes")
	return cmd
}

// injuries are lines for people: what is damaged, and what to do.
func injuries(found []sqlite.Injury) (lines, hints []string) {
	for n, i := range found {
		if n < shownInjuries {
			where := ""
			if i.Session != "" {
				where = "session " + string(i.Session) + ": "
			}
			lines = append(lines, where+i.What)
		}
		if i.Hint != "" && !slices.Contains(hints, i.Hint) {
			hints = append(hints, i.Hint)
		}
	}
	if more := len(found) - shownInjuries; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines, hints
}

func repairDB(ctx context.Context, env *console.Env) error {
	paths, _, _, err := app.Places(env)
	if err != nil {
		return err
	}
	if err := config.Ensure(paths.Data); err != nil {
		return err
	}
	out, err := sqlite.Repair(ctx, sqlite.Options{Dir: paths.Data, Now: env.Now})
	if err != nil {
		return err
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(env.Stderr, console.Clean("lathe: "+fmt.Sprintf(format, args...)))
	}
	if out.Backup != "" {
		say("nothing of the database could be read; it is the backup %s now", out.Backup)
	} else {
		say("kept %s", counted(out.Kept))
		if len(out.Lost) > 0 {
			say("lost %s", counted(out.Lost))
		}
		if out.Noted > 0 {
			say("notes stand in %d places for what could not be read", out.Noted)
		}
		if out.Made > 0 {
			say("%d sessions and messages were made for what had lost its own", out.Made)
		}
	}
	say("what was there before is in %s", out.Copy)
	return nil
}

// counted lists numbers of rows, the largest first.
func counted(rows map[string]int) string {
	names := slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b)) })
	var words []string
	for _, name := range names {
		if rows[name] > 0 {
			words = append(words, fmt.Sprintf("%d rows of %s", rows[name], strings.ReplaceAll(name, "_", " ")))
		}
	}
	return cmp.Or(strings.Join(words, ", "), "nothing")
}

func newDBVacuum(env *console.Env) *cobra.Command {
	var strays bool
	cmd := &cobra.Command{
		Use: "vacuum", Short: "Return unused space to the file system, and drop snapshots of directories that no longer exist", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withFiles(cmd.Context(), env, func(a *app.App, db *sqlite.DB) error { return vacuum(cmd.Context(), env, a, db, strays) })
		},
	}
	cmd.Flags().BoolVar(&strays, "strays", false, "also remove long texts that only a lost database can have referred to")
	return cmd
}

func vacuum(ctx context.Context, env *console.Env, a *app.App, db *sqlite.DB, strays bool) error {
	before, err := db.Counts(ctx)
	if err != nil {
		return err
	}
	swept, err := a.Store.Sweep(ctx)
	if err == nil && strays {
		var more store.Swept
		more, err = db.SweepStrays(ctx)
		swept.Files, swept.Bytes = swept.Files+more.Files, swept.Bytes+more.Bytes
	}
	if err == nil {
		err = db.Vacuum(ctx)
	}
	if err != nil {
		return err
	}
	after, err := db.Counts(ctx)
	fmt.Fprintf(env.Stderr, "lathe: the database has %s, had %s; %d files of %s were removed\n",
		byteSize(after.DatabaseBytes), byteSize(before.DatabaseBytes), swept.Files, byteSize(swept.Bytes))
	if err != nil {
		return err
	}
	gone, err := snapshot.Collect(a.Paths.Data)
	if gone.Stores > 0 {
		fmt.Fprintf(env.Stderr, "lathe: snapshots of %d directories that are gone were removed, %s\n", gone.Stores, byteSize(gone.Bytes))
	}
	return err
}
