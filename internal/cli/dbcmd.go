package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/snapshot"
	"lathe/internal/store"
	"lathe/internal/store/local"
)

func newDB(env *Env) *cobra.Command {
	cmd := &cobra.Command{Use: "db", Short: "Look after the database"}
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
	sub("backup file", "Copy the database, also while it is in use", exactArgs(1, "the file to write"), func(ctx context.Context, a *app, args []string) error {
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

func newDoctor(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check lathe's data and what it needs of this machine", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd.Context(), env, func(a *app, dir string) error { return examine(cmd.Context(), env, a, dir) })
		},
	}
}

// examine prints what it finds; what is wrong makes the command fail.
func examine(ctx context.Context, env *Env, a *app, dir string) error {
	wrong := 0
	line := func(name, format string, args ...any) {
		fmt.Fprintf(env.Stdout, "%-12s %s\n", name, clean(fmt.Sprintf(format, args...)))
	}
	bad := func(name string, err error) {
		wrong++
		line(name, "PROBLEM: %v", err)
		if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
			line("", "%s", e.Hint)
		}
	}
	line("version", "lathe %s, %s %s/%s", lathe.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	line("data", "%s", a.paths.Data)
	c, err := a.db.Counts(ctx)
	if err != nil {
		bad("database", err)
	} else {
		line("database", "schema %d, journal %s, %s; %d projects, %d sessions, %d messages, %d parts", c.Schema, a.db.Journal(), byteSize(c.DatabaseBytes), c.Projects, c.Sessions, c.Messages, c.Parts)
	}
	switch found, err := a.db.Check(ctx); {
	case err != nil:
		bad("integrity", err)
	case len(found) > 0:
		wrong += len(found)
		lines, hints := injuries(found)
		for n, what := range lines {
			line([]string{"integrity", ""}[min(n, 1)], "PROBLEM: %s", what)
		}
		for _, hint := range hints {
			line("", "%s", hint)
		}
	default:
		line("integrity", "sound")
	}
	checkUnclosed(ctx, a.store, line)
	spill, _ := snapshot.Size(filepath.Join(a.paths.Data, local.OutputsDir))
	snaps, _ := snapshot.Size(filepath.Join(a.paths.Data, "snapshot"))
	line("files", "%s bodies, %s tool output, %s snapshots, %s backups", byteSize(c.BlobBytes), byteSize(spill), byteSize(snaps), byteSize(c.BackupBytes))
	switch err := writable(a.paths.Data); {
	case a.store.ReadOnly():
		line("writing", "not possible: sessions can be read, nothing can be changed")
	case err != nil:
		bad("writing", err)
	}
	if out, err := exec.CommandContext(ctx, "git", "--version").Output(); err != nil {
		bad("git", snapshot.ErrNoGit)
	} else {
		line("git", "%s", strings.TrimSpace(string(out)))
	}
	line("sandbox", "none: what tools run has your rights; permission rules decide what is run")
	line("undo", "%s", undoState(ctx, a, dir))
	if !a.store.ReadOnly() { // a directory that is opened is noted
		if inst, err := a.svc.Instance(ctx, dir); err != nil {
			bad("directory", err)
		} else {
			for _, u := range inst.Unused() {
				line("not used", "%s", u)
			}
		}
	}
	if wrong > 0 {
		return exitError{ExitFailed, fmt.Errorf("%d problems were found", wrong)}
	}
	return nil
}

// undoState says whether steps in a directory can be undone.
func undoState(ctx context.Context, a *app, dir string) string {
	if a.store.ReadOnly() {
		return "not here: nothing can be run"
	}
	inst, why := a.svc.Instance(ctx, dir)
	if why == nil {
		why = inst.TryUndo(ctx)
	}
	if why != nil {
		return fmt.Sprintf("not here: %v", why)
	}
	return fmt.Sprintf("steps in %s can be undone", dir)
}

func checkUnclosed(ctx context.Context, kept *store.Store, line func(name, format string, args ...any)) {
	ids, err := kept.Unclosed(ctx)
	if err != nil {
		return
	}
	for _, id := range ids {
		if by, held, err := kept.Holder(ctx, id); err == nil && held {
			line("session", "%s is at work in %s", id, by.Name)
			continue
		}
		line("session", "%s was interrupted; its next prompt closes what it left open", id)
	}
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
