package wire

import (
	"encoding/json"
	"fmt"

	"lathe"
	"lathe/internal/api"
)

// DecodePrompt reads the body of a prompt.
func DecodePrompt(data []byte) (api.Prompt, error) {
	var in struct {
		MessageID lathe.MessageID   `json:"messageID"`
		Model     *model            `json:"model"`
		Agent     string            `json:"agent"`
		NoReply   bool              `json:"noReply"`
		System    string            `json:"system"`
		Tools     map[string]bool   `json:"tools"`
		Variant   string            `json:"variant"`
		Parts     []json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return api.Prompt{}, fmt.Errorf("decode prompt: %w", err)
	}
	out := api.Prompt{
		MessageID: in.MessageID, Agent: in.Agent, NoReply: in.NoReply, System: in.System, Tools: in.Tools,
	}
	if in.Model != nil {
		if in.Model.ProviderID == "" || in.Model.ModelID == "" {
			return out, fmt.Errorf("decode prompt: model has no providerID or no modelID")
		}
		out.Model = in.Model.decode("")
	}
	out.Model.Variant = in.Variant
	if in.Parts == nil {
		return out, fmt.Errorf("decode prompt: no parts")
	}
	var err error
	if out.Parts, err = DecodeInputs(in.Parts); err != nil {
		return out, err
	}
	out.PartIDs, err = DecodeInputIDs(in.Parts)
	return out, err
}

// DecodeInputIDs reads the identifiers that a client gave to parts; nil if it gave none.
func DecodeInputIDs(raws []json.RawMessage) ([]lathe.PartID, error) {
	var out []lathe.PartID
	for i, raw := range raws {
		var in struct {
			ID lathe.PartID `json:"id"`
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		if in.ID == "" {
			continue
		}
		if err := lathe.CheckID(string(in.ID), lathe.PrefixPart); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		if out == nil {
			out = make([]lathe.PartID, len(raws))
		}
		out[i] = in.ID
	}
	return out, nil
}

// DecodeInputs reads the parts that a client may send: text, file, agent, subtask.
func DecodeInputs(raws []json.RawMessage) ([]lathe.PartBody, error) {
	var out []lathe.PartBody
	for i, raw := range raws {
		body, err := DecodeBody(raw)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		switch body.(type) {
		case *lathe.Text, *lathe.File, *lathe.AgentMention, *lathe.Subtask:
			out = append(out, body)
		default:
			return nil, fmt.Errorf("part %d: not a kind of part that a prompt may have", i)
		}
	}
	return out, nil
}

// DecodeSessionRequest reads the body that creates or changes a session.
func DecodeSessionRequest(data []byte) (api.SessionRequest, error) {
	var in struct {
		ParentID   lathe.SessionID `json:"parentID"`
		Title      *string         `json:"title"`
		Permission *[]rule         `json:"permission"`
		Agent      string          `json:"agent"`
		Time       struct {
			Archived *float64 `json:"archived"`
		} `json:"time"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return api.SessionRequest{}, fmt.Errorf("decode session: %w", err)
	}
	out := api.SessionRequest{ParentID: in.ParentID, Title: in.Title, Agent: in.Agent, Archived: in.Time.Archived}
	if in.ParentID != "" {
		if err := lathe.CheckID(string(in.ParentID), lathe.PrefixSession); err != nil {
			return out, fmt.Errorf("decode session: %w", err)
		}
	}
	if in.Permission != nil {
		out.HasRules = true
		for _, r := range *in.Permission {
			if r.Permission == "" || (r.Action != lathe.Allow && r.Action != lathe.Deny && r.Action != lathe.AskMe) {
				return out, fmt.Errorf("decode session: permission %q with action %q is not a rule", r.Permission, r.Action)
			}
			out.Rules = append(out.Rules, lathe.Rule(r))
		}
	}
	return out, nil
}
