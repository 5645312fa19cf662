// Package plugin lets code from outside the engine take part: hooks see, and may change,
// what passes through a session.
//
// Hooks are called one after the other in the order they were loaded; each sees the
// value as the previous one left it. A hook that fails or panics is reported and
// counts as not called: its changes are dropped. Two hooks can stop what they are
// called for: [Hooks.ToolBefore] with any error that is not a [NotCalled], and
// [Hooks.ChatMessage] with a [Refusal]. With a [Doubt], [Hooks.ToolBefore] makes lathe
// ask the person.
package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lathe"
	"lathe/internal/tool"
)

// Hooks are the hooks of one plugin; nil fields are skipped. The out argument is
// the plugin's own copy until it returns nil. Message bodies, which are behind
// pointers, are replaced, never changed in place. Hooks of one session may be
// called from several goroutines.
type Hooks struct {
	Name string // of the plugin, for reports

	// ChatMessage sees a prompt before it is stored.
	ChatMessage func(ctx context.Context, in ChatMessageInput, out *ChatMessage) error
	// ChatParams sees the settings of a model request.
	ChatParams func(ctx context.Context, in ChatParamsInput, out *ChatParams) error
	// ChatHeaders sees the headers that are added to a model request.
	ChatHeaders func(ctx context.Context, in ChatParamsInput, out *map[string]string) error
	// SystemTransform sees the system blocks of a request.
	SystemTransform func(ctx context.Context, in SystemInput, out *[]string) error
	// MessagesTransform sees the history that a request is made of; what it changes
	// is sent, not stored.
	MessagesTransform func(ctx context.Context, in MessagesInput, out *[]lathe.Message) error
	// ToolBefore sees the arguments of a call before they are checked. Its error
	// makes the call fail.
	ToolBefore func(ctx context.Context, in ToolInput, args *json.RawMessage) error
	// ToolAfter sees the result of a call.
	ToolAfter func(ctx context.Context, in ToolInput, out *tool.Result) error
	// ToolDefinition sees a tool's definition before it is sent to the model, once for each set of tools.
	ToolDefinition func(ctx context.Context, in ToolDefinitionInput, out *ToolDefinition) error
	// ShellEnv sees the variables that a command gets in addition to its environment.
	ShellEnv func(ctx context.Context, in ShellEnvInput, out *map[string]string) error
	// PermissionAsk sees a request that the rules would ask the user about, and may
	// set the action to Allow or Deny.
	PermissionAsk func(ctx context.Context, in lathe.Ask, out *lathe.Action) error
	// TextComplete sees a text of the model when it is complete.
	TextComplete func(ctx context.Context, in TextInput, out *string) error
	// Compacting sees what a compaction asks the model.
	Compacting func(ctx context.Context, in CompactingInput, out *Compacting) error
	// Autocontinue sees whether the model goes on by itself after a compaction.
	Autocontinue func(ctx context.Context, in AutocontinueInput, out *bool) error
	// Stop sees that the model has answered and asks for nothing more. A text that it
	// sets is sent to the model, which then continues.
	Stop func(ctx context.Context, in StopInput, out *string) error
	// SmallModel sees which model makes titles and the like beside another one.
	SmallModel func(ctx context.Context, in SmallModelInput, out *lathe.ModelRef) error
	// CommandBefore sees the parts of a command before they are sent.
	CommandBefore func(ctx context.Context, in CommandInput, parts *[]lathe.PartBody) error
	// Event sees what happens, in order, some time after it happened.
	Event func(ctx context.Context, ev lathe.Envelope) error
}

