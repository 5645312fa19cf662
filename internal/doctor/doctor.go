// Package doctor looks at what lathe needs to work: its data, the machine, and what one
// directory is equipped with. A command and a page of the screen print what it finds.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/instance"
	"lathe/internal/sandbox"
	"lathe/internal/say"
	"lathe/internal/session"
	"lathe/internal/snapshot"
	"lathe/internal/store"
)

// Doctor looks at an engine. All fields are needed.
type Doctor struct {
	Service *session.Service
	Store   *store.Store
	Auth    *auth.Store
	Data    string // the directory of lathe's data
}

// Look returns what is found, for work in a directory. In a large one it takes a moment,
// since a snapshot is taken. Where the data cannot be written the directory is not looked
// at: to open it is noted.
func (d Doctor) Look(ctx context.Context, dir string) []api.Check {
	out := append([]api.Check{ok("data", "%s", d.Data)}, d.unclosed(ctx)...)
	out = append(out, d.credentials(), git(ctx))
	if d.Store.ReadOnly() {
		return append(out, note("writing", "not possible: sessions can be read, nothing can be changed"), note("undo", "not here: nothing can be run"))
	}
	if err := writable(d.Data); err != nil {
		out = append(out, Broken("writing", err))
	}
	inst, err := d.Service.Instance(ctx, dir)
	if err != nil {
		return append(out, note("undo", "not here: %v", err), Broken("directory", err))
	}
	return append(out, directory(ctx, inst, dir)...)
}

func ok(name, format string, args ...any) api.Check {
	return api.Check{Name: name, OK: true, Detail: fmt.Sprintf(format, args...)}
}

// note is a check of something that a person may want to change.
func note(name, format string, args ...any) api.Check {
	return api.Check{Name: name, Detail: fmt.Sprintf(format, args...)}
}

// Broken is a check of something that does not work, with what helps if the error says so.
func Broken(name string, err error) api.Check {
	c := api.Check{Name: name, Broken: true, Detail: err.Error()}
	if e, ok := errors.AsType[*lathe.Error](err); ok {
		c.Hint = e.Hint
	}
	return c
}

// unclosed tells of sessions that are at work in a process or were left by one.
func (d Doctor) unclosed(ctx context.Context) (out []api.Check) {
	ids, err := d.Store.Unclosed(ctx)
	if err != nil {
		return []api.Check{Broken("session", err)}
	}
	for _, id := range ids {
		if by, held, err := d.Store.Holder(ctx, id); err == nil && held {
			out = append(out, ok("session", "%s is at work in %s", id, by.Name))
			continue
		}
		out = append(out, note("session", "%s was interrupted; its next prompt closes what it left open", id))
	}
	return out
}

func (d Doctor) credentials() api.Check {
	if _, err := d.Auth.All(); err != nil {
		return Broken("credentials", err)
	}
	return ok("credentials", "auth.json can be read")
}

func git(ctx context.Context) api.Check {
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		return Broken("git", snapshot.ErrNoGit)
	}
	return ok("git", "%s", strings.TrimSpace(string(out)))
}

// paths returns where caches are, each place once: several programs may share one.
func paths(list []sandbox.Cache) (out []string) {
	for _, cache := range list {
		if !slices.Contains(out, cache.Path) {
			out = append(out, cache.Path)
		}
	}
	return out
}

// confinement tells how far commands are confined, and which caches they may write.
func confinement(c *instance.Confinement) []api.Check {
	level := ok("sandbox", "%s", c.Words())
	level.OK = c.Level() == sandbox.Full
	caches := paths(c.Caches())
	if len(caches) == 0 || c.Level() == sandbox.RulesOnly {
		return []api.Check{level}
	}
	return []api.Check{level, ok("caches", "commands may write %s", strings.Join(caches, ", "))}
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// directory looks at what work in a directory depends on.
func directory(ctx context.Context, inst *instance.Instance, dir string) []api.Check {
	out := []api.Check{undo(ctx, inst, dir), model(ctx, inst), repository(inst), configuration(inst)}
	out = append(out, confinement(inst.Confinement)...)
	if free := inst.Config.UnconfinedNames(); len(free) > 0 && !inst.Confinement.Off() {
		out = append(out, note("not confined", "%s (\"sandbox\" in your configuration)", strings.Join(free, ", ")))
	}
	if held := inst.Shell.HeldBack; len(held) > 0 {
		out = append(out, ok("environment", "commands are not given %s; \"shell\": {\"env\": […]} in your configuration lets them have one", strings.Join(held, ", ")))
	}
	for _, line := range inst.Unused() {
		out = append(out, note("not used", "%s", line))
	}
	return append(out, foreignHooks(inst)...)
}

func undo(ctx context.Context, inst *instance.Instance, dir string) api.Check {
	if err := inst.TryUndo(ctx); err != nil {
		return note("undo", "not here: %v", err)
	}
	return ok("undo", "steps in %s can be undone", dir)
}

func model(ctx context.Context, inst *instance.Instance) api.Check {
	ref, why, err := inst.Models.Default(ctx)
	switch {
	case err != nil:
		return note("model", "%v", err)
	case ref.Provider == "offline":
		return note("model", "none is connected, so the offline guide answers; /connect connects one, and so does: lathe auth login")
	}
	return ok("model", "%s: %s", ref, why)
}

func repository(inst *instance.Instance) api.Check {
	if inst.Root.VCS == "" {
		return ok("repository", "not a git repository; undo works all the same")
	}
	return ok("repository", "git, at %s", inst.Root.Worktree)
}

func configuration(inst *instance.Instance) api.Check {
	complaints := len(inst.Complaints())
	c := ok("configuration", "%s", read(len(inst.Config.Sources), complaints))
	c.OK = complaints == 0
	return c
}

// read says how many files a configuration is made of, and what is wrong with them.
func read(files, complaints int) string {
	wrong := "no complaints"
	if complaints > 0 {
		wrong = say.Plural(complaints, "complaint")
	}
	return say.Plural(files, "file") + ", " + wrong
}
