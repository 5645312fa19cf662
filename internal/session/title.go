package session

import (
	"context"
	"strings"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/people"
	"lathe/internal/printable"
	"lathe/internal/prompt"
	"lathe/internal/provider"
)

const (
	maxTitle  = 100 // characters
	titleTime = 30 * time.Second
)

// namer gives a session its title.
type namer struct {
	s       *Service
	inst    *instance.Instance
	current func() *lathe.Session
	begun   bool // once is enough; only the session's turn reads it
}

// title names a session after its first message, with the small model. It runs
// alongside the turn and outlives it; only the service's Close waits for it, and
// ends it. Until the answer comes, or if it fails, the title is the beginning of
// the message.
func (n *namer) title(history []lathe.Message, p *purse) {
	if !n.needsTitle(history) {
		return
	}
	n.begun = true
	first := history[0]
	fallback := firstLine(textOf(first))
	n.s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(n.s.ctx, titleTime)
		defer cancel()
		ctx = people.With(ctx, first.Info.(*lathe.User).By)
		asked := n.askTitle(ctx, first, p)
		title := asked.title
		if title == "" {
			title = fallback
		}
		save, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		if err := n.setTitle(save, title, asked); err != nil {
			n.s.opts.Log.Warn("the session's title could not be stored", "session", n.current().ID, "err", err)
		}
	})
}

func (n *namer) needsTitle(history []lathe.Message) bool {
	if n.begun || n.current().ParentID != "" || !strings.HasPrefix(n.current().Title, titlePrefix) || len(history) == 0 {
		return false
	}
	if _, ok := history[0].Info.(*lathe.User); !ok {
		return false // the session was compacted
	}
	users := 0
	for i := range history {
		if _, ok := history[i].Info.(*lathe.User); ok && textOf(history[i]) != "" {
			users++
		}
	}
	return users == 1
}

// textOf returns what the user typed in a message.
func textOf(m lathe.Message) string {
	var words []string
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Synthetic && !b.Ignored {
				words = append(words, b.Text)
			}
		case *lathe.Subtask: // what a command asked a subagent to do
			words = append(words, b.Prompt)
		}
	}
	return strings.TrimSpace(strings.Join(words, "\n"))
}

// setTitle stores what a title cost, and the title unless it is empty or somebody else has set
// one in the meantime.
func (n *namer) setTitle(ctx context.Context, title string, asked titled) error {
	return n.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		if asked.model != nil {
			if err := addSpent(tx, n.s.opts, *n.current(), forTitle, asked.model, asked.model.Cost(asked.used), asked.used); err != nil {
				return err
			}
		}
		if title == "" {
			return nil
		}
		sess, err := tx.UpdateSession(n.current().ID, func(s *lathe.Session) error {
			if strings.HasPrefix(s.Title, titlePrefix) {
				s.Title = title
			}
			return nil
		})
		tx.Tell(sess.Directory, lathe.SessionUpdated{Session: sess})
		return err
	})
}

// titled is what came of asking for a title.
type titled struct {
	title string          // empty: none
	model *provider.Model // nil: none was asked
	used  lathe.Tokens
}

// askTitle asks the small model; the title is empty if that fails.
func (n *namer) askTitle(ctx context.Context, first lathe.Message, p *purse) (out titled) {
	info := first.Info.(*lathe.User)
	agent, err := n.inst.Agents.Get("title")
	if err != nil {
		return out
	}
	ref := agent.Model
	if ref.IsZero() {
		ref = n.inst.SmallModel(ctx, info.Model)
	}
	m, err := n.inst.Models.GetFor(ctx, ref)
	if err != nil {
		return out
	}
	if !p.mayAside(ctx, m) {
		return out
	}
	req := titleRequest(m, agent, first)
	m.Prepare(req, provider.Params{
		Temperature: agent.Temperature, TopP: agent.TopP, Options: agent.Options, Small: true, SessionID: n.current().ID,
	})
	out.model = m
	var text strings.Builder
	for ev, err := range m.LLM.Stream(ctx, req) {
		if err != nil {
			n.s.opts.Log.Debug("no title from the model", "session", n.current().ID, "err", err)
			return out
		}
		switch ev := ev.(type) {
		case llm.TextDelta:
			if text.Len() < 64<<10 {
				text.WriteString(ev.Text)
			}
		case llm.Finish:
			p.count(m, ev.Usage)
			out.used = m.Tokens(ev.Usage)
		}
	}
	out.title = cleanTitle(text.String())
	return out
}

func titleRequest(m *provider.Model, agent instance.Agent, first lathe.Message) *llm.Request {
	bare := lathe.Message{Info: &lathe.User{}}
	for _, p := range first.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Synthetic {
				bare.Parts = append(bare.Parts, p)
			}
		case *lathe.Subtask:
			bare.Parts = append(bare.Parts, lathe.Part{Body: &lathe.Text{Text: b.Prompt}})
		}
	}
	messages := append([]llm.Message{{Role: llm.RoleUser, Content: []llm.Content{
		llm.Text{Text: "Generate a title for this conversation:\n"},
	}}}, prompt.Messages([]lathe.Message{bare})...)
	return &llm.Request{
		System:   prompt.System(prompt.SystemInput{APIID: m.APIID, AgentPrompt: agent.Prompt, Bare: true}),
		Messages: m.Normalize(messages),
	}
}

// cleanTitle takes the first line of an answer and removes reasoning, quotes
// and excess length.
func cleanTitle(answer string) string {
	for line := range strings.Lines(withoutThoughts(answer)) {
		if line = strings.Trim(strings.TrimSpace(line), `"'`); line != "" {
			return printable.Shorten(line, maxTitle)
		}
	}
	return ""
}

// withoutThoughts removes reasoning that a model wrote into its answer.
func withoutThoughts(answer string) string {
	for {
		before, rest, ok := strings.Cut(answer, "<think>")
		if !ok {
			return answer
		}
		_, after, closed := strings.Cut(rest, "</think>")
		if !closed {
			after = ""
		}
		answer = before + after
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return printable.Shorten(strings.Join(strings.Fields(line), " "), 60)
}
