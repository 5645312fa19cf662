package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/client"
	"lathe/internal/config"
	"lathe/internal/opencode/wire"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// attached is a run in another lathe process, over its HTTP interface.
type attached struct {
	*view
	c *client.Client
}

// checkAttach refuses what the interface has no words for.
func (o *runOptions) checkAttach() error {
	for name, set := range map[string]bool{
		"--max-steps": o.maxSteps != 0, "--max-cost": o.maxCost != "", "--max-time": o.maxTime != 0,
		"--command": o.command != "", "--shell": o.shell, "--trust": o.trust,
	} {
		if set {
			return usageError{fmt.Errorf("%s and --attach exclude each other", name)}
		}
	}
	if o.session != "" && len(o.allow)+len(o.deny) > 0 {
		return usageError{errors.New("with --attach, --allow and --deny are for new sessions")}
	}
	return nil
}

// runAttached is run against a server.
func runAttached(ctx context.Context, env *Env, o runOptions, dir, message string, files []lathe.PartBody) error {
	if err := o.checkAttach(); err != nil {
		return err
	}
	flags := config.ReadFlags(env.Getenv)
	c, err := client.New(client.Options{URL: o.attach, User: flags.ServerUsername, Password: flags.ServerPassword, Dir: dir})
	if err != nil {
		return err
	}
	defer c.Close()
	a := &attached{c: c, view: &view{env: env, opts: o, out: newOutput(env, o)}}
	p := wire.PromptRequest{Agent: o.agent, Parts: append(slices.Clone(files), &lathe.Text{Text: message})}
	if o.model != "" {
		if p.Model = splitRef(o.model); p.Model.Model == "" {
			return usageError{fmt.Errorf("--model %q is not provider/model, which --attach needs", o.model)}
		}
	}
	p.Model.Variant = o.variant
	if a.root, err = a.pick(ctx, message); err != nil {
		return err
	}
	return a.follow(ctx, p)
}

// splitRef reads "provider/model"; without a slash it is no model.
func splitRef(text string) lathe.ModelRef {
	for i, r := range text {
		if r == '/' {
			return lathe.ModelRef{Provider: text[:i], Model: text[i+1:]}
		}
	}
	return lathe.ModelRef{}
}

// pick returns the session to work in, a new one unless told otherwise.
func (a *attached) pick(ctx context.Context, message string) (lathe.Session, error) {
	switch {
	case a.opts.session != "":
		return a.c.Get(ctx, lathe.SessionID(a.opts.session))
	case a.opts.cont:
		list, err := a.c.List(ctx, 1)
		if err != nil || len(list) > 0 {
			return newestOf(list), err
		}
	}
	rules, err := parseRules(a.opts.allow, a.opts.deny)
	if err != nil {
		return lathe.Session{}, err
	}
	if !a.answers() {
		rules = append(rules, nobody...)
	}
	in := wire.SessionRequest{Agent: a.opts.agent, Rules: rules, HasRules: len(rules) > 0}
	switch {
	case a.opts.title != "":
		in.Title = &a.opts.title
	case a.opts.titleSet:
		in.Title = new(oneLine(message, 51))
	}
	return a.c.Create(ctx, in)
}

func newestOf(list []lathe.Session) (s lathe.Session) {
	if len(list) > 0 {
		s = list[0]
	}
	return s
}

// follow sends the prompt once the event stream is open, and shows what happens
// until the session is idle.
func (a *attached) follow(ctx context.Context, p wire.PromptRequest) error {
	a.started = a.env.Now()
	live := context.WithoutCancel(ctx)
	stop := func() bool { return true }
	defer func() { stop() }()
	family := map[lathe.SessionID]bool{a.root.ID: true}
	for ev, err := range a.c.Events(live) {
		switch {
		case err != nil:
			return fmt.Errorf("follow the session: %w", err)
		case ev == nil: // the stream is open
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := a.c.Prompt(ctx, a.root.ID, p); err != nil {
				return err
			}
			stop = context.AfterFunc(ctx, func() {
				a.out.notice("aborting … (press Ctrl-C again to kill)")
				_ = a.c.Abort(live, a.root.ID)
			})
			continue
		}
		if c, ok := ev.(lathe.SessionCreated); ok && family[c.Session.ParentID] {
			family[c.Session.ID] = true
		}
		if family[bus.SessionOf(ev)] && a.handle(ctx, ev) {
			break
		}
	}
	return a.end(live)
}

// handle shows an event and answers asks; it reports whether the run is over.
func (a *attached) handle(ctx context.Context, ev lathe.Event) bool {
	switch ev := ev.(type) {
	case lathe.PermissionAsked:
		a.reply(ctx, ev.Ask)
	case lathe.QuestionAsked:
		a.dismissOrAsk(ctx, ev.Ask)
	case lathe.SessionStatus:
		if _, idle := ev.Status.(lathe.Idle); idle && ev.SessionID == a.root.ID {
			return true
		}
	}
	a.out.event(lathe.Envelope{Time: a.env.Now(), Directory: a.root.Directory, Event: ev}, a.root.ID)
	return false
}

// reply answers a permission ask as --permission says.
func (a *attached) reply(ctx context.Context, ask lathe.Ask) {
	what := describeAsk(ask)
	reply := lathe.Reply{Kind: lathe.Reject}
	protected, _ := ask.Metadata[tool.MetaProtected].(bool)
	switch {
	case a.opts.permission == "ask":
		reply = a.askPerson(ctx, ask, what)
	case a.opts.permission == "allow" && !protected:
		reply.Kind = lathe.Once
		a.out.notice("allowed (--permission allow): " + what)
	default:
		a.out.notice("refused, since nobody can be asked here: " + what)
	}
	if reply.Kind == lathe.Reject && reply.Message == "" {
		a.refused = append(a.refused, what)
	}
	a.settled(a.c.Reply(context.WithoutCancel(ctx), ask.ID, reply))
}

func (a *attached) dismissOrAsk(ctx context.Context, q lathe.QuestionAsk) {
	var answers [][]string
	for _, one := range q.Questions {
		answer, ok := []string(nil), false
		if a.answers() {
			answer, ok = a.askQuestion(ctx, one)
		}
		if !ok {
			a.refused = append(a.refused, "question: "+oneLine(one.Text, 200))
			answers = nil
			break
		}
		answers = append(answers, answer)
	}
	a.settled(a.c.Answer(context.WithoutCancel(ctx), q.ID, answers))
}

// end reads how the turn ended.
func (a *attached) end(ctx context.Context) error {
	messages, err := a.c.Messages(ctx, a.root.ID, 1)
	if err != nil {
		return err
	}
	var out turn.Outcome
	if len(messages) > 0 {
		if info, ok := messages[0].Info.(*lathe.Assistant); ok {
			out.Last, out.Failure, out.Cost, out.Tokens = &messages[0], info.Error, info.Cost, info.Tokens
		}
	}
	return a.finish(out)
}
