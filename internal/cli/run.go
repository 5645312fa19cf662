package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/session"
	"lathe/internal/sqlite"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

// runOptions are the settings of `lathe run`.
type runOptions struct {
	message    []string
	model      string
	variant    string
	agent      string
	cont       bool
	session    string
	files      []string
	title      string
	titleSet   bool
	format     string
	dir        string
	attach     string
	permission string
	allow      []string
	deny       []string
	maxSteps   int
	maxCost    string
	maxTime    time.Duration
	thinking   bool
	quiet      bool
	trust      bool
	command    string
	shell      bool
	share      bool
}

func newRun(env *Env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [message …]",
		Short: "Send one request and work until it is done",
		Long: `Run sends a request to the agent and shows what it does until the work is done.

The message is the arguments, standard input, or both (the arguments first). The
final answer goes to standard output, everything else to standard error, so the
answer can be piped on.

Permission: --permission says who answers when a tool needs permission.
  ask    you are asked on the terminal (the default where there is one)
  deny   it is refused, and the run stops (the default without a terminal)
  allow  it is given, except where a rule denies it
--allow and --deny add rules for this run: PERMISSION or PERMISSION:PATTERN.

Exit codes: 0 done; 1 the model or provider failed; 2 wrong usage or
configuration; 3 a permission was refused; 4 a limit was reached; 5 the session
is busy in another process; 130 aborted. Ctrl-C aborts cleanly, twice kills.`,
		Example: `  lathe run "fix the failing test in ./parser"
  lathe run -c "now document it"
  lathe run -m anthropic/claude-sonnet-4-5 -f design.png "build this page"
  git diff | lathe run "review this change"
  lathe run --permission deny --allow "bash:go test *" "run the tests"
  lathe run --command review main
  lathe run "explain @parser.go#10-40"
  lathe run --format json "list the TODOs" | jq .`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.message = args
			o.titleSet = cmd.Flags().Changed("title")
			return run(cmd.Context(), env, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.model, "model", "m", "", "model as provider/model")
	f.StringVar(&o.variant, "variant", "", "variant of the model, usually a reasoning effort")
	f.StringVar(&o.agent, "agent", "", "agent to use")
	f.BoolVarP(&o.cont, "continue", "c", false, "continue the newest session of this directory")
	f.StringVarP(&o.session, "session", "s", "", "continue the session with this id")
	f.StringVar(&o.command, "command", "", "run this command with the message as its arguments; see: lathe commands")
	f.BoolVar(&o.shell, "shell", false, "run the message as a shell command of yours; the model sees it with the next prompt")
	f.BoolVar(&o.share, "share", false, "share the session on the service that enterprise.url names, and print where")
	f.StringArrayVarP(&o.files, "file", "f", nil, "attach a file, FILE:5-20 (lines) or a directory (repeatable)")
	f.StringVar(&o.title, "title", "", "title of a new session; empty for one from the message")
	f.StringVar(&o.format, "format", "default", "output: default or json (one event a line)")
	f.StringVar(&o.dir, "dir", "", "directory to work in")
	f.StringVar(&o.attach, "attach", "", "run in the server at this address (http://…, or unix:PATH)")
	f.StringVar(&o.permission, "permission", "", "who answers permission asks: ask, allow or deny")
	f.StringArrayVar(&o.allow, "allow", nil, "allow PERMISSION[:PATTERN] in this run (repeatable)")
	f.StringArrayVar(&o.deny, "deny", nil, "deny PERMISSION[:PATTERN] in this run (repeatable)")
	f.BoolVar(&o.trust, "trust", false, "trust this repository's configuration in this run")
	f.IntVar(&o.maxSteps, "max-steps", 0, "stop after this many model requests; 0: no limit")
	f.StringVar(&o.maxCost, "max-cost", "", "stop when the run has cost this many dollars")
	f.DurationVar(&o.maxTime, "max-time", 0, "stop after this time, such as 10m; 0: no limit")
	f.BoolVar(&o.thinking, "thinking", false, "show the model's reasoning")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print the answer only")
	return cmd
}

