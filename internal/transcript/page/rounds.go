package page

import (
	"fmt"
	"strings"
	"time"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/readable"
	"lathe/internal/say"
)

// openBelow is the number of calls from which the work of a round is folded away.
const openBelow = 7

// round is a prompt and what was answered to it, one message for each step.
type round struct {
	prompts []lathe.Message // usually one; none before the first prompt of a session
	steps   []lathe.Message
}

// roundsOf groups messages by the prompts that they answer.
func roundsOf(messages []lathe.Message) []round {
	var out []round
	for _, m := range messages {
		_, asks := m.Info.(*lathe.User)
		if len(out) == 0 || asks && len(out[len(out)-1].steps) > 0 {
			out = append(out, round{})
		}
		r := &out[len(out)-1]
		if asks {
			r.prompts = append(r.prompts, m)
		} else {
			r.steps = append(r.steps, m)
		}
	}
	return out
}

// title is what the person said first.
func (r round) title() string {
	for _, m := range r.prompts {
		for _, p := range m.Parts {
			switch b := p.Body.(type) {
			case *lathe.Text:
				if t := strings.TrimSpace(b.Text); t != "" && !b.Synthetic {
					return t
				}
			case *lathe.CompactionMark:
				return "Compaction"
			case *lathe.Subtask:
				return b.Description
			}
		}
	}
	return "…"
}

func (r round) cost() (sum lathe.Money) {
	for _, m := range r.steps {
		if a, ok := m.Info.(*lathe.Assistant); ok {
			sum += a.Cost
		}
	}
	return sum
}

// tokens returns what all steps used: each sends the whole conversation again.
func (r round) tokens() (sum lathe.Tokens) {
	for _, m := range r.steps {
		for _, p := range m.Parts {
			if f, ok := p.Body.(*lathe.StepFinish); ok {
				sum = sum.Add(f.Tokens)
			}
		}
	}
	return sum
}

// took is the time from the prompt to the end of the last step, or 0; without what the calls
// waited for the person.
func (r round) took() time.Duration {
	if len(r.prompts) == 0 || len(r.steps) == 0 {
		return 0
	}
	a, ok := r.steps[len(r.steps)-1].Info.(*lathe.Assistant)
	if !ok || a.Completed.IsZero() {
		return 0
	}
	took := a.Completed.Sub(r.prompts[0].Created)
	for _, m := range r.steps {
		waited := time.Duration(0)
		for _, part := range m.Parts {
			waited = max(waited, part.Waited())
		}
		took -= waited
	}
	return max(0, took)
}

// round writes a prompt, the work on it and the answer to it.
func (p *page) round(i int, r round) {
	p.put(fmt.Sprintf("<section id=p%d>\n", i+1))
	for _, m := range r.prompts {
		p.prompt(m)
	}
	work, answer := split(r.steps)
	if calls := countCalls(work); calls > 0 || len(work) > 0 {
		p.put("<details class=work", openIf(calls < openBelow), "><summary>", workTitle(len(r.steps), calls, r.took()), "</summary>\n")
		for _, part := range work {
			p.part(part)
		}
		p.put("</details>\n")
	}
	for _, part := range answer {
		p.part(part)
	}
	for _, m := range r.steps {
		p.failure(m)
	}
	p.bill(r)
	p.put("</section>\n")
}

func openIf(yes bool) string {
	if yes {
		return " open"
	}
	return ""
}

// split parts what the steps of a round hold into the work and the answer, which is the
// text after the last call.
func split(steps []lathe.Message) (work, answer []lathe.Part) {
	var all []lathe.Part
	for _, m := range steps {
		for _, part := range m.Parts {
			if shows(part) {
				all = append(all, part)
			}
		}
	}
	n := len(all)
	for n > 0 {
		if _, text := all[n-1].Body.(*lathe.Text); !text {
			break
		}
		n--
	}
	return all[:n], all[n:]
}

// shows reports whether a part has something for a reader.
func shows(p lathe.Part) bool {
	switch b := p.Body.(type) {
	case *lathe.Text:
		return !b.Synthetic && strings.TrimSpace(b.Text) != ""
	case *lathe.Reasoning:
		return strings.TrimSpace(b.Text) != ""
	case *lathe.File, *lathe.Subtask, *lathe.ToolCall, *lathe.Retry, *lathe.CompactionMark:
		return true
	}
	return false
}

