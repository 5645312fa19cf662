package jsonhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/plugin"
)

type modelRef struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

func encodeRef(r lathe.ModelRef) *modelRef {
	if r.IsZero() {
		return nil
	}
	return &modelRef{r.Provider, r.Model}
}

func (c *carrier) chatMessage(ctx context.Context, in plugin.ChatMessageInput, v *plugin.ChatMessage) error {
	user := v.User
	m := lathe.Message{ID: in.MessageID, SessionID: in.SessionID, Info: &user}
	parts := c.identify(v.Parts, in.SessionID, in.MessageID)
	input := struct {
		SessionID lathe.SessionID `json:"sessionID"`
		Agent     string          `json:"agent,omitempty"`
		Model     *modelRef       `json:"model,omitempty"`
		MessageID lathe.MessageID `json:"messageID,omitempty"`
		Variant   string          `json:"variant,omitempty"`
	}{in.SessionID, in.Agent, encodeRef(in.Model), in.MessageID, in.Model.Variant}
	output := struct {
		Message any   `json:"message"`
		Parts   []any `json:"parts"`
	}{wire.EncodeInfo(m), encodeParts(parts)}
	var out struct {
		Message json.RawMessage   `json:"message"`
		Parts   []json.RawMessage `json:"parts"`
	}
	if changed, err := c.carry(ctx, ChatMessage, input, output, &out); !changed {
		return err
	}
	if len(out.Message) > 0 {
		info, err := wire.DecodeInfo(out.Message)
		if err != nil {
			return err
		}
		u, ok := info.Info.(*lathe.User)
		if !ok {
			return errors.New("the message it returned is not a user message")
		}
		v.User.System, v.User.Tools = u.System, u.Tools
	}
	bodies, err := decodeBodies(parts, out.Parts)
	if err == nil && out.Parts != nil {
		v.Parts = bodies
	}
	return err
}

// identify gives identifiers to parts that have none yet.
func (c *carrier) identify(bodies []lathe.PartBody, session lathe.SessionID, message lathe.MessageID) []lathe.Part {
	parts := make([]lathe.Part, len(bodies))
	for i, b := range bodies {
		parts[i] = lathe.Part{ID: c.ids.Part(), SessionID: session, MessageID: message, Body: b}
	}
	return parts
}

func encodeParts(parts []lathe.Part) []any {
	out := make([]any, 0, len(parts))
	for _, p := range parts {
		out = append(out, wire.EncodePart(p))
	}
	return out
}

// decodeBodies reads the changed parts. Unchanged ones stay the same values, so that
// nothing is lost that the wire does not carry.
func decodeBodies(before []lathe.Part, raws []json.RawMessage) ([]lathe.PartBody, error) {
	known := map[string]lathe.PartBody{}
	for _, p := range before {
		if raw, err := wire.Marshal(wire.EncodePart(p)); err == nil {
			known[string(raw)] = p.Body
		}
	}
	out := make([]lathe.PartBody, 0, len(raws))
	for i, raw := range raws {
		if body, same := known[string(raw)]; same {
			out = append(out, body)
			continue
		}
		body, err := wire.DecodeBody(raw)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		out = append(out, body)
	}
	return out, nil
}

func (c *carrier) commandBefore(ctx context.Context, in plugin.CommandInput, v *[]lathe.PartBody) error {
	parts := c.identify(*v, in.SessionID, "")
	input := struct {
		Command   string          `json:"command"`
		SessionID lathe.SessionID `json:"sessionID"`
		Arguments string          `json:"arguments"`
	}{in.Command, in.SessionID, in.Arguments}
	output := struct {
		Parts []any `json:"parts"`
	}{encodeParts(parts)}
	var out struct {
		Parts []json.RawMessage `json:"parts"`
	}
	changed, err := c.carry(ctx, CommandBefore, input, output, &out)
	if !changed || out.Parts == nil {
		return err
	}
	bodies, err := decodeBodies(parts, out.Parts)
	if err == nil {
		*v = bodies
	}
	return err
}

type chatInput struct {
	SessionID lathe.SessionID `json:"sessionID"`
	Agent     string          `json:"agent"`
	Model     any             `json:"model"`
	Provider  any             `json:"provider"`
	Message   any             `json:"message"`
}

func (c *carrier) chatInput(in plugin.ChatParamsInput) chatInput {
	model, provider := c.describe(in.Model)
	return chatInput{in.SessionID, in.Agent, model, provider, wire.EncodeInfo(in.Message)}
}

type chatParams struct {
	Temperature *float64       `json:"temperature,omitempty"`
	TopP        *float64       `json:"topP,omitempty"`
	TopK        *float64       `json:"topK,omitempty"`
	MaxOutput   *float64       `json:"maxOutputTokens,omitempty"`
	Options     map[string]any `json:"options"`
}

func (c *carrier) chatParams(ctx context.Context, in plugin.ChatParamsInput, v *plugin.ChatParams) error {
	output := chatParams{v.Temperature, v.TopP, toFloat(v.TopK), toFloat(v.MaxOutput), v.Options}
	if output.Options == nil {
		output.Options = map[string]any{}
	}
	var out chatParams
	if changed, err := c.carry(ctx, ChatParams, c.chatInput(in), output, &out); !changed {
		return err
	}
	topK, errK := toInt(out.TopK)
	most, errM := toInt(out.MaxOutput)
	if err := errors.Join(errK, errM); err != nil {
		return err
	}
	*v = plugin.ChatParams{Temperature: out.Temperature, TopP: out.TopP, TopK: topK, MaxOutput: most, Options: out.Options}
	return nil
}