// Inputs of hooks.
type (
	// ChatMessageInput says where a prompt goes.
	ChatMessageInput struct {
		SessionID lathe.SessionID
		MessageID lathe.MessageID
		Agent     string
		Model     lathe.ModelRef
	}
	// ChatMessage is a prompt that is about to be stored.
	ChatMessage struct {
		User  lathe.User
		Parts []lathe.PartBody
	}
	// ChatParamsInput says what a request is for.
	ChatParamsInput struct {
		SessionID lathe.SessionID
		Agent     string
		Model     lathe.ModelRef
		Message   lathe.Message // the user message that is answered
	}
	// ChatParams are the settings of a request. Nil is the model's default.
	ChatParams struct {
		Temperature, TopP *float64
		TopK, MaxOutput   *int
		Options           map[string]any
	}
	// SystemInput says what a system prompt is for.
	SystemInput struct {
		SessionID lathe.SessionID
		Agent     string
		Model     lathe.ModelRef
	}
	// MessagesInput says whose history it is.
	MessagesInput struct{ SessionID lathe.SessionID }
	// ToolInput names a call. Args are the arguments of the call.
	ToolInput struct {
		Tool      string
		SessionID lathe.SessionID
		CallID    string
		Args      json.RawMessage
	}
	// ToolDefinitionInput names a tool.
	ToolDefinitionInput struct{ Tool string }
	// ToolDefinition is a tool's definition as the model gets it.
	ToolDefinition struct {
		Description string
		Schema      json.RawMessage
	}
	// ShellEnvInput says which command gets the variables; a command that a person runs has no call.
	ShellEnvInput struct {
		Dir       string
		SessionID lathe.SessionID
		CallID    string
	}
	// AutocontinueInput says which compaction has just been done.
	AutocontinueInput struct {
		SessionID lathe.SessionID
		Agent     string
		Model     lathe.ModelRef
		Message   lathe.Message // the user message that is answered
		Overflow  bool          // the provider had refused a request for its size
	}
	// StopInput says which turn is about to end.
	StopInput struct {
		SessionID lathe.SessionID
		Agent     string
		Subagent  bool
		Continued bool // a hook already made the model continue in this turn
	}
	// SmallModelInput names the model that is used for all else.
	SmallModelInput struct{ Model lathe.ModelRef }
	// TextInput names a text part.
	TextInput struct {
		SessionID lathe.SessionID
		MessageID lathe.MessageID
		PartID    lathe.PartID
	}
	// CompactingInput says whose history is compacted.
	CompactingInput struct {
		SessionID lathe.SessionID
		Auto      bool // nobody asked for it
	}
	// Compacting is what a compaction asks the model: Context is added to the
	// request, and Prompt replaces it if not empty.
	Compacting struct {
		Context []string
		Prompt  string
	}
	// CommandInput says which command runs.
	CommandInput struct {
		Command   string
		SessionID lathe.SessionID
		Arguments string
	}
)

// Chain calls the hooks of all plugins. A nil Chain has none. It is safe for
// concurrent use if the hooks are.
type Chain struct {
	hooks  []Hooks
	report func(plugin string, err error)
	account
}

// NewChain returns a chain of hooks in load order. Report gets the errors of
// hooks; it may be nil.
func NewChain(report func(plugin string, err error), hooks ...Hooks) *Chain {
	if report == nil {
		report = func(string, error) {}
	}
	return &Chain{hooks: slices.Clone(hooks), report: report}
}

// transform passes a value through the hooks that pick returns.
func transform[T any](c *Chain, name string, value T, clone func(T) T, pick func(*Hooks) func(*T) error) T {
	if c == nil {
		return value
	}
	for i := range c.hooks {
		hook := pick(&c.hooks[i])
		if hook == nil {
			continue
		}
		next := clone(value)
		if err := c.run(&c.hooks[i], name, func() error { return hook(&next) }); err != nil {
			continue
		}
		value = next
	}
	return value
}

// run calls a hook, keeps account of it, and reports what went wrong.
func (c *Chain) run(h *Hooks, name string, f func() error) error {
	begin := time.Now()
	err := guard(f)
	if errors.Is(err, ErrNotMeant) {
		return nil
	}
	c.add(h.Name, name, time.Since(begin), err)
	if err != nil {
		c.report(h.Name, fmt.Errorf("hook %s: %w", name, err))
	}
	return err
}

