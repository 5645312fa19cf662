package turn

import (
	"context"
	"fmt"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/provider"
)

// summariser is who is asked for a summary, and what.
type summariser struct {
	agent    Agent
	model    *provider.Model
	question string
}

// inPasses asks for the summary of a transcript. One that exceeds the budget is shown in
// parts, each with the summary of those before it, so that the model has seen all of it in
// the end. A part whose answer is of no use is asked for once more; then what it held is
// said to be missing.
func (c *compactor) inPasses(ctx context.Context, by *summariser, budget int64) (summary, lathe.Failure) {
	t := compact.NewTranscript(prompt.View(c.History), c.staying(), budget)
	sum := summary{model: by.model.Ref, text: t.Prior}
	useful := len(t.Parts) == 1
	for i := range t.Parts {
		if i > 0 {
			c.Logger.Info("a summary is made in parts", "session", c.Session.ID, "part", i+1, "of", len(t.Parts))
			if failure := c.budget.left(); failure != nil {
				return summary{}, failure
			}
		}
		next, failure := c.pass(ctx, by, t.Pass(i, sum.text))
		if failure == nil && next.text == "" && len(t.Parts) > 1 {
			sum.cost, sum.usage = sum.cost+next.cost, sum.usage.Add(next.usage)
			next, failure = c.pass(ctx, by, t.Pass(i, sum.text))
		}
		if failure != nil {
			return summary{}, failure
		}
		sum.cost, sum.usage, sum.finish = sum.cost+next.cost, sum.usage.Add(next.usage), next.finish
		switch {
		case next.text != "" || len(t.Parts) == 1:
			sum.text, useful = next.text, true
		default:
			sum.text += fmt.Sprintf("\n\n[Part %d of %d of the conversation could not be summed up; the ledger has its facts.]", i+1, len(t.Parts))
		}
	}
	if !useful {
		sum.text = ""
	}
	return sum, nil
}

// pass asks for the summary of a text.
func (c *compactor) pass(ctx context.Context, by *summariser, text string) (summary, lathe.Failure) {
	system := by.agent.Prompt
	if system == "" {
		system = prompt.AgentText("compaction")
	}
	req := &llm.Request{
		System:   []string{system},
		Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: text + "\n\n" + by.question}}}},
	}
	by.model.Prepare(req, provider.Params{Temperature: by.agent.Temperature, TopP: by.agent.TopP, Options: by.agent.Options, SessionID: c.Session.ID})
	return c.askSummary(ctx, by.model, req, by.question)
}