func run(ctx context.Context, env *Env, o runOptions) error {
	limits, err := o.check(env)
	if err != nil {
		return err
	}
	dir, err := workDir(env, o.dir)
	if err != nil {
		return err
	}
	message, err := o.readMessage(ctx, env)
	if err != nil {
		return err
	}
	files, err := fileParts(dir, o.files)
	if err != nil {
		return err
	}
	if o.attach != "" {
		return runAttached(ctx, env, o, dir, message, files)
	}
	app, err := openApp(ctx, env, appOptions{dir: dir, trust: o.trust})
	if err != nil {
		return err
	}
	err = runIn(ctx, env, app, o, dir, message, files, limits)
	return errors.Join(err, app.Close())
}

// check validates what can be validated before anything is opened.
func (o *runOptions) check(env *Env) (turn.Limits, error) {
	lim := turn.Limits{Steps: o.maxSteps, Time: o.maxTime}
	if o.format != "default" && o.format != "json" {
		return lim, usageError{fmt.Errorf("--format %q is neither default nor json", o.format)}
	}
	if o.share && o.attach != "" {
		return lim, usageError{errors.New("--share and --attach exclude each other; set share to auto where the server runs")}
	}
	if o.cont && o.session != "" {
		return lim, usageError{errors.New("--continue and --session exclude each other")}
	}
	switch o.permission {
	case "":
		o.permission = "deny"
		if env.StdinTTY && env.StderrTTY && o.format != "json" {
			o.permission = "ask"
		}
	case "allow", "deny":
	case "ask":
		if !env.StdinTTY || !env.StderrTTY {
			return lim, usageError{errors.New("--permission ask needs a terminal; use allow or deny, or --allow rules")}
		}
	default:
		return lim, usageError{fmt.Errorf("--permission %q is none of ask, allow, deny", o.permission)}
	}
	if o.maxSteps < 0 {
		return lim, usageError{fmt.Errorf("--max-steps %d is less than one step", o.maxSteps)}
	}
	if o.maxTime < 0 {
		return lim, usageError{fmt.Errorf("--max-time %s is over before it begins", o.maxTime)}
	}
	if o.maxCost != "" {
		p, err := lathe.ParsePrice(o.maxCost)
		if err != nil {
			return lim, usageError{fmt.Errorf("--max-cost: %w", err)}
		}
		lim.Cost = lathe.Money(p) * 1e6
	}
	if _, err := parseRules(o.allow, o.deny); err != nil {
		return lim, err
	}
	return lim, nil
}

// parseRules turns --allow and --deny into rules; denials win.
func parseRules(allow, deny []string) ([]lathe.Rule, error) {
	var rules []lathe.Rule
	add := func(specs []string, action lathe.Action) error {
		for _, s := range specs {
			perm, pattern, ok := strings.Cut(s, ":")
			if !ok {
				pattern = "*"
			}
			if perm == "" || pattern == "" {
				return usageError{fmt.Errorf("rule %q is not PERMISSION or PERMISSION:PATTERN", s)}
			}
			rules = append(rules, lathe.Rule{Permission: perm, Pattern: pattern, Action: action})
		}
		return nil
	}
	if err := add(allow, lathe.Allow); err != nil {
		return nil, err
	}
	return rules, add(deny, lathe.Deny)
}

// workDir returns the directory to work in, absolute and existing.
func workDir(env *Env, dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	if !filepath.IsAbs(dir) {
		return "", lathe.Errorf(lathe.CodeInvalid, "change to a directory that exists", "the current directory is gone")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", usageError{fmt.Errorf("directory %q: %w", dir, errors.Unwrap(err))}
	}
	if !info.IsDir() {
		return "", usageError{fmt.Errorf("%q is not a directory", dir)}
	}
	return workspace.Resolve(dir)
}

func runIn(ctx context.Context, env *Env, app *app, o runOptions, dir, message string, files []lathe.PartBody, limits turn.Limits) error {
	rules, err := parseRules(o.allow, o.deny)
	if err != nil {
		return err
	}
	agent, warning, err := leader(ctx, app, dir, o.agent)
	if err != nil {
		return err
	}
	o.agent = agent
	sess, created, err := pickSession(ctx, app, o, dir, message)
	if err != nil {
		return err
	}
	p := session.Prompt{Agent: o.agent, Limits: limits, Rules: rules}
	p.Parts = append(slices.Clone(files), &lathe.Text{Text: message})
	v := &view{env: env, app: app, root: sess, out: newOutput(env, o), opts: o, message: message, attached: files}
	if warning != "" {
		v.out.warning(warning)
	}
	v.share(ctx)
	err = v.start(ctx, p)
	if err != nil && created && !v.accepted {
		// A session that never got a message is of no use to anyone.
		err = errors.Join(err, app.svc.Delete(context.WithoutCancel(ctx), sess.ID))
	}
	return err
}