// With returns a chain that calls the hooks of c and then more. It has its own account.
func (c *Chain) With(report func(plugin string, err error), more ...Hooks) *Chain {
	if c == nil {
		return NewChain(report, more...)
	}
	all := NewChain(report, slices.Concat(c.hooks, more)...)
	all.report = func(plugin string, err error) {
		if slices.ContainsFunc(c.hooks, func(h Hooks) bool { return h.Name == plugin }) {
			c.report(plugin, err)
			return
		}
		if report != nil {
			report(plugin, err)
		}
	}
	return all
}

// guard turns a panic of foreign code into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

func same[T any](v T) T { return v }

// ChatMessage passes a prompt through the hooks. The error is the [Refusal] of a
// hook that does not want it answered; the remaining hooks are then not called.
func (c *Chain) ChatMessage(ctx context.Context, in ChatMessageInput, v ChatMessage) (ChatMessage, error) {
	clone := func(v ChatMessage) ChatMessage {
		v.Parts, v.User.Tools = slices.Clone(v.Parts), maps.Clone(v.User.Tools)
		return v
	}
	var refused *Refusal
	out := transform(c, "chat.message", v, clone, func(h *Hooks) func(*ChatMessage) error {
		if h.ChatMessage == nil || refused != nil {
			return nil
		}
		return func(out *ChatMessage) error {
			err := h.ChatMessage(ctx, in, out)
			refused, _ = errors.AsType[*Refusal](err)
			return err
		}
	})
	if refused != nil {
		return v, refused
	}
	return out, nil
}

// ChatParams passes the settings of a request through the hooks.
func (c *Chain) ChatParams(ctx context.Context, in ChatParamsInput, v ChatParams) ChatParams {
	clone := func(v ChatParams) ChatParams {
		v.Temperature, v.TopP, v.Options = copied(v.Temperature), copied(v.TopP), maps.Clone(v.Options)
		v.TopK, v.MaxOutput = copied(v.TopK), copied(v.MaxOutput)
		return v
	}
	return transform(c, "chat.params", v, clone, func(h *Hooks) func(*ChatParams) error {
		return bind(ctx, in, h.ChatParams)
	})
}

func copied[T any](v *T) *T {
	if v == nil {
		return nil
	}
	return new(*v)
}

// System passes the system blocks of a request through the hooks. An empty list
// is ignored, and everything after an unchanged first block becomes one block, so
// that there are never more than two to cache.
func (c *Chain) System(ctx context.Context, in SystemInput, blocks []string) []string {
	out := transform(c, "experimental.chat.system.transform", blocks, slices.Clone, func(h *Hooks) func(*[]string) error {
		return bind(ctx, in, h.SystemTransform)
	})
	switch {
	case len(out) == 0:
		return blocks
	case len(out) > 2 && len(blocks) > 0 && out[0] == blocks[0]:
		rest := out[1]
		for _, b := range out[2:] {
			rest += "\n\n" + b
		}
		return []string{out[0], rest}
	}
	return out
}

// Messages passes the history of a request through the hooks.
func (c *Chain) Messages(ctx context.Context, in MessagesInput, history []lathe.Message) []lathe.Message {
	clone := func(list []lathe.Message) []lathe.Message {
		list = slices.Clone(list)
		for i := range list {
			list[i].Parts = slices.Clone(list[i].Parts)
		}
		return list
	}
	return transform(c, "experimental.chat.messages.transform", history, clone, func(h *Hooks) func(*[]lathe.Message) error {
		return bind(ctx, in, h.MessagesTransform)
	})
}

