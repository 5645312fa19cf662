// Package run is lathe run: it sends one request and works until it is done.
//
// run.go has the flags and begins, view.go follows the session and answers what it asks
// (ask.go, question.go, refusal.go), and worktree.go and models.go do the work beside the
// files of the directory.
package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/cli/screen"
	"lathe/internal/cli/show"
	"lathe/internal/client"
	"lathe/internal/job"
	"lathe/internal/tui/theme"
)

// Options are the settings of `lathe run`: one field for each flag.
type Options struct {
	Message    []string
	Model      string
	variant    string
	Agent      string
	Cont       bool
	Session    string
	fork       bool
	files      []string
	title      string
	titleSet   bool
	Format     string
	Dir        string
	attach     string
	passFile   string
	password   string
	permission string
	onRefusal  string
	allow      []string
	deny       []string
	maxSteps   int
	maxCost    string
	maxTime    time.Duration
	thinking   bool
	quiet      bool
	raw        bool
	Trust      bool
	command    string
	shell      bool
	share      bool
	keepJobs   bool
	side       sideOptions
}

// New is lathe run.
func New(env *console.Env) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "run [message …]",
		Short: "Send one request and work until it is done",
		Long: `Run sends a request to the agent and shows what it does until the work is done.

The message is the arguments, standard input, or both (the arguments first). The
final answer goes to standard output, everything else to standard error, so the
answer can be piped.

Permission: --permission says who answers when a tool needs permission.
  ask    you are asked on the terminal (the default if there is one)
  deny   it is refused (the default without a terminal)
  allow  it is given, except where a rule denies it
--on-refusal says what happens when it is not given:
  continue  the model is told and goes on without (the default)
  fail      the same, but the exit code is 3 whatever the run achieves
  stop      the run ends with exit code 3
LATHE_ON_REFUSAL sets another default.
--allow and --deny add rules for this run: PERMISSION or PERMISSION:PATTERN.

Exit codes: 0 done; 1 the model or provider failed; 2 wrong usage or configuration; 3
a permission was refused and the work not finished; 4 a limit was reached; 5 the
session is busy in another process; 130 aborted; 141 nobody reads the output. Ctrl-C
aborts cleanly, twice kills.`,
		Example: `  lathe run "fix the failing test in ./parser"
  lathe run -c "now document it"
  lathe run -c --fork "try it another way"
  lathe run -m anthropic/claude-sonnet-4-5 -f design.png "build this page"
  git diff | lathe run "review this change"
  lathe run --permission deny --allow "bash:go test *" "run the tests"
  lathe run --command review main
  lathe run "explain @parser.go#10-40"
  lathe run --worktree "try another parser"
  lathe run --models anthropic/claude-sonnet-4-5,openai/gpt-5 --check "go test ./..." "fix it"
  lathe run --format json "list the TODOs" | jq .`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Message = args
			o.titleSet = cmd.Flags().Changed("title")
			return Run(cmd.Context(), env, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Model, "model", "m", "", "model as provider/model")
	f.StringVar(&o.variant, "variant", "", "variant of the model, usually a reasoning effort")
	f.StringVar(&o.Agent, "agent", "", "agent to use")
	f.BoolVarP(&o.Cont, "continue", "c", false, "continue the last session used in this directory")
	f.StringVarP(&o.Session, "session", "s", "", "continue the session with this id")
	f.BoolVar(&o.fork, "fork", false, "leave that session as it is, and work in a fork of it")
	f.StringVar(&o.command, "command", "", "run this command with the message as its arguments; see: lathe commands")
	f.BoolVar(&o.shell, "shell", false, "run the message as a shell command of yours; the model sees it with the next prompt")
	f.BoolVar(&o.share, "share", false, "share the session on the service configured as enterprise.url, and print its address")
	f.StringArrayVarP(&o.files, "file", "f", nil, "attach a file, FILE:5-20 (lines) or a directory (repeatable)")
	f.StringVar(&o.title, "title", "", "title of a new session; by default made from the message")
	f.StringVar(&o.Format, "format", "default", "output: default or json (one event a line)")
	f.StringVar(&o.Dir, "dir", "", "directory to work in")
	f.StringVar(&o.attach, "attach", "", "run in the server at this address (http://…, or unix:PATH); auto: one that runs here")
	f.StringVar(&o.passFile, "password-file", "", "with --attach: file with the server's password, readable by you alone")
	f.StringVar(&o.permission, "permission", "", "who answers permission asks: ask, allow or deny")
	f.StringVar(&o.onRefusal, "on-refusal", "", "what happens after a refused permission: continue, fail or stop")
	f.StringArrayVar(&o.allow, "allow", nil, "allow PERMISSION[:PATTERN] in this run (repeatable)")
	f.StringArrayVar(&o.deny, "deny", nil, "deny PERMISSION[:PATTERN] in this run (repeatable)")
	f.BoolVar(&o.Trust, "trust", false, "trust this repository's configuration in this run")
	f.IntVar(&o.maxSteps, "max-steps", 0, "stop after this many model requests, and one for an answer; 0: no limit")
	f.StringVar(&o.maxCost, "max-cost", "", "stop when the run has cost this many dollars")
	f.DurationVar(&o.maxTime, "max-time", 0, "stop after this time, such as 10m; 0: no limit")
	f.BoolVar(&o.keepJobs, "keep-jobs", false, "leave running jobs to you at the end, instead of stopping them (on Linux); see: lathe job")
	f.BoolVar(&o.thinking, "thinking", false, "show the model's reasoning")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print the answer only")
	f.BoolVar(&o.raw, "raw", false, "print the answer as the model wrote it: not rendered on a terminal, and with control characters in a pipe or file")
	o.side.flags(cmd)
	return cmd
}

