package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/turn"
)

// nobody is the rules for a run in which nobody can answer: tools that ask the
// user are not offered.
var nobody = []lathe.Rule{
	{Permission: "question", Pattern: "*", Action: lathe.Deny},
	{Permission: "plan_enter", Pattern: "*", Action: lathe.Deny},
	{Permission: "plan_exit", Pattern: "*", Action: lathe.Deny},
}

// answers reports whether a person is there to answer questions.
func (v *view) answers() bool { return v.env.StdinTTY && v.env.StderrTTY && v.opts.Format != "json" }

// question puts a question of the model's to the person at the terminal, or
// dismisses it if nobody is there.
func (v *view) question(ctx context.Context, q lathe.QuestionAsk) {
	if v.answered[q.ID] {
		return
	}
	v.answered[q.ID] = true
	if !v.answers() {
		for _, one := range q.Questions {
			v.refusals.add(refusal{what: "question: " + console.OneLine(one.Text, 200), question: true}, "question", q.Tool)
			v.out.Notice("dismissed, since nobody can be asked here: " + console.OneLine(one.Text, 200))
		}
		v.settled(v.c.Answer(context.WithoutCancel(ctx), q.ID, nil))
		return
	}
	v.out.Progress.Hold(true)
	defer v.out.Progress.Hold(false)
	defer v.near.seen()
	v.near.tell("has a question")
	answers := make([][]string, 0, len(q.Questions))
	for _, one := range q.Questions {
		answer, ok := v.askQuestion(ctx, one)
		if ctx.Err() != nil {
			return // the abort ends the question
		}
		if !ok {
			v.settled(v.c.Answer(context.WithoutCancel(ctx), q.ID, nil))
			return
		}
		answers = append(answers, answer)
	}
	v.settled(v.c.Answer(context.WithoutCancel(ctx), q.ID, answers))
}

func (v *view) settled(err error) {
	if err != nil {
		v.out.Notice(fmt.Sprintf("the answer came too late: %v", err))
	}
}

// askQuestion shows one question and reads its answer: numbers of options, words
// where they are accepted, "-" for none. The end of the input dismisses.
func (v *view) askQuestion(ctx context.Context, q lathe.Question) ([]string, bool) {
	st := v.out.Style
	v.out.ErrLine(st.Yellow(v.say("question")+" ") + st.Bold(console.OneLine(q.Text, 500)))
	for i, o := range q.Options {
		v.out.ErrLine(fmt.Sprintf("  %d  %s  %s", i+1, console.OneLine(o.Label, 80), st.Dim(console.OneLine(o.Description, 200))))
	}
	since := v.env.Fresh()
	for {
		fmt.Fprintf(console.Raw(v.env.Stderr), "  %s: ", v.howToAnswer(q))
		line, ok := v.typed.ReadLine(ctx, v.env, since)
		if !ok {
			fmt.Fprintln(v.env.Stderr)
			return nil, false
		}
		if answer, ok := readAnswer(q, line); ok {
			return answer, true
		}
		if line == "x" {
			return nil, false
		}
	}
}

func (v *view) howToAnswer(q lathe.Question) string {
	var ways []string
	if len(q.Options) > 0 {
		ways = append(ways, map[bool]string{false: "number", true: "numbers, with commas"}[q.Multiple])
	}
	if q.Custom {
		ways = append(ways, "your own words")
	}
	ways = append(ways, "x to dismiss")
	for i, w := range ways {
		ways[i] = v.say(w)
	}
	return strings.Join(ways, ", ")
}

// readAnswer turns a typed line into an answer; false if it is not one.
func readAnswer(q lathe.Question, line string) ([]string, bool) {
	if line == "" || line == "x" {
		return nil, false
	}
	var chosen []string
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || n > len(q.Options) {
			chosen = nil
			break
		}
		if label := q.Options[n-1].Label; !slices.Contains(chosen, label) {
			chosen = append(chosen, label)
		}
	}
	switch {
	case len(chosen) == 1, len(chosen) > 1 && q.Multiple:
		return chosen, true
	case len(chosen) > 1:
		return nil, false
	}
	for _, o := range q.Options {
		if strings.EqualFold(o.Label, line) {
			return []string{o.Label}, true
		}
	}
	return []string{line}, q.Custom
}

// readMessage returns what to send. A command needs no arguments.
func (o Options) readMessage(ctx context.Context, env *console.Env) (string, error) {
	switch {
	case o.shell && o.command != "":
		return "", console.Usagef("--shell and --command exclude each other")
	case o.command != "" && len(o.Message) == 0 && (env.Stdin == nil || env.StdinTTY):
		return "", nil
	case o.command != "" && len(o.Message) == 0:
		piped, err := readStdin(ctx, env, false)
		return strings.TrimSpace(piped), err
	}
	return readMessage(ctx, env, o.Message)
}

// send gives the session what was asked for: a prompt, a command, or a shell
// command of the user's.
func (v *view) send(ctx context.Context, p api.Prompt) (lathe.MessageID, error) {
	if !v.answers() {
		p.Rules = append(p.Rules, nobody...)
	}
	switch {
	case v.opts.shell:
		p.Shell, p.Parts = v.message, nil
	case v.opts.command != "":
		p.Command, p.Arguments, p.Parts = v.opts.command, v.message, v.attached
	}
	return v.c.Prompt(ctx, v.root.ID, p)
}

// shellOutput prints the output of the user's shell command.
func (v *view) shellOutput(out turn.Outcome) {
	if !v.opts.shell || out.Last == nil || v.opts.Format == "json" {
		return
	}
	for _, p := range out.Last.Parts {
		if call, ok := p.Body.(*lathe.ToolCall); ok {
			if done, ok := call.State.(*lathe.ToolDone); ok && done.Output != "" {
				fmt.Fprintln(v.env.Stdout, console.Clean(strings.TrimRight(done.Output, "\n")))
			}
		}
	}
}

// relatives returns the sessions whose events a run shows: the root's and those
// of subagents it had before.
func (v *view) relatives(ctx context.Context) map[lathe.SessionID]bool {
	family := map[lathe.SessionID]bool{v.root.ID: true}
	if v.created {
		return family
	}
	next := []lathe.SessionID{v.root.ID}
	for len(next) > 0 && len(family) < 1000 {
		children, err := v.c.Children(ctx, next[0])
		if err != nil {
			break
		}
		next = next[1:]
		for _, c := range children {
			if !family[c.ID] {
				family[c.ID] = true
				next = append(next, c.ID)
			}
		}
	}
	return family
}