func countCalls(parts []lathe.Part) (n int) {
	for _, p := range parts {
		if _, ok := p.Body.(*lathe.ToolCall); ok {
			n++
		}
	}
	return n
}

func workTitle(steps, calls int, took time.Duration) string {
	out := []string{say.Plural(steps, "step")}
	if calls > 0 {
		out = append(out, say.Plural(calls, "call"))
	}
	if took > 0 {
		out = append(out, duration(took))
	}
	return strings.Join(out, ", ")
}

// prompt writes what the person said, as they wrote it.
func (p *page) prompt(m lathe.Message) {
	p.put("<div class=you><p class=meta>", stamp(m.Created), "</p>")
	for _, part := range m.Parts {
		switch b := part.Body.(type) {
		case *lathe.Text:
			if shows(part) {
				p.put("<p class=say>", text(strings.Trim(b.Text, "\n")), "</p>\n")
			}
		default:
			if shows(part) {
				p.part(part)
			}
		}
	}
	p.put("</div>\n")
}

// part writes a part of an answer.
func (p *page) part(part lathe.Part) {
	switch b := part.Body.(type) {
	case *lathe.Text:
		if kept, ok := readable.Ledger(b.Text); ok {
			p.fold("kept from what was said before", "<div class=body>"+markdown(kept)+"</div>")
			return
		}
		p.put(markdown(b.Text))
	case *lathe.Reasoning:
		p.fold("thought", "<div class=body>"+markdown(b.Text)+"</div>")
	case *lathe.File:
		p.file(*b)
	case *lathe.Subtask:
		p.fold("subtask "+line(b.Description), "<div class=body>"+markdown(b.Prompt)+"</div>")
	case *lathe.ToolCall:
		p.call(b)
	case *lathe.Retry:
		if b.Error != nil {
			p.put("<p class=meta>tried again: ", line(b.Error.Error()), "</p>\n")
		}
	case *lathe.CompactionMark:
		p.put("<p class=meta>What was said before is replaced by a summary for the model.</p>\n")
	}
}

func (p *page) fold(summary, body string) {
	p.put("<details><summary>", summary, "</summary>", body, "</details>\n")
}

func (p *page) failure(m lathe.Message) {
	if a, ok := m.Info.(*lathe.Assistant); ok && a.Error != nil {
		p.put("<p class=bad>", text(a.Error.Error()), "</p>\n")
	}
}

// bill says who answered, and what it took and cost.
func (p *page) bill(r round) {
	if len(r.steps) == 0 {
		return
	}
	a, ok := r.steps[len(r.steps)-1].Info.(*lathe.Assistant)
	if !ok {
		return
	}
	var out []string
	if a.Agent != "" {
		out = append(out, line(a.Agent))
	}
	if m := a.Model.String(); m != "" && m != "/" {
		out = append(out, line(m))
	}
	if t := r.tokens(); t.Total() > 0 {
		in := count(t.Prompt()) + " tokens in"
		if t.CacheRead > 0 {
			in += fmt.Sprintf(" (%d%% cached)", t.CacheRead*100/t.Prompt())
		}
		out = append(out, in, count(t.Output+t.Reasoning)+" out")
	}
	if c := r.cost(); c > 0 {
		out = append(out, c.String())
	}
	if took := r.took(); took > 0 {
		out = append(out, duration(took))
	}
	p.put("<p class=meta>", strings.Join(out, " · "), "</p>\n")
}

// file shows a picture, and names anything else.
func (p *page) file(f lathe.File) {
	if picture(f.URL) {
		p.put("<p><img alt=", attribute(printable.Line(f.Filename)), ` src="`, f.URL, "\"></p>\n")
		return
	}
	p.put("<p class=meta>file ", line(f.Filename), "</p>\n")
}

// picture reports whether an address holds a picture that can do nothing but be seen.
func picture(url string) bool {
	for _, kind := range []string{"png", "jpeg", "gif", "webp"} {
		if data, ok := strings.CutPrefix(url, "data:image/"+kind+";base64,"); ok {
			return strings.Trim(data, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") == ""
		}
	}
	return false
}