func toFloat(n *int) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

func toInt(f *float64) (*int, error) {
	if f == nil {
		return nil, nil
	}
	if *f != math.Trunc(*f) || math.Abs(*f) > 1<<40 {
		return nil, fmt.Errorf("%v should be a whole number", *f)
	}
	return new(int(*f)), nil
}

func (c *carrier) chatHeaders(ctx context.Context, in plugin.ChatParamsInput, v *map[string]string) error {
	type headers struct {
		Headers map[string]string `json:"headers"`
	}
	var out headers
	changed, err := c.carry(ctx, ChatHeaders, c.chatInput(in), headers{*v}, &out)
	if changed && out.Headers != nil {
		*v = out.Headers
	}
	return err
}

func (c *carrier) systemTransform(ctx context.Context, in plugin.SystemInput, v *[]string) error {
	model, _ := c.describe(in.Model)
	input := struct {
		SessionID lathe.SessionID `json:"sessionID,omitempty"`
		Model     any             `json:"model"`
	}{in.SessionID, model}
	type system struct {
		System []string `json:"system"`
	}
	var out system
	changed, err := c.carry(ctx, SystemTransform, input, system{*v}, &out)
	if changed {
		*v = out.System
	}
	return err
}

func (c *carrier) textComplete(ctx context.Context, in plugin.TextInput, v *string) error {
	input := struct {
		SessionID lathe.SessionID `json:"sessionID"`
		MessageID lathe.MessageID `json:"messageID"`
		PartID    lathe.PartID    `json:"partID"`
	}{in.SessionID, in.MessageID, in.PartID}
	type text struct {
		Text *string `json:"text"`
	}
	var out text
	changed, err := c.carry(ctx, TextComplete, input, text{v}, &out)
	if changed && out.Text != nil {
		*v = *out.Text
	}
	return err
}

func (c *carrier) compacting(ctx context.Context, in plugin.CompactingInput, v *plugin.Compacting) error {
	type compacting struct {
		Context []string `json:"context"`
		Prompt  string   `json:"prompt,omitempty"`
	}
	out, input := compacting{}, struct {
		SessionID lathe.SessionID `json:"sessionID"`
	}{in.SessionID}
	before := compacting{Context: v.Context, Prompt: v.Prompt}
	if before.Context == nil {
		before.Context = []string{}
	}
	changed, err := c.carry(ctx, Compacting, input, before, &out)
	if changed {
		v.Context, v.Prompt = out.Context, out.Prompt
	}
	return err
}

func (c *carrier) autocontinue(ctx context.Context, in plugin.AutocontinueInput, v *bool) error {
	model, provider := c.describe(in.Model)
	input := struct {
		chatInput
		Overflow bool `json:"overflow"`
	}{chatInput{in.SessionID, in.Agent, model, provider, wire.EncodeInfo(in.Message)}, in.Overflow}
	type enabled struct {
		Enabled *bool `json:"enabled"`
	}
	var out enabled
	changed, err := c.carry(ctx, Autocontinue, input, enabled{v}, &out)
	if changed && out.Enabled != nil {
		*v = *out.Enabled
	}
	return err
}

func (c *carrier) smallModel(ctx context.Context, in plugin.SmallModelInput, v *lathe.ModelRef) error {
	_, provider := c.describe(in.Model)
	input := struct {
		Provider any `json:"provider"`
	}{provider}
	var out struct {
		Model *struct {
			ID         string `json:"id"`
			ProviderID string `json:"providerID"`
		} `json:"model"`
	}
	changed, err := c.carry(ctx, SmallModel, input, struct{}{}, &out)
	if !changed || out.Model == nil {
		return err
	}
	if out.Model.ID == "" {
		return errors.New("the model it returned has no id")
	}
	*v = lathe.ModelRef{Provider: cmp.Or(out.Model.ProviderID, in.Model.Provider), Model: out.Model.ID}
	return nil
}

func (c *carrier) stop(ctx context.Context, in plugin.StopInput, v *string) error {
	input := struct {
		SessionID lathe.SessionID `json:"sessionID"`
		Agent     string          `json:"agent"`
		Subagent  bool            `json:"subagent"`
		Continued bool            `json:"continued"`
	}{in.SessionID, in.Agent, in.Subagent, in.Continued}
	type stop struct {
		Continue string `json:"continue"` // what the model is told instead of stopping
	}
	var out stop
	changed, err := c.carry(ctx, Stop, input, stop{*v}, &out)
	if changed {
		*v = out.Continue
	}
	return err
}

func (c *carrier) event(ctx context.Context, env lathe.Envelope) error {
	out := plugin.ErrNotMeant
	for _, raw := range wire.EncodeEvents(env.Event) {
		input := append(append([]byte(`{"event":`), raw...), '}')
		_, err := c.call(ctx, Event, input, nil)
		switch {
		case err == nil:
			out = nil
		case !errors.Is(err, plugin.ErrNotMeant):
			return err
		}
	}
	return out
}

// equalJSON reports whether two texts are the same except for blanks.
func equalJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
