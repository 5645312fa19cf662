package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/cli/show"
)

// contender is one model that was given the request.
type contender struct {
	Model   string          `json:"model"`
	Session lathe.SessionID `json:"sessionID,omitempty"`
	Result  string          `json:"result"` // done, failed, refused, limit or stopped
	Error   string          `json:"error,omitempty"`
	Work    api.Worktree    `json:"worktree"`
	Cost    lathe.Money     `json:"cost"`
	Unknown bool            `json:"unpriced,omitempty"` // the price is not known, so neither is the cost
	Tokens  int64           `json:"tokens"`
	Millis  int64           `json:"ms"`
	Check   string          `json:"check,omitempty"` // passed, or how it failed
}

// runModels gives the request to several models side by side, each in a worktree of its own,
// and prints a table of what became of it.
func runModels(ctx context.Context, env *console.Env, f *face.Face, o Options, message string, files []lathe.PartBody, limits api.Limits) error {
	rules, err := parseRules(o.allow, o.deny)
	if err != nil {
		return err
	}
	for _, m := range o.side.models { // before any work is done
		if _, err := f.ParseModel(ctx, m); err != nil {
			return err
		}
	}
	all := make([]contender, len(o.side.models))
	prefix := "try " + shortName(message)
	if prefix == "try " {
		prefix += env.Now().UTC().Format("20060102 150405")
	}
	for i, m := range o.side.models {
		all[i].Model = m
		if all[i].Work, err = f.CreateWorktree(ctx, fmt.Sprintf("%s %d", prefix, i+1)); err != nil {
			return errors.Join(err, leave(ctx, env, f, all[:i]))
		}
	}
	near := watch(ctx, env, f, o, message)
	var wg sync.WaitGroup
	var told sync.Mutex
	for i := range all {
		wg.Go(func() {
			c := &all[i]
			p := api.Prompt{Agent: o.Agent, Parts: append(append([]lathe.PartBody{}, files...), &lathe.Text{Text: message}), Limits: limits, Rules: rules, Refs: true}
			c.run(ctx, env, f, o, message, p)
			told.Lock()
			defer told.Unlock()
			if !o.quiet {
				fmt.Fprintf(env.Stderr, "lathe: %s: %s after %s\n", console.Clean(c.Model), c.Result, c.took())
			}
		})
	}
	wg.Wait()
	err = tellContenders(ctx, env, f, o, all)
	near.ended(err)
	return err
}

// leave removes worktrees in which nothing was done.
func leave(ctx context.Context, env *console.Env, f *face.Face, all []contender) error {
	var errs []error
	for _, c := range all {
		errs = append(errs, f.DropWorktree(context.WithoutCancel(ctx), env, c.Work.Name))
	}
	return errors.Join(errs...)
}

func (c *contender) took() time.Duration {
	return (time.Duration(c.Millis) * time.Millisecond).Round(100 * time.Millisecond)
}

// run has the model do the work, then commits and checks it.
func (c *contender) run(ctx context.Context, env *console.Env, f *face.Face, o Options, message string, p api.Prompt) {
	began := env.Now()
	side := *f
	side.Client = f.In(f.PlaceIn(ctx, c.Work))
	quiet := *env
	quiet.Stdout, quiet.Stderr = io.Discard, io.Discard
	o.Model, o.quiet, o.Format = c.Model, true, "default"
	err := c.work(ctx, &quiet, &side, o, message, p)
	c.Millis = env.Now().Sub(began).Milliseconds()
	c.Result = "done"
	if err != nil {
		c.Result, c.Error = "failed", err.Error()
		switch console.ExitCode(err) {
		case console.ExitAborted:
			c.Result = "stopped"
		case console.ExitPermission:
			c.Result = "refused"
		case console.ExitLimit:
			c.Result = "limit"
		}
	}
	save := context.WithoutCancel(ctx)
	w, err := f.CommitWorktree(save, c.Work.Name)
	if err != nil {
		c.Error = errors.Join(errors.New(c.Error), err).Error()
		return
	}
	c.Work = w
	if sess, err := side.Get(save, c.Session); err == nil {
		c.Cost, c.Tokens = sess.Cost, sess.Tokens.Total()
		window, err := side.Window(save, c.Session)
		c.Unknown = err != nil || window.Unpriced
	}
	if o.side.check != "" && ctx.Err() == nil && c.Session != "" {
		c.Check = c.verify(ctx, &side, o.side.check)
	}
}

