package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"lathe"
)

// ChatHeaders passes the headers of a request through the hooks.
func (c *Chain) ChatHeaders(ctx context.Context, in ChatParamsInput, headers map[string]string) map[string]string {
	if !c.any(func(h *Hooks) bool { return h.ChatHeaders != nil }) {
		return headers
	}
	return transform(c, "chat.headers", headers, copyMap, func(h *Hooks) func(*map[string]string) error {
		return bind(ctx, in, h.ChatHeaders)
	})
}

func copyMap(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

// any reports whether some plugin has a given hook.
func (c *Chain) any(has func(*Hooks) bool) bool {
	if c == nil {
		return false
	}
	for i := range c.hooks {
		if has(&c.hooks[i]) {
			return true
		}
	}
	return false
}

// ToolDefinition passes a tool's definition through the hooks. A schema that is
// not a JSON object is ignored.
func (c *Chain) ToolDefinition(ctx context.Context, in ToolDefinitionInput, v ToolDefinition) ToolDefinition {
	if !c.any(func(h *Hooks) bool { return h.ToolDefinition != nil }) {
		return v
	}
	clone := func(v ToolDefinition) ToolDefinition {
		v.Schema = slices.Clone(v.Schema)
		return v
	}
	out := transform(c, "tool.definition", v, clone, func(h *Hooks) func(*ToolDefinition) error {
		return bind(ctx, in, h.ToolDefinition)
	})
	if !json.Valid(out.Schema) || !bytes.HasPrefix(bytes.TrimSpace(out.Schema), []byte("{")) {
		out.Schema = v.Schema
	}
	return out
}

// ShellEnv returns the variables that hooks add for a command; nil for none.
func (c *Chain) ShellEnv(ctx context.Context, in ShellEnvInput) map[string]string {
	if !c.any(func(h *Hooks) bool { return h.ShellEnv != nil }) {
		return nil
	}
	return transform(c, "shell.env", map[string]string{}, copyMap, func(h *Hooks) func(*map[string]string) error {
		return bind(ctx, in, h.ShellEnv)
	})
}

// Autocontinue passes whether the model goes on after a compaction through the hooks.
func (c *Chain) Autocontinue(ctx context.Context, in AutocontinueInput, on bool) bool {
	return transform(c, "experimental.compaction.autocontinue", on, same, func(h *Hooks) func(*bool) error {
		return bind(ctx, in, h.Autocontinue)
	})
}

// Stop asks the hooks whether the model may stop, and if not, returns what it is told.
func (c *Chain) Stop(ctx context.Context, in StopInput) string {
	return transform(c, "stop", "", same, func(h *Hooks) func(*string) error {
		return bind(ctx, in, h.Stop)
	})
}

// SmallModel passes the model for titles and the like through the hooks; zero means that
// lathe chooses.
func (c *Chain) SmallModel(ctx context.Context, in SmallModelInput) lathe.ModelRef {
	return transform(c, "experimental.provider.small_model", lathe.ModelRef{}, same, func(h *Hooks) func(*lathe.ModelRef) error {
		return bind(ctx, in, h.SmallModel)
	})
}