// Run sends the request and shows what comes of it. The error carries the exit code.
func Run(ctx context.Context, env *console.Env, o Options) error {
	limits, err := o.check(env)
	if err != nil {
		return err
	}
	if o.password, err = face.Password(o.passFile); err != nil {
		return err
	}
	dir, err := o.place(env)
	if err != nil {
		return err
	}
	message, err := o.readMessage(ctx, env)
	if err != nil {
		return err
	}
	files, err := fileParts(cmp.Or(dir, env.Dir), o.files)
	if err != nil {
		return err
	}
	f, err := face.Connect(ctx, env, face.Target{Attach: o.attach, Password: o.password, Dir: dir, Trust: o.Trust, Attended: o.permission != "deny"})
	if err != nil {
		return err
	}
	do := runIn
	switch {
	case len(o.side.models) > 0:
		do = runModels
	case o.side.worktree:
		do = inWorktree
	}
	return errors.Join(do(ctx, env, f, o, message, files, limits), f.Close())
}

// place returns the directory of the run.
func (o *Options) place(env *console.Env) (string, error) {
	if o.attach != "" {
		return face.DirFor(env, o.attach, o.Dir)
	}
	return console.WorkDir(env, o.Dir)
}

// check validates everything that can be validated before anything is opened.
func (o *Options) check(env *console.Env) (api.Limits, error) {
	lim := api.Limits{Steps: o.maxSteps}
	if o.Format != "default" && o.Format != "json" {
		return lim, console.Usagef("--format %q is neither default nor json", o.Format)
	}
	if o.Cont && o.Session != "" {
		return lim, console.Usagef("--continue and --session exclude each other")
	}
	if o.fork && !o.Cont && o.Session == "" {
		return lim, console.Usagef("--fork needs a session: name it with --continue or --session")
	}
	if o.passFile != "" && o.attach == "" {
		return lim, console.Usagef("--password-file is for a server; name it with --attach")
	}
	switch o.permission {
	case "":
		o.permission = "deny"
		if env.StdinTTY && env.StderrTTY && o.Format != "json" {
			o.permission = "ask"
		}
	case "allow", "deny":
	case "ask":
		if !env.StdinTTY || !env.StderrTTY {
			return lim, console.Usagef("--permission ask needs a terminal; use allow or deny, or --allow rules")
		}
	default:
		return lim, console.Usagef("--permission %q is not one of ask, allow, deny", o.permission)
	}
	if err := o.checkRefusal(env); err != nil {
		return lim, err
	}
	if err := o.checkSide(); err != nil {
		return lim, err
	}
	if o.keepJobs && o.attach == "" && !job.CanKeep {
		return lim, console.Usagef("--keep-jobs: on this system no process outlives lathe; run it in a server with --attach")
	}
	if o.maxSteps < 0 {
		return lim, console.Usagef("--max-steps %d is less than one step", o.maxSteps)
	}
	if o.maxTime < 0 {
		return lim, console.Usagef("--max-time %s is not more than zero", o.maxTime)
	}
	lim.Time = int64((o.maxTime + time.Millisecond - 1) / time.Millisecond)
	if o.maxCost != "" {
		p, err := lathe.ParsePrice(o.maxCost)
		if err != nil {
			return lim, console.Usagef("--max-cost: %w", err)
		}
		lim.Cost = lathe.Money(p) * 1e6
	}
	if _, err := parseRules(o.allow, o.deny); err != nil {
		return lim, err
	}
	return lim, nil
}

