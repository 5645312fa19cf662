package jsonhook

import (
	"context"
	"encoding/json"
	"fmt"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/plugin"
	"lathe/internal/tool"
)

type toolInput struct {
	Tool      string          `json:"tool"`
	SessionID lathe.SessionID `json:"sessionID"`
	CallID    string          `json:"callID"`
	Args      json.RawMessage `json:"args,omitempty"`
}

func (c *carrier) toolBefore(ctx context.Context, in plugin.ToolInput, v *json.RawMessage) error {
	type args struct {
		Args json.RawMessage `json:"args"`
	}
	if len(*v) == 0 || !json.Valid(*v) { // the model's own arguments are checked later
		return nil
	}
	var out args
	changed, err := c.carry(ctx, ToolBefore, toolInput{in.Tool, in.SessionID, in.CallID, nil}, args{*v}, &out)
	if changed && out.Args != nil && !equalJSON(out.Args, *v) {
		*v = out.Args
	}
	return err
}

func (c *carrier) toolAfter(ctx context.Context, in plugin.ToolInput, v *tool.Result) error {
	type result struct {
		Title    string         `json:"title"`
		Output   *string        `json:"output"`
		Metadata map[string]any `json:"metadata"`
	}
	before := result{v.Title, &v.Output, v.Metadata}
	if before.Metadata == nil {
		before.Metadata = map[string]any{}
	}
	var out result
	changed, err := c.carry(ctx, ToolAfter, toolInput(in), before, &out)
	if !changed {
		return err
	}
	v.Title = out.Title
	if out.Output != nil {
		v.Output = *out.Output
	}
	if out.Metadata != nil {
		v.Metadata = out.Metadata
	}
	return nil
}

func (c *carrier) toolDefinition(ctx context.Context, in plugin.ToolDefinitionInput, v *plugin.ToolDefinition) error {
	input := struct {
		ToolID string `json:"toolID"`
	}{in.Tool}
	type definition struct {
		Description *string         `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		JSONSchema  json.RawMessage `json:"jsonSchema"`
	}
	var out definition
	changed, err := c.carry(ctx, ToolDefinition, input, definition{&v.Description, v.Schema, v.Schema}, &out)
	if !changed {
		return err
	}
	if out.Description != nil {
		v.Description = *out.Description
	}
	for _, schema := range []json.RawMessage{out.Parameters, out.JSONSchema} { // either may have been changed
		if len(schema) > 0 && !equalJSON(schema, v.Schema) {
			v.Schema = schema
			break
		}
	}
	return nil
}

func (c *carrier) shellEnv(ctx context.Context, in plugin.ShellEnvInput, v *map[string]string) error {
	input := struct {
		Cwd       string          `json:"cwd"`
		SessionID lathe.SessionID `json:"sessionID,omitempty"`
		CallID    string          `json:"callID,omitempty"`
	}{in.Dir, in.SessionID, in.CallID}
	type env struct {
		Env map[string]string `json:"env"`
	}
	var out env
	changed, err := c.carry(ctx, ShellEnv, input, env{*v}, &out)
	if changed && out.Env != nil {
		*v = out.Env
	}
	return err
}

func (c *carrier) permissionAsk(ctx context.Context, in lathe.Ask, v *lathe.Action) error {
	type status struct {
		Status lathe.Action `json:"status"`
	}
	var out status
	changed, err := c.carry(ctx, PermissionAsk, wire.EncodeAsk(in), status{*v}, &out)
	if !changed {
		return err
	}
	switch out.Status {
	case lathe.Allow, lathe.Deny, lathe.AskMe:
		*v = out.Status
		return nil
	}
	return fmt.Errorf("status %q is neither ask, allow nor deny", out.Status)
}
