package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/tool"
)

// answer replies to a permission ask: by policy, or as the person at the terminal
// decides.
func (v *view) answer(ctx context.Context, a lathe.Ask) {
	if v.answered[a.ID] {
		return
	}
	v.answered[a.ID] = true
	what := describeAsk(a)
	var reply lathe.Reply
	protected, _ := a.Metadata[tool.MetaProtected].(bool)
	switch v.opts.permission {
	case "allow":
		if protected {
			reply = lathe.Reply{Kind: lathe.Reject, Message: "this is protected; only a person at a terminal can allow it. Go on without it."}
			v.out.notice("refused, since it is protected and nobody can be asked here: " + what)
			break
		}
		reply.Kind = lathe.Once
		v.out.notice("allowed (--permission allow): " + what)
	case "ask":
		if reply = v.askPerson(ctx, a, what); ctx.Err() != nil {
			return // the abort ends the ask; a refusal that overtook it would end the run as refused
		}
	default:
		reply.Kind = lathe.Reject
		v.out.notice("refused, since nobody can be asked here: " + what)
	}
	if reply.Kind == lathe.Reject && reply.Message == "" {
		v.refused = append(v.refused, what)
	}
	if err := v.c.Reply(context.WithoutCancel(ctx), a.ID, reply); err != nil {
		v.out.notice(fmt.Sprintf("the reply to %s came too late: %v", a.Permission, err))
	}
}

// describeAsk names what is asked for on one line.
func describeAsk(a lathe.Ask) string {
	text := a.Permission
	if len(a.Patterns) > 0 {
		text += ": " + strings.Join(a.Patterns, ", ")
	}
	if cmd, ok := a.Metadata["command"].(string); ok && cmd != "" && a.Permission != "bash" {
		text += ", for: " + cmd
	}
	if reason, ok := a.Metadata["reason"].(string); ok && reason != "" {
		text += " (" + reason + ")"
	}
	return oneLine(text, 300)
}

// askPerson asks on the terminal. An ended input rejects; after an interrupt the
// reply means nothing.
func (v *view) askPerson(ctx context.Context, a lathe.Ask, what string) lathe.Reply {
	v.out.progress.hold(true)
	defer v.out.progress.hold(false)
	st := v.out.style
	if d, ok := a.Metadata["diff"].(string); ok && d != "" {
		v.out.diff(d)
	}
	v.out.errLine(st.yellow("permission ") + st.bold(what))
	always := ""
	if protected, _ := a.Metadata[tool.MetaProtected].(bool); protected {
		a.Always = nil // it is asked about each time
	}
	if len(a.Always) > 0 {
		always = fmt.Sprintf("  [a]lways in this run, [p]roject: always in this project (%s)", oneLine(strings.Join(a.Always, ", "), 80))
	}
	for {
		fmt.Fprintf(v.env.Stderr, "  [y]es, once%s  [n]o  or type what to do instead: ", always)
		line, ok := v.readLine(ctx)
		if !ok {
			fmt.Fprintln(v.env.Stderr)
			return lathe.Reply{Kind: lathe.Reject}
		}
		switch strings.ToLower(line) {
		case "":
			continue
		case "y", "yes", "o", "once":
			return lathe.Reply{Kind: lathe.Once}
		case "a", "always":
			if len(a.Always) > 0 {
				return lathe.Reply{Kind: lathe.Always}
			}
		case "p", "project":
			if len(a.Always) > 0 {
				return lathe.Reply{Kind: lathe.Always, Project: true}
			}
		case "n", "no", "r", "reject":
			return lathe.Reply{Kind: lathe.Reject}
		default:
			if len(line) > 2 {
				return lathe.Reply{Kind: lathe.Reject, Message: line}
			}
		}
	}
}

// readLine reads a line from the terminal, or reports false when it ended or the
// run was stopped.
func (v *view) readLine(ctx context.Context) (string, bool) {
	if v.lines == nil {
		v.lines = make(chan string)
		go func() { // ends with the terminal's input, at the latest with the program
			defer close(v.lines)
			for sc := bufio.NewScanner(v.env.Stdin); sc.Scan(); {
				v.lines <- sc.Text()
			}
		}()
	}
	select {
	case line, ok := <-v.lines:
		return strings.TrimSpace(line), ok
	case <-ctx.Done():
		return "", false
	}
}
