package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/tool"
)

var errHook = errors.New("no")

// TestOrderAndFailures holds for one kind of hook what transform does for all:
// load order, and that a failed or panicking hook leaves no trace.
func TestOrderAndFailures(t *testing.T) {
	var reports []string
	add := func(s string, err error) plugin.Hooks {
		return plugin.Hooks{Name: s, TextComplete: func(_ context.Context, _ plugin.TextInput, out *string) error {
			*out += s
			return err
		}}
	}
	boom := plugin.Hooks{Name: "boom", TextComplete: func(_ context.Context, _ plugin.TextInput, out *string) error {
		*out = ""
		panic("oops")
	}}
	c := plugin.NewChain(func(p string, err error) { reports = append(reports, p+": "+err.Error()) },
		add("a", nil), add("b", errHook), boom, plugin.Hooks{Name: "none"}, add("c", nil))
	if got := c.TextComplete(t.Context(), plugin.TextInput{}, "x"); got != "xac" {
		t.Errorf("text %q", got)
	}
	want := []string{"b: hook experimental.text.complete: no", "boom: hook experimental.text.complete: panic: oops"}
	if diff := cmp.Diff(want, reports); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// TestFailedHooksCorruptNothing gives every hook a value with something to write
// into, and lets it fail after it wrote.
func TestFailedHooksCorruptNothing(t *testing.T) {
	ctx := t.Context()
	c := plugin.NewChain(nil, plugin.Hooks{
		ChatMessage: func(_ context.Context, _ plugin.ChatMessageInput, out *plugin.ChatMessage) error {
			out.Parts[0], out.User.Tools["x"] = nil, true
			return errHook
		},
		ChatParams: func(_ context.Context, _ plugin.ChatParamsInput, out *plugin.ChatParams) error {
			*out.Temperature, out.Options["a"] = 2, 2
			return errHook
		},
		MessagesTransform: func(_ context.Context, _ plugin.MessagesInput, out *[]lathe.Message) error {
			(*out)[0].Parts[0] = lathe.Part{}
			return errHook
		},
		ToolAfter: func(_ context.Context, _ plugin.ToolInput, out *tool.Result) error {
			out.Metadata["a"] = 2
			return errHook
		},
		Compacting: func(_ context.Context, _ plugin.CompactingInput, out *plugin.Compacting) error {
			out.Context[0] = "changed"
			return errHook
		},
		CommandBefore: func(_ context.Context, _ plugin.CommandInput, out *[]lathe.PartBody) error {
			(*out)[0] = nil
			return errHook
		},
		PermissionAsk: func(_ context.Context, _ lathe.Ask, out *lathe.Action) error {
			*out = lathe.Allow
			return errHook
		},
	})
	text := &lathe.Text{Text: "t"}
	msg := plugin.ChatMessage{User: lathe.User{Tools: map[string]bool{}}, Parts: []lathe.PartBody{text}}
	if got, err := c.ChatMessage(ctx, plugin.ChatMessageInput{}, msg); err != nil || got.Parts[0] != text || len(got.User.Tools) != 0 {
		t.Errorf("message %+v", got)
	}
	params := plugin.ChatParams{Temperature: new(1.0), Options: map[string]any{"a": 1}}
	if diff := cmp.Diff(plugin.ChatParams{Temperature: new(1.0), Options: map[string]any{"a": 1}}, c.ChatParams(ctx, plugin.ChatParamsInput{}, params)); diff != "" {
		t.Errorf("params (-want +got):\n%s", diff)
	}
	history := []lathe.Message{{Parts: []lathe.Part{{ID: "p"}}}}
	if got := c.Messages(ctx, plugin.MessagesInput{}, history); got[0].Parts[0].ID != "p" {
		t.Errorf("history %+v", got)
	}
	if got := c.ToolAfter(ctx, plugin.ToolInput{}, tool.Result{Metadata: map[string]any{"a": 1}}); got.Metadata["a"] != 1 {
		t.Errorf("result %+v", got)
	}
	if got := c.Compacting(ctx, plugin.CompactingInput{}, plugin.Compacting{Context: []string{"c"}}); got.Context[0] != "c" {
		t.Errorf("compacting %+v", got)
	}
	if got := c.CommandBefore(ctx, plugin.CommandInput{}, []lathe.PartBody{text}); got[0] != text {
		t.Errorf("parts %+v", got)
	}
	if got := c.PermissionAsk(ctx, lathe.Ask{}); got != lathe.AskMe {
		t.Errorf("a failed hook answered an ask with %q", got)
	}
}

func TestSystem(t *testing.T) {
	chain := func(f func([]string) []string) *plugin.Chain {
		return plugin.NewChain(nil, plugin.Hooks{SystemTransform: func(_ context.Context, _ plugin.SystemInput, out *[]string) error {
			*out = f(*out)
			return nil
		}})
	}
	in := []string{"a", "b"}
	for name, tt := range map[string]struct {
		f    func([]string) []string
		want []string
	}{
		"emptied is restored":        {func([]string) []string { return nil }, in},
		"more is joined":             {func(s []string) []string { return append(s, "c", "d") }, []string{"a", "b\n\nc\n\nd"}},
		"a new first block is taken": {func([]string) []string { return []string{"x", "y", "z"} }, []string{"x", "y", "z"}},
	} {
		if diff := cmp.Diff(tt.want, chain(tt.f).System(t.Context(), plugin.SystemInput{}, in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestToolBefore(t *testing.T) {
	hook := func(args string, err error) plugin.Hooks {
		return plugin.Hooks{Name: "p", ToolBefore: func(_ context.Context, in plugin.ToolInput, out *json.RawMessage) error {
			*out = json.RawMessage(args)
			return err
		}}
	}
	in := plugin.ToolInput{Tool: "read", Args: json.RawMessage(`{}`)}
	got, err := plugin.NewChain(nil, hook(`{"a":1}`, nil)).ToolBefore(t.Context(), in)
	if err != nil || string(got) != `{"a":1}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, h := range []plugin.Hooks{hook(`{}`, errHook), hook(`{`, nil)} {
		if _, err := plugin.NewChain(nil, h).ToolBefore(t.Context(), in); err == nil {
			t.Error("the call was let through")
		}
	}
}

func TestPermissionAndEvents(t *testing.T) {
	ask := func(a lathe.Action) plugin.Hooks {
		return plugin.Hooks{PermissionAsk: func(_ context.Context, _ lathe.Ask, out *lathe.Action) error { *out = a; return nil }}
	}
	if got := plugin.NewChain(nil, ask(lathe.Deny), ask(lathe.Allow)).PermissionAsk(t.Context(), lathe.Ask{}); got != lathe.Deny {
		t.Errorf("a denial became %q", got)
	}
	if got := plugin.NewChain(nil, ask("nonsense")).PermissionAsk(t.Context(), lathe.Ask{}); got != lathe.AskMe {
		t.Errorf("nonsense became %q", got)
	}
	var seen []uint64
	c := plugin.NewChain(nil, plugin.Hooks{Event: func(_ context.Context, ev lathe.Envelope) error { seen = append(seen, ev.Seq); return errHook }})
	c.Event(t.Context(), lathe.Envelope{Seq: 1})
	c.Event(t.Context(), lathe.Envelope{Seq: 2})
	if !c.Listens() || !cmp.Equal(seen, []uint64{1, 2}) {
		t.Errorf("events %v", seen)
	}
	var none *plugin.Chain
	none.Event(t.Context(), lathe.Envelope{})
	if none.Listens() || none.Has() || none.TextComplete(t.Context(), plugin.TextInput{}, "x") != "x" || none.PermissionAsk(t.Context(), lathe.Ask{}) != lathe.AskMe {
		t.Error("a nil chain does something")
	}
}
