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
	"lathe/internal/say"
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
				return console.ExitError{Code: console.ExitFailed, Err: fmt.Errorf("damaged: %s", say.Plural(len(found), "place"))}
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
	tell := func(format string, args ...any) {
		fmt.Fprintln(env.Stderr, console.Clean("lathe: "+fmt.Sprintf(format, args...)))
	}
	if out.Backup != "" {
		tell("nothing of the database could be read; it is the backup %s now", out.Backup)
	} else {
		tell("kept %s", counted(out.Kept))
		if len(out.Lost) > 0 {
			tell("lost %s", counted(out.Lost))
		}
		if out.Noted > 0 {
			tell("notes stand for what could not be read, in %s", say.Plural(out.Noted, "place"))
		}
		if out.Made > 0 {
			tell("sessions and messages made anew for what had lost its own: %d", out.Made)
		}
	}
	tell("what was there before is in %s", out.Copy)
	return nil
}

// counted lists numbers of rows, the largest first.
func counted(rows map[string]int) string {
	names := slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b)) })
	var words []string
	for _, name := range names {
		if rows[name] > 0 {
			words = append(words, fmt.Sprintf("%s of %s", say.Plural(rows[name], "row"), strings.ReplaceAll(name, "_", " ")))
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
	fmt.Fprintf(env.Stderr, "lathe: the database has %s, had %s; removed: %s of %s\n",
		byteSize(after.DatabaseBytes), byteSize(before.DatabaseBytes), say.Plural(swept.Files, "file"), byteSize(swept.Bytes))
	if err != nil {
		return err
	}
	gone, err := snapshot.Collect(a.Paths.Data)
	if gone.Stores > 0 {
		fmt.Fprintf(env.Stderr, "lathe: removed snapshots of directories that are gone: %d, %s\n", gone.Stores, byteSize(gone.Bytes))
	}
	return err
}
