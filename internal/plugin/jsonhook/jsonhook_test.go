package jsonhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/plugin/jsonhook"
	"lathe/internal/tool"
)

const (
	session = lathe.SessionID("ses_0123456789ab01234567890123")
	message = lathe.MessageID("msg_0123456789ab01234567890123")
	part    = lathe.PartID("prt_0123456789ab01234567890123")
)

var history = []lathe.Message{{
	ID: message, SessionID: session, Seq: 7, Created: time.UnixMilli(1000),
	Info:  &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}},
	Parts: []lathe.Part{{ID: part, MessageID: message, SessionID: session, Body: &lathe.Text{Text: "héllo 世界 <&>\u2028"}}},
}}

// values calls every hook and returns what became of its value.
func values(c *plugin.Chain) map[string]any {
	ctx := context.Background()
	ref := lathe.ModelRef{Provider: "p", Model: "m"}
	chat := plugin.ChatParamsInput{SessionID: session, Agent: "build", Model: ref, Message: history[0]}
	out := map[string]any{}
	msg, err := c.ChatMessage(ctx, plugin.ChatMessageInput{SessionID: session, MessageID: message, Agent: "build", Model: ref},
		plugin.ChatMessage{User: *history[0].Info.(*lathe.User), Parts: []lathe.PartBody{history[0].Parts[0].Body}})
	out[jsonhook.ChatMessage] = []any{msg, err}
	out[jsonhook.ChatParams] = c.ChatParams(ctx, chat, plugin.ChatParams{Temperature: new(0.5), TopK: new(40)})
	out[jsonhook.ChatHeaders] = c.ChatHeaders(ctx, chat, map[string]string{"a": "b"})
	out[jsonhook.CommandBefore] = c.CommandBefore(ctx, plugin.CommandInput{Command: "c", SessionID: session}, []lathe.PartBody{history[0].Parts[0].Body})
	args, err := c.ToolBefore(ctx, plugin.ToolInput{Tool: "bash", SessionID: session, CallID: "x", Args: json.RawMessage(`{"a": 1}`)})
	out[jsonhook.ToolBefore] = []any{string(args), err}
	out[jsonhook.ToolAfter] = c.ToolAfter(ctx, plugin.ToolInput{Tool: "bash"}, tool.Result{Title: "t", Output: "o", Metadata: map[string]any{"n": 1.0}})
	out[jsonhook.ToolDefinition] = c.ToolDefinition(ctx, plugin.ToolDefinitionInput{Tool: "bash"}, plugin.ToolDefinition{Description: "d", Schema: json.RawMessage(`{"type": "object"}`)})
	out[jsonhook.ShellEnv] = c.ShellEnv(ctx, plugin.ShellEnvInput{Dir: "/d"})
	out[jsonhook.PermissionAsk] = c.PermissionAsk(ctx, lathe.Ask{SessionID: session, Permission: "bash"})
	out[jsonhook.MessagesTransform] = c.Messages(ctx, plugin.MessagesInput{SessionID: session}, history)
	out[jsonhook.SystemTransform] = c.System(ctx, plugin.SystemInput{SessionID: session}, []string{"one", "two"})
	out[jsonhook.Compacting] = c.Compacting(ctx, plugin.CompactingInput{SessionID: session}, plugin.Compacting{Context: []string{"c"}})
	out[jsonhook.Autocontinue] = c.Autocontinue(ctx, plugin.AutocontinueInput{SessionID: session, Message: history[0]}, true)
	out[jsonhook.TextComplete] = c.TextComplete(ctx, plugin.TextInput{}, "text")
	out[jsonhook.SmallModel] = c.SmallModel(ctx, plugin.SmallModelInput{Model: ref})
	out[jsonhook.Stop] = c.Stop(ctx, plugin.StopInput{SessionID: session})
	return out
}

// chain calls every hook through f.
func chain(t *testing.T, f jsonhook.Caller, report func(string, error)) *plugin.Chain {
	t.Helper()
	return plugin.NewChain(report, jsonhook.Hooks("p", jsonhook.Names, f, func(lathe.ModelRef) (any, any) {
		return map[string]any{"id": "m"}, map[string]any{"info": "x"}
	}))
}