// ToolBefore passes the arguments of a call through the hooks. The first error ends the
// call. A [Doubt] does not: it is returned with the arguments once all hooks were
// called.
func (c *Chain) ToolBefore(ctx context.Context, in ToolInput) (json.RawMessage, error) {
	if c == nil {
		return in.Args, nil
	}
	var doubts error
	for i := range c.hooks {
		h := &c.hooks[i]
		if h.ToolBefore == nil {
			continue
		}
		args := slices.Clone(in.Args)
		begin := time.Now()
		err := guard(func() error { return h.ToolBefore(ctx, in, &args) })
		if doubt, asks := errors.AsType[*Doubt](err); asks {
			doubts, err = cmp.Or(doubts, error(doubt)), nil
		}
		if errors.Is(err, ErrNotMeant) {
			continue
		}
		if err == nil && !json.Valid(args) {
			err = fmt.Errorf("it returned arguments that are not JSON")
		}
		c.add(h.Name, "tool.execute.before", time.Since(begin), err)
		if _, not := errors.AsType[*NotCalled](err); not {
			c.report(h.Name, fmt.Errorf("hook tool.execute.before: %w", err))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("plugin %s: tool.execute.before: %w", h.Name, err)
		}
		in.Args = args
	}
	return in.Args, doubts
}

// ToolAfter passes the result of a call through the hooks.
func (c *Chain) ToolAfter(ctx context.Context, in ToolInput, v tool.Result) tool.Result {
	clone := func(v tool.Result) tool.Result {
		v.Metadata, v.Attachments = maps.Clone(v.Metadata), slices.Clone(v.Attachments)
		return v
	}
	return transform(c, "tool.execute.after", v, clone, func(h *Hooks) func(*tool.Result) error {
		return bind(ctx, in, h.ToolAfter)
	})
}

// PermissionAsk returns what the hooks decide about a request that would be
// asked: a denial outweighs everything.
func (c *Chain) PermissionAsk(ctx context.Context, ask lathe.Ask) lathe.Action {
	action := lathe.AskMe
	if c == nil {
		return action
	}
	for i := range c.hooks {
		h := &c.hooks[i]
		if h.PermissionAsk == nil {
			continue
		}
		next := action
		if err := c.run(h, "permission.ask", func() error { return h.PermissionAsk(ctx, ask, &next) }); err != nil {
			continue
		}
		if next == lathe.Deny {
			return next
		}
		if next == lathe.Allow || next == lathe.AskMe {
			action = next
		}
	}
	return action
}

// TextComplete passes a complete text of the model through the hooks.
func (c *Chain) TextComplete(ctx context.Context, in TextInput, text string) string {
	return transform(c, "experimental.text.complete", text, same, func(h *Hooks) func(*string) error {
		return bind(ctx, in, h.TextComplete)
	})
}

// Compacting passes what a compaction asks through the hooks.
func (c *Chain) Compacting(ctx context.Context, in CompactingInput, v Compacting) Compacting {
	clone := func(v Compacting) Compacting {
		v.Context = slices.Clone(v.Context)
		return v
	}
	return transform(c, "experimental.session.compacting", v, clone, func(h *Hooks) func(*Compacting) error {
		return bind(ctx, in, h.Compacting)
	})
}

// CommandBefore passes the parts of a command through the hooks.
func (c *Chain) CommandBefore(ctx context.Context, in CommandInput, parts []lathe.PartBody) []lathe.PartBody {
	return transform(c, "command.execute.before", parts, slices.Clone, func(h *Hooks) func(*[]lathe.PartBody) error {
		return bind(ctx, in, h.CommandBefore)
	})
}

// bind gives a hook its context and input; it is nil for a nil hook.
func bind[In, Out any](ctx context.Context, in In, hook func(context.Context, In, *Out) error) func(*Out) error {
	if hook == nil {
		return nil
	}
	return func(out *Out) error { return hook(ctx, in, out) }
}

// Listens reports whether any plugin wants events.
func (c *Chain) Listens() bool {
	return c != nil && slices.ContainsFunc(c.hooks, func(h Hooks) bool { return h.Event != nil })
}

// Has reports whether any plugin takes part at all.
func (c *Chain) Has() bool { return c != nil && len(c.hooks) > 0 }

// Event hands an event to the hooks.
func (c *Chain) Event(ctx context.Context, ev lathe.Envelope) {
	if c == nil {
		return
	}
	for i := range c.hooks {
		h := &c.hooks[i]
		if h.Event == nil {
			continue
		}
		_ = c.run(h, "event", func() error { return h.Event(ctx, ev) })
	}
}
