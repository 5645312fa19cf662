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

// DesignAgent asks a model to design an agent from a description. The built-in
// models that need no provider cannot do this; the error says so.
func (i *Instance) DesignAgent(ctx context.Context, ref lathe.ModelRef, description string) (AgentDraft, error) {
	var d AgentDraft
	if ref.IsZero() {
		def, _, err := i.Models.Default(ctx)
		if err != nil {
			return d, err
		}
		ref = def
	}
	m, err := i.Models.Get(ref)
	if err != nil {
		return d, err
	}
	if m.Protocol == provider.ProtocolBuiltin && ref.Provider == "offline" {
		return d, lathe.Errorf(lathe.CodeInvalid, "write the agent's prompt with --prompt, or connect a model: lathe auth login",
			"no language model is connected that could design an agent")
	}
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
			return d, fmt.Errorf("design an agent with %s: %w", ref, err)
		}
		if t, ok := ev.(llm.TextDelta); ok && text.Len() < maxDraft {
			text.WriteString(t.Text)
		}
	}
	return readDraft(text.String())
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
