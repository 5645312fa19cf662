package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func newDB(env *Env) *cobra.Command {
	cmd := &cobra.Command{Use: "db", Short: "Check, back up and query the database"}
	sub := func(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, a *app, args []string) error) {
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd.Context(), env, func(a *app, _ string) error { return run(cmd.Context(), a, args) })
		}})
	}
	sub("path", "Print the database file", noArgs, func(_ context.Context, a *app, _ []string) error {
		_, err := fmt.Fprintln(env.Stdout, a.db.Path())
		return err
	})
	cmd.AddCommand(newDBCheck(env), newDBVacuum(env))
	sub("backup file", "Copy the database, even while it is in use", exactArgs(1, "the file to write"), func(ctx context.Context, a *app, args []string) error {
		path := args[0]
		if !filepath.IsAbs(path) {
			path = filepath.Join(env.Dir, path)
		}
		return a.db.BackupTo(ctx, path)
	})
	sub("query sql", "Run a query that cannot change anything", exactArgs(1, "one SQL query"), func(ctx context.Context, a *app, args []string) error {
		return a.db.Query(ctx, args[0], func(row []any) error {
			cells := make([]string, len(row))
			for i, v := range row {
				if b, ok := v.([]byte); ok {
					v = string(b)
				}
				cells[i] = strings.ReplaceAll(clean(fmt.Sprint(v)), "\t", " ")
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
	return fmt.Sprintf("%d bytes", n)
}
