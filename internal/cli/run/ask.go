package run

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lathe"
	"lathe/internal/approval"
	"lathe/internal/cli/console"
	"lathe/internal/printable"
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
	switch v.opts.permission {
	case "allow":
		if a.Metadata[tool.MetaProtected] == true {
			reply = v.refuse(a, what)
			v.out.Notice("refused, since it is protected and nobody can be asked here: " + what)
			break
		}
		reply.Kind = lathe.Once
		v.out.Notice("allowed (--permission allow): " + what)
	case "ask":
		if reply = v.askPerson(ctx, a); ctx.Err() != nil {
			return // the abort ends the ask; a reply sent before it would make the run count as refused
		}
		if reply.Kind == lathe.Reject && reply.Message == "" {
			v.refusals.add(refusal{what: what, person: true}, toolOf(a), a.Tool)
		}
	default:
		reply = v.refuse(a, what)
		v.out.Notice("refused, since nobody can be asked here: " + what)
	}
	if err := v.c.Reply(context.WithoutCancel(ctx), a.ID, reply); err != nil {
		v.out.Notice(fmt.Sprintf("the reply to %s came too late: %v", a.Permission, err))
	}
}

// say returns a text of lathe's own in the person's language.
func (v *view) say(english string) string { return v.env.Language().Text(english) }

// describeAsk names what is asked for on one line.
func describeAsk(a lathe.Ask) string {
	text := a.Permission
	if path, _ := a.Metadata["filepath"].(string); len(a.Patterns) == 1 && path == "/"+a.Patterns[0] {
		text += ": " + path // outside git, patterns are relative to the root
	} else if len(a.Patterns) > 0 {
		text += ": " + strings.Join(approval.Named(a), ", ")
	}
	if cmd, ok := a.Metadata["command"].(string); ok && cmd != "" && a.Permission != "bash" {
		text += ", for: " + cmd
	}
	if reason, ok := a.Metadata["reason"].(string); ok && reason != "" {
		text += " (" + reason + ")"
	}
	return console.OneLine(text, 300)
}

// askPerson asks on the terminal and shows everything that is asked for, since the
// terminal scrolls. The end of the input rejects; after an interrupt the reply is
// not used.
func (v *view) askPerson(ctx context.Context, a lathe.Ask) lathe.Reply {
	v.out.Progress.Hold(true)
	defer v.out.Progress.Hold(false)
	defer v.near.seen()
	v.near.tell("needs your permission")
	v.out.Ask(a)
	offers := approval.Offers(a)
	more := ""
	if len(offers) > 0 {
		more = "  " + v.say("[a]lways: allow from now on")
	}
	since := v.env.Fresh()
	for {
		fmt.Fprintf(console.Raw(v.env.Stderr), "  %s%s  %s ", v.say("[y]es, once"), more, v.say("[n]o  or type what to do instead:"))
		line, ok := v.typed.ReadLine(ctx, v.env, since)
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
			if len(offers) == 0 {
				continue
			}
			if reply, ok := v.askLasting(ctx, offers, since); ok {
				return reply
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

// askLasting says what would be allowed from then on, and takes the words that allow
// it: how long, and which of several. Anything else goes back to the ask.
func (v *view) askLasting(ctx context.Context, offers []approval.Offer, since time.Time) (lathe.Reply, bool) {
	st := v.out.Style
	v.out.ErrLine("  " + v.say("without being asked again:"))
	for i, o := range offers {
		for _, w := range o.Words() {
			mark := "    "
			if len(offers) > 1 {
				mark = fmt.Sprintf("   %d ", i+1)
			}
			v.out.ErrLine(mark + st.Bold(printable.Line(v.say(w))))
		}
	}
	which := ""
	if len(offers) > 1 {
		which = v.say(", with the number")
	}
	fmt.Fprintf(console.Raw(v.env.Stderr), "  "+v.say("type session (%s) or project (%s)%s, or nothing to go back:")+" ", v.say(offers[0].Where(false)), v.say(offers[0].Where(true)), which)
	line, ok := v.typed.ReadLine(ctx, v.env, since)
	words := strings.Fields(strings.ToLower(line))
	if !ok || len(words) == 0 || len(words) > 2 || words[0] != "session" && words[0] != "project" {
		return lathe.Reply{}, false
	}
	n := 1
	if len(words) == 2 {
		var err error
		if n, err = strconv.Atoi(words[1]); err != nil || n < 1 || n > len(offers) {
			return lathe.Reply{}, false
		}
	}
	project := words[0] == "project"
	told := offers[n-1].Granted(project)
	if project {
		told += "; take it back with: " + offers[n-1].Revoke()
	}
	v.out.Notice(told)
	return offers[n-1].Reply(project), true
}
