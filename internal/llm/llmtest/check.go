package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// check returns why a real provider would refuse the request.
func (h *Handler) check(r *Request) error {
	if r.Model == "" {
		return fmt.Errorf("model: Field required")
	}
	if len(r.Messages) == 0 {
		return fmt.Errorf("messages: at least one message is required")
	}
	if err := checkTools(r); err != nil {
		return err
	}
	for i, s := range r.System {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("system.%d: text must not be empty", i)
		}
	}
	if err := checkOrder(r); err != nil {
		return err
	}
	if err := checkPairs(r); err != nil {
		return err
	}
	if r.Protocol == "anthropic" {
		if err := checkAnthropic(r); err != nil {
			return err
		}
	}
	return h.checkSignatures(r)
}

const maxToolName = 64

func checkTools(r *Request) error {
	seen := map[string]bool{}
	for i, t := range r.Tools {
		if !isID(t.Name) || len(t.Name) > maxToolName {
			return fmt.Errorf("tools.%d.name: %q does not match ^[a-zA-Z0-9_-]{1,%d}$", i, t.Name, maxToolName)
		}
		if seen[t.Name] {
			return fmt.Errorf("tools.%d.name: tool names must be unique, and %q is not", i, t.Name)
		}
		seen[t.Name] = true
		if len(t.Schema) == 0 && r.Protocol == "google" {
			continue
		}
		var s struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(t.Schema, &s); err != nil || !strings.EqualFold(s.Type, "object") {
			return fmt.Errorf("tools.%d (%s): the schema must be a JSON Schema of type object", i, t.Name)
		}
		if err := CheckSchema(r.Protocol, t.Schema); err != nil {
			return fmt.Errorf("tools.%d (%s): %w", i, t.Name, err)
		}
	}
	return nil
}

func isID(s string) bool { return s != "" && adapter.SafeID(s) == s }

// checkOrder checks who speaks when, and that nobody says nothing.
func checkOrder(r *Request) error {
	strict := r.Protocol == "anthropic" || r.Protocol == "google"
	for i, m := range r.Messages {
		if len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: content must not be empty", i)
		}
		for _, c := range m.Content {
			if t, ok := c.(llm.Text); ok && t.Text == "" {
				return fmt.Errorf("messages.%d: text must not be empty", i)
			}
			if m, ok := c.(llm.Media); ok && len(m.Data) == 0 && m.URL == "" {
				return fmt.Errorf("messages.%d: media must not be empty", i)
			}
		}
		switch {
		case !strict:
		case i == 0 && m.Role != llm.RoleUser:
			return fmt.Errorf("messages: the first message must use the user role")
		case i > 0 && m.Role == llm.RoleAssistant && r.Messages[i-1].Role == llm.RoleAssistant:
			return fmt.Errorf("messages.%d: two assistant messages in a row", i)
		}
	}
	return nil
}

// checkPairs checks that every call is answered at once, and only calls are.
func checkPairs(r *Request) error {
	seen := map[string]bool{}
	open := map[string]bool{}
	for i, m := range r.Messages {
		calls := map[string]bool{}
		for _, c := range m.Content {
			switch c := c.(type) {
			case llm.ToolUse:
				switch {
				case m.Role != llm.RoleAssistant:
					return fmt.Errorf("messages.%d: a tool call outside an assistant message", i)
				case c.ID == "" || seen[c.ID]:
					return fmt.Errorf("messages.%d: tool call ids must be unique and not empty, and %q is not", i, c.ID)
				case c.Name == "":
					return fmt.Errorf("messages.%d: tool call %q has no name", i, c.ID)
				case !isObject(c.Input):
					return fmt.Errorf("messages.%d: input of tool call %q is not an object", i, c.ID)
				}
				seen[c.ID], calls[c.ID] = true, true
			case llm.ToolResult:
				if !open[c.ID] {
					return fmt.Errorf("messages.%d: unexpected tool result %q: each must answer a call of the message before", i, c.ID)
				}
				delete(open, c.ID)
			}
		}
		for id := range open {
			return fmt.Errorf("messages.%d: tool call %q has no result right after it", i, id)
		}
		if m.Role == llm.RoleAssistant {
			open = calls
		}
	}
	for id := range open {
		return fmt.Errorf("messages: tool call %q has no result", id)
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil && o != nil
}

const minBudget = 1024

func checkAnthropic(r *Request) error {
	switch {
	case r.MaxTokens < 1:
		return fmt.Errorf("max_tokens: must be at least 1")
	case r.thinking != 0 && r.thinking < minBudget:
		return fmt.Errorf("thinking.budget_tokens: must be at least %d", minBudget)
	case r.thinking >= r.MaxTokens:
		return fmt.Errorf("max_tokens: must be greater than thinking.budget_tokens")
	}
	for i, m := range r.Messages {
		for _, c := range m.Content {
			if u, ok := c.(llm.ToolUse); ok && !isID(u.ID) {
				return fmt.Errorf("messages.%d: tool_use.id %q does not match ^[a-zA-Z0-9_-]+$", i, u.ID)
			}
		}
	}
	last := r.Messages[len(r.Messages)-1]
	if t, ok := last.Content[len(last.Content)-1].(llm.Text); ok && last.Role == llm.RoleAssistant && strings.TrimRight(t.Text, " \n\t") != t.Text {
		return fmt.Errorf("messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}

// noSignature is what Gemini takes for a call that another model made.
const noSignature = "skip_thought_signature_validator"

// checkSignatures refuses reasoning that this server cannot have signed.
func (h *Handler) checkSignatures(r *Request) error {
	known := func(signature, text string) bool { return h.issued[signature] || signature == Sign(text) }
	for i, m := range r.Messages {
		signed := false
		for _, c := range m.Content {
			switch c := c.(type) {
			case llm.Reasoning:
				s := field(c.Meta[r.Protocol], "signature", "reasoningEncryptedContent", "thoughtSignature")
				redacted := field(c.Meta[r.Protocol], "redactedData")
				if r.Protocol != "openaichat" && redacted == "" && (s != "" || r.Protocol != "google") && !known(s, c.Text) {
					return fmt.Errorf("messages.%d: Invalid `signature` in `thinking` block", i)
				}
			case llm.ToolUse:
				s := field(c.Meta[r.Protocol], "thoughtSignature")
				if r.Protocol != "google" || !strings.Contains(r.Model, "gemini-3") || signed && s == "" {
					continue
				}
				if signed = true; s != noSignature && !h.issued[s] && !strings.HasPrefix(s, "sig-") {
					return fmt.Errorf("messages.%d: Function call is missing a thought_signature", i)
				}
			}
		}
	}
	return nil
}

func field(raw json.RawMessage, names ...string) string {
	var o map[string]string
	_ = json.Unmarshal(raw, &o)
	for _, n := range names {
		if o[n] != "" {
			return o[n]
		}
	}
	return ""
}