func (c *contender) work(ctx context.Context, env *console.Env, f *face.Face, o Options, message string, p api.Prompt) error {
	sess, err := f.Create(ctx, api.SessionRequest{Agent: o.Agent})
	if err != nil {
		return err
	}
	c.Session = sess.ID
	v := &view{env: env, c: f, root: sess, created: true, out: o.output(ctx, env, f), opts: o, message: message, answered: map[lathe.AskID]bool{}}
	v.out.Progress = show.NewProgress(v.out)
	defer v.out.Progress.Stop()
	return v.start(ctx, p)
}

// verify runs the person's command where the model worked.
func (c *contender) verify(ctx context.Context, f *face.Face, command string) string {
	id, err := f.Prompt(ctx, c.Session, api.Prompt{Shell: command})
	if err != nil {
		return err.Error()
	}
	out, err := f.Outcome(ctx, c.Session, id)
	if err != nil {
		_ = f.Abort(context.WithoutCancel(ctx), c.Session)
		return "stopped"
	}
	if out.Last != nil {
		for _, part := range out.Last.Parts {
			call, ok := part.Body.(*lathe.ToolCall)
			if !ok {
				continue
			}
			done, ok := call.State.(*lathe.ToolDone)
			if !ok {
				return "could not run"
			}
			if code := fmt.Sprint(done.Metadata["exit"]); code != "0" {
				return "failed (exit " + code + ")"
			}
			return "passed"
		}
	}
	return "could not run"
}

// tellContenders prints what became of all of them, and how to go on.
func tellContenders(ctx context.Context, env *console.Env, f *face.Face, o Options, all []contender) error {
	best, failed := "", 0
	for _, c := range all {
		if c.Result != "done" || c.Check != "" && c.Check != "passed" {
			failed++
		}
		if best == "" && len(c.Work.Changes) > 0 {
			best = c.Work.Name
		}
	}
	if o.Format == "json" {
		if err := console.PrintJSON(env, all); err != nil {
			return err
		}
	} else {
		printContenders(env, o, all)
	}
	if best != "" {
		fmt.Fprintln(env.Stderr, "lathe: look at one with: git diff HEAD lathe/NAME; keep one and remove the others with: lathe worktree keep NAME")
	} else if err := leave(ctx, env, f, all); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return console.ExitError{Code: console.ExitAborted}
	case failed == len(all):
		return console.ExitError{Code: console.ExitFailed}
	}
	return nil
}

func printContenders(env *console.Env, o Options, all []contender) {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	head := "MODEL\tRESULT\tFILES\tLINES\tCOST\tTOKENS\tTIME\tNAME"
	if o.side.check != "" {
		head += "\tCHECK"
	}
	fmt.Fprintln(w, head)
	for _, c := range all {
		added, removed := c.Work.Total()
		cost := c.Cost.String()
		if c.Unknown {
			cost = "not known"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t+%d -%d\t%s\t%d\t%s\t%s", console.Clean(c.Model), c.Result, len(c.Work.Changes), added, removed, cost, c.Tokens, c.took(), console.Clean(c.Work.Name))
		if o.side.check != "" {
			fmt.Fprintf(w, "\t%s", console.OneLine(c.Check, 40))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	for _, c := range all {
		if c.Error != "" {
			fmt.Fprintf(env.Stderr, "lathe: %s: %s\n", console.Clean(c.Model), console.OneLine(strings.TrimSpace(c.Error), 200))
		}
	}
}