// pickSession returns the session to work in, a new one unless told otherwise.
func pickSession(ctx context.Context, app *app, o runOptions, dir, message string) (sess lathe.Session, created bool, err error) {
	switch {
	case o.session != "":
		sess, err = app.svc.Get(ctx, lathe.SessionID(o.session))
		return sess, false, err
	case o.cont:
		list, err := app.svc.List(ctx, sqlite.SessionFilter{Directory: dir, Roots: true, Limit: 1})
		if err != nil {
			return sess, false, err
		}
		if len(list) > 0 {
			return list[0], false, nil
		}
	}
	c := session.Create{Directory: dir, Title: o.title, Agent: o.agent}
	if o.titleSet && o.title == "" {
		c.Title = oneLine(message, 51)
	}
	sess, err = app.svc.Create(ctx, c)
	return sess, err == nil, err
}

// view shows one run and answers its asks.
type view struct {
	env  *Env
	app  *app
	root lathe.Session
	out  *output
	opts runOptions

	message  string // what was typed, or the arguments of the command
	attached []lathe.PartBody
	accepted bool // the prompt is stored
	shared   bool // where it is shared was told
	refused  []string
	started  time.Time
	lines    chan string // what the person types; nil until it is needed
}

// start resolves the model and runs the prompt.
func (v *view) start(ctx context.Context, p session.Prompt) (err error) {
	if v.opts.model != "" {
		if p.Model, err = v.app.parseModel(ctx, v.root.Directory, v.opts.model); err != nil {
			return err
		}
	}
	p.Model.Variant = v.opts.variant
	v.app.warn(ctx, v.root.Directory, v.out)
	return v.run(ctx, p)
}

func (v *view) run(ctx context.Context, p session.Prompt) error {
	v.started = v.env.Now()
	family := v.relatives(ctx)
	sub := v.app.svc.Subscribe(context.WithoutCancel(ctx), bus.Filter{})
	defer sub.Close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r, err := v.send(ctx, p, v.message)
	if err != nil {
		return err
	}
	v.accepted = true
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), errInterrupted) {
			v.out.notice("aborting … (press Ctrl-C again to kill)")
		}
		_ = v.app.svc.Abort(context.WithoutCancel(ctx), v.root.ID)
	})
	defer stop()
	for e, err := range sub.All() {
		if err != nil {
			return fmt.Errorf("follow the session: %w", err)
		}
		if c, ok := e.Event.(lathe.SessionCreated); ok && family[c.Session.ParentID] {
			family[c.Session.ID] = true
		}
		if !family[bus.SessionOf(e.Event)] {
			continue
		}
		if v.show(ctx, e) {
			break
		}
	}
	outcome, err := r.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	return v.finish(outcome)
}

// show handles one event; it reports whether the run is over.
func (v *view) show(ctx context.Context, e lathe.Envelope) (done bool) {
	switch ev := e.Event.(type) {
	case lathe.PermissionAsked:
		v.answer(ctx, ev.Ask)
	case lathe.QuestionAsked:
		v.question(ctx, ev.Ask)
	case lathe.SessionUpdated:
		v.tellShared(ev.Session)
	case lathe.SessionStatus:
		if _, idle := ev.Status.(lathe.Idle); idle && ev.SessionID == v.root.ID {
			return true
		}
	}
	v.out.event(e, v.root.ID)
	return false
}

// finish prints the end of a run and maps its outcome to an exit code.
func (v *view) finish(out turn.Outcome) error {
	v.shellOutput(out)
	v.out.end(out, v.env.Now().Sub(v.started))
	code := ExitDone
	switch out.Failure.(type) {
	case nil:
		if out.Blocked || len(v.refused) > 0 {
			code = ExitPermission
		}
	case *lathe.AbortedFailure:
		code = ExitAborted
	case *lathe.LimitFailure, *lathe.OutputLengthFailure:
		code = ExitLimit
	default:
		code = ExitFailed
	}
	if code == ExitPermission {
		v.out.refusals(v.refused)
	}
	if code == ExitDone {
		return nil
	}
	return exitError{code: code}
}
