// Package jsonhook runs hooks where Go values cannot go: in a plugin's process, or in a
// program. Input and output are JSON in the shapes that OpenCode gives them, both ways.
package jsonhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/plugin"
)

// Names of the hooks, as OpenCode calls them. Stop is lathe's own.
const (
	ChatMessage       = "chat.message"
	ChatParams        = "chat.params"
	ChatHeaders       = "chat.headers"
	CommandBefore     = "command.execute.before"
	ToolBefore        = "tool.execute.before"
	ToolAfter         = "tool.execute.after"
	ToolDefinition    = "tool.definition"
	ShellEnv          = "shell.env"
	PermissionAsk     = "permission.ask"
	MessagesTransform = "experimental.chat.messages.transform"
	SystemTransform   = "experimental.chat.system.transform"
	Compacting        = "experimental.session.compacting"
	Autocontinue      = "experimental.compaction.autocontinue"
	TextComplete      = "experimental.text.complete"
	SmallModel        = "experimental.provider.small_model"
	Event             = "event"
	Stop              = "stop"
)

// Names are all hooks that a plugin or a program can have.
var Names = []string{
	ChatMessage, ChatParams, ChatHeaders, CommandBefore, ToolBefore, ToolAfter, ToolDefinition, ShellEnv, PermissionAsk,
	MessagesTransform, SystemTransform, Compacting, Autocontinue, TextComplete, SmallModel, Event, Stop,
}

// Caller runs a hook. It returns the output as the hook left it; nil means unchanged.
// Errors mean what they mean for [plugin.Hooks].
type Caller func(ctx context.Context, hook string, input, output json.RawMessage) (json.RawMessage, error)

// Describe returns a model and its provider in OpenCode's shapes, for hooks that are
// told of them; nil for one that is not known.
type Describe func(ref lathe.ModelRef) (model, provider any)

// Hooks returns the hooks of those names, carried out by a caller. A nil describe
// describes nothing.
func Hooks(name string, names []string, call Caller, describe Describe) plugin.Hooks {
	if describe == nil {
		describe = func(lathe.ModelRef) (any, any) { return nil, nil }
	}
	c := &carrier{call: call, describe: describe, ids: lathe.NewIDs(nil, nil)}
	h := plugin.Hooks{Name: name}
	for hook, set := range map[string]func(){
		ChatMessage:       func() { h.ChatMessage = c.chatMessage },
		ChatParams:        func() { h.ChatParams = c.chatParams },
		ChatHeaders:       func() { h.ChatHeaders = c.chatHeaders },
		CommandBefore:     func() { h.CommandBefore = c.commandBefore },
		ToolBefore:        func() { h.ToolBefore = c.toolBefore },
		ToolAfter:         func() { h.ToolAfter = c.toolAfter },
		ToolDefinition:    func() { h.ToolDefinition = c.toolDefinition },
		ShellEnv:          func() { h.ShellEnv = c.shellEnv },
		PermissionAsk:     func() { h.PermissionAsk = c.permissionAsk },
		MessagesTransform: func() { h.MessagesTransform = c.messagesTransform },
		SystemTransform:   func() { h.SystemTransform = c.systemTransform },
		Compacting:        func() { h.Compacting = c.compacting },
		Autocontinue:      func() { h.Autocontinue = c.autocontinue },
		TextComplete:      func() { h.TextComplete = c.textComplete },
		SmallModel:        func() { h.SmallModel = c.smallModel },
		Stop:              func() { h.Stop = c.stop },
		Event:             func() { h.Event = c.event },
	} {
		if slices.Contains(names, hook) {
			set()
		}
	}
	return h
}

type carrier struct {
	call     Caller
	describe Describe
	ids      *lathe.IDs
}

// carry encodes a hook's values, runs it and decodes its output into out, which may
// hold the previous value. It reports whether there was any output.
func (c *carrier) carry(ctx context.Context, hook string, input, output, out any) (bool, error) {
	in, err := wire.Marshal(input)
	if err != nil {
		return false, err
	}
	before, err := wire.Marshal(output)
	if err != nil {
		return false, err
	}
	after, err := c.call(ctx, hook, in, before)
	if err != nil || len(after) == 0 || equalJSON(after, before) {
		return false, err
	}
	if err := json.Unmarshal(after, out); err != nil {
		return false, fmt.Errorf("what it returned does not have the hook's shape: %w", err)
	}
	return true, nil
}
