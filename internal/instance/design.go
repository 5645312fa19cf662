package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/provider"
)

// AgentDraft is an agent that a model designed.
type AgentDraft struct {
	Identifier   string `json:"identifier"`
	WhenToUse    string `json:"whenToUse"`
	SystemPrompt string `json:"systemPrompt"`
}

// maxDraft bounds what is read of the model's answer.
const maxDraft = 256 << 10

// DesignModel returns the model that is to design an agent: the one of that name, or the
// default one. The built-in models that need no provider cannot do this; the error says so.
func (i *Instance) DesignModel(ctx context.Context, name string) (m *provider.Model, err error) {
	models, err := i.Models.For(ctx)
	if err != nil {
		return nil, err
	}
	var ref lathe.ModelRef
	if name != "" {
		ref, err = models.ParseRef(name)
	} else {
		ref, _, err = models.Default(ctx)
	}
	if err == nil {
		m, err = models.Get(ref)
	}
	if err != nil {
		return nil, err
	}
	if m.Protocol == provider.ProtocolBuiltin && ref.Provider == "offline" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "write the agent's prompt with --prompt, or connect a model: lathe auth login",
			"no language model is connected that could design an agent")
	}
	return m, nil
}

// DesignAgent asks a model to design an agent from a description, and returns what it used
// for that, with an error too.
func (i *Instance) DesignAgent(ctx context.Context, m *provider.Model, description string) (d AgentDraft, used lathe.Tokens, err error) {
	taken := make([]string, len(i.Agents.All()))
	for n, a := range i.Agents.All() {
		taken[n] = a.Name
	}
	req := &llm.Request{
		System: []string{prompt.AgentDesign()},
		Messages: m.Normalize([]llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{
			Text: "Design an agent for this: " + description + "\n\nThese identifiers are taken: " + strings.Join(taken, ", "),
		}}}}),
	}
	m.Prepare(req, provider.Params{Temperature: new(0.3)})
	var text strings.Builder
	for ev, err := range m.LLM.Stream(ctx, req) {
		if err != nil {
			return d, used, fmt.Errorf("design an agent with %s: %w", m.Ref, err)
		}
		switch ev := ev.(type) {
		case llm.TextDelta:
			if text.Len() < maxDraft {
				text.WriteString(ev.Text)
			}
		case llm.Finish:
			used = m.Tokens(ev.Usage)
		}
	}
	d, err = readDraft(text.String())
	return d, used, err
}

// readDraft finds the JSON object in an answer, which may be fenced or follow words.
func readDraft(answer string) (AgentDraft, error) {
	for i := strings.IndexByte(answer, '{'); i >= 0; {
		var d AgentDraft
		err := json.NewDecoder(strings.NewReader(answer[i:])).Decode(&d)
		if err == nil && d.Identifier != "" && d.SystemPrompt != "" {
			return d, nil
		}
		next := strings.IndexByte(answer[i+1:], '{')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return AgentDraft{}, lathe.Errorf(lathe.CodeProvider, "try again, use another model with -m, or write the prompt with --prompt",
		"the model's answer is no agent")
}
