package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/trust"
	"lathe/internal/workspace"
)

// trusting takes the person's decisions about repositories: those for good go to
// the store, the others hold in this process, for the files as they were shown.
type trusting struct {
	app *app

	mu   sync.Mutex
	once map[string]string // digests by checkout
}

// trusts reports whether a checkout was trusted for this process and is still what
// it was then.
func (t *trusting) trusts(root workspace.Root) bool {
	c := instance.Checkout{Root: root, Dir: root.TopLevel}
	if root.VCS == "" {
		c.Dir = root.Dir
	}
	t.mu.Lock()
	digest := t.once[c.Dir]
	t.mu.Unlock()
	if digest == "" {
		return false
	}
	files, err := c.Scan(t.app.instanceOptions(nil))
	return err == nil && digestOf(files) == digest
}

// State tells what a repository brings and whether it counts.
func (t *trusting) State(ctx context.Context, dir string) (api.Trust, error) {
	o := t.app.instanceOptions(nil)
	c, err := instance.FindCheckout(ctx, dir, o)
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
		Dir: c.Dir, Given: judged.Given, State: trustWords(judged), Files: slices.Sorted(maps.Keys(files)), Digest: digestOf(files),
		LeftOut: []api.LeftOut{},
	}
	out.Stored = judged.Stored
	for _, ch := range judged.Changed {
		out.Changed = append(out.Changed, api.Steered{Path: ch.Path, What: ch.String()})
	}
	if judged.Given && !judged.Stored {
		out.State = "trusted until lathe ends"
	}
	for _, l := range instance.WithEffect(conf.LeftOut) {
		out.LeftOut = append(out.LeftOut, api.LeftOut{Path: l.Path, Where: l.Pos.String(), Reason: l.Reason})
	}
	if out.Files == nil {
		out.Files = []string{}
	}
	return out, nil
}

// Decide trusts the files that a digest stands for.
func (t *trusting) Decide(ctx context.Context, dir string, d api.Decision) error {
	o := t.app.instanceOptions(nil)
	c, err := instance.FindCheckout(ctx, dir, o)
	if err != nil {
		return err
	}
	files, err := c.Scan(o)
	if err != nil {
		return err
	}
	digest := digestOf(files)
	if d.Digest != digest {
		return lathe.Errorf(lathe.CodeInvalid, "look at them again, then decide", "the files that steer lathe have changed since they were shown")
	}
	if !d.Keep {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.once == nil {
			t.once = map[string]string{}
		}
		t.once[c.Dir] = digest
		return nil
	}
	if err := config.Ensure(o.Paths.Data); err != nil {
		return err
	}
	return o.Trust.Add(ctx, trust.Decision{Dir: c.Dir, Project: c.Project, Files: files, Time: o.Now().UTC().Truncate(time.Second)})
}

// Withdraw takes back what was decided about a directory. What the command line or
// the environment trusts for this process stays trusted.
func (t *trusting) Withdraw(ctx context.Context, dir string) error {
	o := t.app.instanceOptions(nil)
	c, err := instance.FindCheckout(ctx, dir, o)
	if err != nil {
		return err
	}
	t.mu.Lock()
	delete(t.once, c.Dir)
	t.mu.Unlock()
	if _, err := o.Trust.Remove(ctx, c.Dir); err != nil {
		return err
	}
	if t.app.flags.Trust || t.app.trust {
		return lathe.Errorf(lathe.CodeInvalid, "start lathe without it", "--trust or LATHE_TRUST trusts this repository until lathe ends")
	}
	return nil
}

// digestOf returns what stands for files as they are.
func digestOf(files trust.Files) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = io.WriteString(h, fmt.Sprintf("%q %q\n", name, files[name]))
	}
	return hex.EncodeToString(h.Sum(nil))
}
