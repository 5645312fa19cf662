package data

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/doctor"
	"lathe/internal/say"
	"lathe/internal/snapshot"
	"lathe/internal/store/local"
)

// NewDoctor is lathe doctor.
func NewDoctor(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check lathe's data and what it needs from this machine", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd.Context(), env, func(a *app.App, dir string) error {
				found := checkDatabase(cmd.Context(), a)
				look := doctor.Doctor{Service: a.Service, Store: a.Store, Auth: a.Auth, Data: a.Paths.Data}
				return printChecks(env, append(found, look.Look(cmd.Context(), dir)...))
			})
		},
	}
}

// printChecks prints what was found; what is broken makes the command fail.
func printChecks(env *console.Env, found []api.Check) error {
	line := func(name, text string) { fmt.Fprintf(env.Stdout, "%-13s %s\n", name, console.Clean(text)) }
	line("version", fmt.Sprintf("lathe %s, %s %s/%s", lathe.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH))
	broken, last := 0, ""
	for _, c := range found {
		name := c.Name
		if c.Broken {
			broken++
			c.Detail = "PROBLEM: " + c.Detail
			if name == last {
				name = ""
			}
		}
		last = c.Name
		line(name, c.Detail)
		if c.Hint != "" {
			line("", c.Hint)
		}
	}
	if broken > 0 {
		return console.ExitError{Code: console.ExitFailed, Err: errors.New(say.Plural(broken, "problem") + " found")}
	}
	return nil
}

// checkDatabase reads the whole database. It concerns SQLite's own files, which no other
// face needs.
func checkDatabase(ctx context.Context, a *app.App) (out []api.Check) {
	if a.DB.Shared != nil {
		return []api.Check{checkShared(ctx, a)}
	}
	c, err := a.DB.Files.Counts(ctx)
	if err != nil {
		out = append(out, doctor.Broken("database", err))
	} else {
		out = append(out, api.Check{Name: "database", OK: true, Detail: fmt.Sprintf("schema %d, journal %s, %s; %s, %s, %s, %s",
			c.Schema, a.DB.Files.Journal(), byteSize(c.DatabaseBytes), amount(c.Projects, "project"), amount(c.Sessions, "session"), amount(c.Messages, "message"), amount(c.Parts, "part"))})
	}
	out = append(out, checkIntegrity(ctx, a)...)
	spill, _ := snapshot.Size(filepath.Join(a.Paths.Data, local.OutputsDir))
	snaps, _ := snapshot.Size(filepath.Join(a.Paths.Data, "snapshot"))
	return append(out, api.Check{Name: "files", OK: true, Detail: fmt.Sprintf("%s bodies, %s tool output, %s snapshots, %s backups",
		byteSize(c.BlobBytes), byteSize(spill), byteSize(snaps), byteSize(c.BackupBytes))})
}

// amount says how many there are of something.
func amount[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func checkIntegrity(ctx context.Context, a *app.App) (out []api.Check) {
	found, err := a.DB.Files.Check(ctx)
	if err != nil {
		return []api.Check{doctor.Broken("integrity", err)}
	}
	if len(found) == 0 {
		return []api.Check{{Name: "integrity", OK: true, Detail: "sound"}}
	}
	lines, hints := injuries(found)
	for _, what := range lines {
		out = append(out, api.Check{Name: "integrity", Broken: true, Detail: what})
	}
	for _, hint := range hints {
		out = append(out, api.Check{Name: "", Detail: hint})
	}
	return out
}

// checkShared tells of a PostgreSQL, and whether it can be written.
func checkShared(ctx context.Context, a *app.App) api.Check {
	if err := a.Store.Probe(ctx); err != nil {
		return doctor.Broken("database", err)
	}
	c, err := a.DB.Shared.Counts(ctx)
	if err != nil {
		return doctor.Broken("database", err)
	}
	return api.Check{Name: "database", OK: true, Detail: fmt.Sprintf("PostgreSQL %s, %s, schema %d, %s; %s, %s, %s, %s",
		c.Server, a.DB.Shared.Where(), c.Schema, byteSize(c.Bytes), amount(c.Projects, "project"), amount(c.Sessions, "session"), amount(c.Messages, "message"), amount(c.Parts, "part"))}
}
