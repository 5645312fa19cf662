package instance

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/config"
	"lathe/internal/say"
	"lathe/internal/trust"
	"lathe/internal/workspace"
)

// Trust says whether a repository may steer lathe.
type Trust struct {
	Given   bool
	Stored  bool           // by a decision of the person, not for this process alone
	Changed []trust.Change // why a stored decision does not hold
	Problem string         // why it could not be judged
}

// Checkout is what trust is about.
type Checkout struct {
	Root    workspace.Root
	Project string
	Dir     string // the key of decisions: the checkout's top, outside git the directory
}

// FindCheckout finds the checkout and project of a directory.
func FindCheckout(ctx context.Context, dir string, o Options) (Checkout, error) {
	root, err := workspace.Find(ctx, dir)
	if err != nil {
		return Checkout{}, err
	}
	c := checkoutOf(root)
	c.Project, err = workspace.ProjectID(ctx, root, filepath.Join(o.Paths.Cache, "project"))
	if err != nil {
		o.Log.Warn("the project could not be identified", "err", err)
		c.Project = workspace.GlobalID
	}
	return c, nil
}

func checkoutOf(root workspace.Root) Checkout {
	c := Checkout{Root: root, Dir: root.TopLevel}
	if root.VCS == "" {
		c.Dir = root.Dir
	}
	return c
}

// Scan hashes what could steer lathe in the checkout.
func (c Checkout) Scan(o Options) (trust.Files, error) {
	files, dirs := config.Steering(o.configFor(c.Root))
	return trust.Scan(c.Dir, files, dirs)
}

func (o Options) configFor(root workspace.Root) config.Options {
	return config.Options{
		Dir: root.Dir, Worktree: root.TopLevel, Paths: o.Paths, Getenv: o.Getenv, HTTP: o.HTTP, Auth: o.Auth,
	}
}

// Judge decides whether the checkout is trusted: for this process, or by a
// stored decision that still applies.
func (c Checkout) Judge(o Options) Trust {
	if o.Trusted != nil && o.Trusted(c.Root) {
		return Trust{Given: true}
	}
	if o.Trust == nil {
		return Trust{}
	}
	d, found, err := o.Trust.Get(c.Dir)
	if err == nil && !found && c.madeHere(o.Paths) { // what is trusted in the checkout is trusted in its worktrees
		d, found, err = o.Trust.Get(c.Root.Worktree)
	}
	if err != nil {
		return Trust{Problem: err.Error()}
	}
	if !found {
		return Trust{}
	}
	now, err := c.Scan(o)
	if err != nil {
		return Trust{Problem: err.Error()}
	}
	changed := d.Check(c.Project, now)
	return Trust{Given: len(changed) == 0, Stored: len(changed) == 0, Changed: changed}
}

// madeHere reports whether lathe made the checkout, as a worktree of another.
func (c Checkout) madeHere(p config.Paths) bool {
	made, err := workspace.Resolve(filepath.Join(p.Data, "worktree"))
	return err == nil && c.Root.GitDir != c.Root.CommonDir && workspace.Within(made, c.Dir)
}

// LoadConfig loads the configuration of the checkout, the repository's part in
// full only if it is trusted. What was judged is what is loaded: if a file
// changes in between, the trust is lost.
func (c Checkout) LoadConfig(ctx context.Context, o Options) (*config.Config, Trust, error) {
	t := c.Judge(o)
	opts := o.configFor(c.Root)
	opts.Trusted = t.Given
	conf, err := config.Load(ctx, opts)
	if err != nil || !t.Stored {
		return conf, t, err
	}
	if again := c.Judge(o); !again.Given {
		opts.Trusted = false
		conf, err = config.Load(ctx, opts)
		return conf, again, err
	}
	return conf, t, nil
}

// Notice says in one line what an untrusted repository could not do, how to see
// it and how to trust it; empty if there is nothing to say.
func (p *place) Notice() string { return p.Trust.notice(p.Root, WithEffect(p.Config.LeftOut)) }

// WithEffect returns the settings that would take effect with trust.
func WithEffect(left []config.LeftOut) (out []config.LeftOut) {
	for _, l := range left {
		if config.HasEffect(l.Path) {
			out = append(out, l)
		}
	}
	return out
}

// Unused says what was found for the directory but is not used, one line for
// each kind: settings that this build does not act on, and logins.
func (i *Instance) Unused() []string {
	out := config.UnusedLines(i.Config.Unused())
	out = append(out, i.PluginProblems()...)
	for _, l := range i.Models.UnusableLogins() {
		out = append(out, fmt.Sprintf("the login of %s cannot be used: %s (/connect, or lathe auth login %s)", l.Name, l.Why, l.Provider))
	}
	return out
}

func (t Trust) notice(root workspace.Root, left []config.LeftOut) string {
	place := "this repository"
	if root.VCS == "" {
		place = "this directory"
	}
	const how = "see them with: lathe trust; if you know them, allow them with: lathe trust add, or --trust for one run"
	switch n := len(left); {
	case t.Given:
		return ""
	case t.Problem != "":
		return place + " counts as untrusted: " + t.Problem
	case len(t.Changed) > 0:
		return fmt.Sprintf("%s is no longer trusted as it is now: %s; %s", place, changes(t.Changed), how)
	case n == 0:
		return ""
	default:
		return fmt.Sprintf("%s is not trusted, so %s of its configuration %s no effect (%s in %s); %s",
			place, say.Plural(n, "setting"), verb(n), settings(left), filesOf(root, left), how)
	}
}

func settings(left []config.LeftOut) string {
	return fewOf(left, func(l config.LeftOut) string { return l.Path })
}

// filesOf names the files that hold the settings.
func filesOf(root workspace.Root, left []config.LeftOut) string {
	var names []string
	for _, l := range left {
		if name := root.Name(l.Pos.File); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fewOf(names, func(s string) string { return s })
}

func changes(list []trust.Change) string { return fewOf(list, trust.Change.String) }

// fewOf names the first few of a list and says how many more there are.
func fewOf[T any](list []T, name func(T) string) string {
	const shown = 3
	var out []string
	for _, v := range list {
		if len(out) == shown {
			out = append(out, fmt.Sprintf("and %d more", len(list)-shown))
			break
		}
		out = append(out, name(v))
	}
	return strings.Join(out, ", ")
}

func verb(n int) string {
	if n == 1 {
		return "takes"
	}
	return "take"
}