// What comes back as it went changes nothing, even if it was written anew on the way.
func TestUnchanged(t *testing.T) {
	want := values(nil)
	want[jsonhook.ShellEnv] = map[string]string{}
	for name, f := range map[string]jsonhook.Caller{
		"nothing": func(context.Context, string, json.RawMessage, json.RawMessage) (json.RawMessage, error) {
			return nil, nil
		},
		"the same": func(_ context.Context, _ string, _, out json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(" " + string(out)), nil
		},
	} {
		got := values(chain(t, f, func(_ string, err error) { t.Errorf("%s: %v", name, err) }))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(time.Time{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Garbage of every kind is reported and changes nothing.
func TestGarbage(t *testing.T) {
	want := values(nil)
	want[jsonhook.ShellEnv] = map[string]string{}
	for _, text := range []string{`[]`, `7`, `"x"`, `{"parts":[{"type":"nonsense"}],"message":{"role":"user"}}`, `{`} {
		failed := 0
		got := values(chain(t, func(context.Context, string, json.RawMessage, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(text), nil
		}, func(string, error) { failed++ }))
		before, _ := got[jsonhook.ToolBefore].([]any)
		if strings.HasPrefix(text, `{"`) { // an object may have no key that the hook knows
			continue
		}
		if before[1] == nil || failed < len(want)-2 {
			t.Errorf("%s: %d hooks failed; before a call: %v", text, failed, before)
		}
		got[jsonhook.ToolBefore] = want[jsonhook.ToolBefore]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestChanged(t *testing.T) {
	outputs := map[string]string{
		jsonhook.ChatMessage:    `{"parts":[{"type":"text","text":"other","synthetic":true}]}`,
		jsonhook.ChatParams:     `{"temperature":0,"topP":0.1,"topK":3,"maxOutputTokens":99,"options":{"x":[1]}}`,
		jsonhook.ChatHeaders:    `{"headers":{"X-Y":"z"}}`,
		jsonhook.CommandBefore:  `{"parts":[]}`,
		jsonhook.ToolBefore:     `{"args":{"b":2}}`,
		jsonhook.ToolAfter:      `{"title":"T","output":"O","metadata":{"m":true}}`,
		jsonhook.ToolDefinition: `{"description":"D","parameters":{"type":"object","x":1},"jsonSchema":{"type":"object"}}`,
		jsonhook.ShellEnv:       `{"env":{"A":"b"}}`,
		jsonhook.PermissionAsk:  `{"status":"deny"}`,
		jsonhook.MessagesTransform: `{"messages":[{"info":{"id":"mine","sessionID":"","role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"m"}},
			"parts":[{"id":"x","type":"text","text":"made up"}]}]}`,
		jsonhook.SystemTransform: `{"system":["three"]}`,
		jsonhook.Compacting:      `{"context":[],"prompt":"P"}`,
		jsonhook.Autocontinue:    `{"enabled":false}`,
		jsonhook.TextComplete:    `{"text":""}`,
		jsonhook.SmallModel:      `{"model":{"id":"small/one","providerID":"q"}}`,
		jsonhook.Stop:            `{"continue":"more"}`,
	}
	got := values(chain(t, func(_ context.Context, hook string, _, _ json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(outputs[hook]), nil
	}, func(_ string, err error) { t.Error(err) }))
	made := got[jsonhook.MessagesTransform].([]lathe.Message)
	if len(made) != 1 || lathe.CheckID(string(made[0].ID), lathe.PrefixMessage) != nil || made[0].SessionID != session ||
		lathe.CheckID(string(made[0].Parts[0].ID), lathe.PrefixPart) != nil || made[0].Parts[0].Body.(*lathe.Text).Text != "made up" {
		t.Errorf("history %+v", made)
	}
	delete(got, jsonhook.MessagesTransform)
	want := map[string]any{
		jsonhook.ChatMessage: []any{plugin.ChatMessage{User: *history[0].Info.(*lathe.User),
			Parts: []lathe.PartBody{&lathe.Text{Text: "other", Synthetic: true}}}, nil},
		jsonhook.ChatParams:      plugin.ChatParams{Temperature: new(0.0), TopP: new(0.1), TopK: new(3), MaxOutput: new(99), Options: map[string]any{"x": []any{1.0}}},
		jsonhook.ChatHeaders:     map[string]string{"X-Y": "z"},
		jsonhook.CommandBefore:   []lathe.PartBody{},
		jsonhook.ToolBefore:      []any{`{"b":2}`, nil},
		jsonhook.ToolAfter:       tool.Result{Title: "T", Output: "O", Metadata: map[string]any{"m": true}},
		jsonhook.ToolDefinition:  plugin.ToolDefinition{Description: "D", Schema: json.RawMessage(`{"type":"object","x":1}`)},
		jsonhook.ShellEnv:        map[string]string{"A": "b"},
		jsonhook.PermissionAsk:   lathe.Deny,
		jsonhook.SystemTransform: []string{"three"},
		jsonhook.Compacting:      plugin.Compacting{Context: []string{}, Prompt: "P"},
		jsonhook.Autocontinue:    false,
		jsonhook.TextComplete:    "",
		jsonhook.SmallModel:      lathe.ModelRef{Provider: "q", Model: "small/one"},
		jsonhook.Stop:            "more",
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// A message that was not touched keeps what the wire does not carry.
func TestUntouchedMessagesStay(t *testing.T) {
	c := chain(t, func(_ context.Context, hook string, _, out json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(strings.Replace(string(out), `"messages":[`, `"messages":[{"info":{"role":"user","time":{"created":1},"agent":"a","model":{"providerID":"p","modelID":"m"}},"parts":[]},`, 1)), nil
	}, func(_ string, err error) { t.Error(err) })
	got := c.Messages(t.Context(), plugin.MessagesInput{}, history)
	if len(got) != 2 || got[1].Seq != 7 || got[1].Parts[0].Body != history[0].Parts[0].Body {
		t.Errorf("history %+v", got)
	}
}

func TestRefusalOfAPrompt(t *testing.T) {
	c := chain(t, func(context.Context, string, json.RawMessage, json.RawMessage) (json.RawMessage, error) {
		return nil, &plugin.Refusal{Plugin: "p", Reason: "no secrets"}
	}, nil)
	_, err := c.ChatMessage(t.Context(), plugin.ChatMessageInput{}, plugin.ChatMessage{})
	if err == nil || err.Error() != "p: no secrets" {
		t.Errorf("error %v", err)
	}
}