// shown says how the run is shown.
func (o *Options) shown() show.Options {
	return show.Options{JSON: o.Format == "json", Quiet: o.quiet, Thinking: o.thinking, Raw: o.raw}
}

// output is what shows the run, in the theme that the person chose.
func (o *Options) output(ctx context.Context, env *console.Env, f *face.Face) *show.Output {
	s := o.shown()
	s.Theme = func() *theme.Theme { return screen.Theme(ctx, env, f) }
	return show.New(env, s)
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
				return console.Usagef("rule %q is not PERMISSION or PERMISSION:PATTERN", s)
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

func runIn(ctx context.Context, env *console.Env, f *face.Face, o Options, message string, files []lathe.PartBody, limits api.Limits) error {
	rules, err := parseRules(o.allow, o.deny)
	if err != nil {
		return err
	}
	agent, warning, err := leader(ctx, f.Client, o.Agent)
	if err != nil {
		return err
	}
	o.Agent = agent
	sess, created, err := pickSession(ctx, f.Client, o, message)
	if err != nil {
		return err
	}
	if sess.Directory != f.Dir() {
		f.Client = f.In(sess.Directory)
	}
	p := api.Prompt{
		Agent: o.Agent, Parts: append(slices.Clone(files), &lathe.Text{Text: message}),
		Limits: limits, Rules: rules, Refs: true,
	}
	v := &view{env: env, c: f, root: sess, created: created, out: o.output(ctx, env, f), opts: o, message: message, attached: files, answered: map[lathe.AskID]bool{}}
	v.out.Progress = show.NewProgress(v.out)
	defer v.out.Progress.Stop()
	if warning != "" {
		v.out.Warning(warning)
	}
	v.share(ctx)
	err = v.start(ctx, p)
	if err != nil && created && v.sent == "" && !errors.Is(err, client.ErrUnreachable) {
		// A session that never got a message is of no use to anyone. If the reply was
		// lost, it may have got one.
		err = errors.Join(err, f.Delete(context.WithoutCancel(ctx), sess.ID))
	}
	return err
}

// pickSession returns the session to work in, a new one unless told otherwise.
func pickSession(ctx context.Context, c *client.Client, o Options, message string) (sess lathe.Session, created bool, err error) {
	sess, created, err = chosenSession(ctx, c, o, message)
	if err != nil || created || !o.fork {
		return sess, created, err
	}
	sess, _, err = c.Fork(ctx, sess.ID, api.Fork{Title: o.title})
	return sess, err == nil, err
}

func chosenSession(ctx context.Context, c *client.Client, o Options, message string) (sess lathe.Session, created bool, err error) {
	switch {
	case o.Session != "":
		sess, err = c.Get(ctx, lathe.SessionID(o.Session))
		return sess, false, err
	case o.Cont:
		list, err := c.List(ctx, api.SessionFilter{Archived: true, Limit: 1})
		if err != nil {
			return sess, false, err
		}
		if len(list) > 0 {
			return list[0], false, nil
		}
	}
	in := api.SessionRequest{Agent: o.Agent}
	switch {
	case o.title != "":
		in.Title = &o.title
	case o.titleSet:
		in.Title = new(console.OneLine(message, 51))
	}
	sess, err = c.Create(ctx, in)
	return sess, err == nil, err
}
