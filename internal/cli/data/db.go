// Package data has the commands about the database itself, and the doctor.
package data

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/say"
	"lathe/internal/store/sqlite"
)

// NewDB is lathe db.
func NewDB(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{Use: "db", Short: "Check, back up, move and query the database"}
	sub := func(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, db *sqlite.DB, args []string) error) {
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			return withFiles(cmd.Context(), env, func(_ *app.App, db *sqlite.DB) error { return run(cmd.Context(), db, args) })
		}})
	}
	sub("path", "Print the database file", console.NoArgs, func(_ context.Context, db *sqlite.DB, _ []string) error {
		_, err := fmt.Fprintln(env.Stdout, db.Path())
		return err
	})
	cmd.AddCommand(newDBCheck(env), newDBVacuum(env), newDBMove(env), newDBRetention(env))
	sub("backup file", "Copy the database, even while it is in use", console.ExactArgs(1, "the file to write"), func(ctx context.Context, db *sqlite.DB, args []string) error {
		path := args[0]
		if !filepath.IsAbs(path) {
			path = filepath.Join(env.Dir, path)
		}
		return db.BackupTo(ctx, path)
	})
	sub("query sql", "Run a query that cannot change anything", console.ExactArgs(1, "one SQL query"), func(ctx context.Context, db *sqlite.DB, args []string) error {
		return db.Query(ctx, args[0], func(row []any) error {
			cells := make([]string, len(row))
			for i, v := range row {
				if b, ok := v.([]byte); ok {
					v = string(b)
				}
				cells[i] = strings.ReplaceAll(console.Clean(fmt.Sprint(v)), "\t", " ")
			}
			_, err := fmt.Fprintln(env.Stdout, strings.Join(cells, "\t"))
			return err
		})
	})
	return cmd
}

func byteSize(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return say.Plural(n, "byte")
}

// withApp runs fn with everything open, for commands about the database itself.
func withApp(ctx context.Context, env *console.Env, fn func(a *app.App, dir string) error) (err error) {
	dir, err := console.WorkDir(env, "")
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, env, app.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a, dir)
}

// withFiles is withApp for commands about SQLite's files.
func withFiles(ctx context.Context, env *console.Env, fn func(*app.App, *sqlite.DB) error) error {
	return withApp(ctx, env, func(a *app.App, _ string) error {
		db, err := a.DB.InFiles()
		if err != nil {
			return err
		}
		return fn(a, db)
	})
}
