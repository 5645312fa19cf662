package instance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/trust"
	"lathe/internal/workspace"
)

// Decisions keeps what the person decides about repositories: permanent decisions go to
// the store, others apply in this process, to the files as they were shown. It is safe
// for concurrent use.
type Decisions struct {
	options func() Options
	always  bool // every repository is trusted in this process

	mu   sync.Mutex
	once map[string]string // digests by checkout
}

// NewDecisions returns decisions about the directories that the options describe. Their
// store keeps the permanent ones. With always, every repository is trusted while the
// process runs.
func NewDecisions(options func() Options, always bool) *Decisions {
	return &Decisions{options: options, always: always, once: map[string]string{}}
}

// Trusted reports whether a checkout is trusted for this process and has not
// changed since that was decided. It serves as Options.Trusted.
func (d *Decisions) Trusted(root workspace.Root) bool {
	if d.always {
		return true
	}
	c := checkoutOf(root)
	d.mu.Lock()
	digest := d.once[c.Dir]
	d.mu.Unlock()
	if digest == "" {
		return false
	}
	files, err := c.Scan(d.options())
	return err == nil && digestOf(files) == digest
}

// State says what a repository brings and whether it counts.
func (d *Decisions) State(ctx context.Context, dir string) (api.Trust, error) {
	o := d.options()
	c, err := FindCheckout(ctx, dir, o)
	if err != nil {
		return api.Trust{}, err
	}
	judged := c.Judge(o)
	files, err := c.Scan(o)
	if err != nil {
		return api.Trust{}, err
	}
	o.Trusted, o.Trust = nil, nil // what would be left out
	conf, _, err := c.LoadConfig(ctx, o)
	if err != nil {
		return api.Trust{}, err
	}
	out := api.Trust{
		Dir: c.Dir, Given: judged.Given, Stored: judged.Stored, State: judged.words(), Digest: digestOf(files),
		Files: append([]string{}, slices.Sorted(maps.Keys(files))...), LeftOut: []api.LeftOut{},
	}
	for _, ch := range judged.Changed {
		out.Changed = append(out.Changed, api.Steered{Path: ch.Path, What: ch.String()})
	}
	for _, l := range conf.LeftOut {
		shown := api.LeftOut{Path: l.Path, Where: l.Pos.String(), Reason: l.Reason}
		if config.HasEffect(l.Path) {
			out.LeftOut = append(out.LeftOut, shown)
		} else {
			out.Unused = append(out.Unused, shown)
		}
	}
	return out, nil
}

// words say what was judged.
func (t Trust) words() string {
	switch {
	case t.Given && !t.Stored:
		return "trusted until lathe ends"
	case t.Given:
		return "trusted"
	case t.Problem != "":
		return "not trusted: " + t.Problem
	case len(t.Changed) > 0:
		return "not trusted any more"
	}
	return "not trusted"
}

// Decide trusts the files that a digest stands for, permanently or for this process.
// It fails with CodeInvalid if the files have changed since.
func (d *Decisions) Decide(ctx context.Context, dir string, in api.Decision) error {
	o := d.options()
	c, err := FindCheckout(ctx, dir, o)
	if err != nil {
		return err
	}
	files, err := c.Scan(o)
	if err != nil {
		return err
	}
	digest := digestOf(files)
	if in.Digest != digest {
		return lathe.Errorf(lathe.CodeInvalid, "look at them again, then decide", "the files that steer lathe have changed since they were shown")
	}
	if !in.Keep {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.once[c.Dir] = digest
		return nil
	}
	if err := config.Ensure(o.Paths.Data); err != nil {
		return err
	}
	return o.Trust.Add(ctx, trust.Decision{Dir: c.Dir, Project: c.Project, Files: files, Time: o.Now().UTC().Truncate(time.Second)})
}

// Withdraw withdraws what was decided about a directory, which may be gone. What the
// command line or the environment trusts for this process stays trusted, and the answer
// says so.
func (d *Decisions) Withdraw(ctx context.Context, dir string) (api.Withdrawn, error) {
	o := d.options()
	out := api.Withdrawn{Dir: filepath.Clean(dir)}
	c, err := FindCheckout(ctx, dir, o)
	if err == nil {
		out.Dir = c.Dir
	} else if ctx.Err() != nil {
		return out, err
	}
	d.mu.Lock()
	_, out.Found = d.once[out.Dir]
	delete(d.once, out.Dir)
	d.mu.Unlock()
	stored, err := o.Trust.Remove(ctx, out.Dir)
	out.Found = out.Found || stored
	err = errors.Join(err, importAnswers(o.Paths).Forget(ctx, out.Dir))
	if d.always {
		out.Still = "--trust or LATHE_TRUST trusts this repository until lathe ends"
	}
	return out, err
}

// List returns what is trusted permanently, ordered by directory.
func (d *Decisions) List() ([]api.Trusted, error) {
	list, err := d.options().Trust.List()
	out := []api.Trusted{}
	for _, t := range list {
		out = append(out, api.Trusted{Dir: t.Dir, Time: t.Time.UnixMilli(), Files: len(t.Files)})
	}
	return out, err
}

// digestOf returns the digest of files as they are.
func digestOf(files trust.Files) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = io.WriteString(h, fmt.Sprintf("%q %q\n", name, files[name]))
	}
	return hex.EncodeToString(h.Sum(nil))
}
