//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/plugin/host"
	"lathe/internal/plugin/jsonhook"
	"lathe/internal/tool"
)

var said = lathe.Message{
	ID: "msg_0123456789ab01234567890123", SessionID: "ses_0123456789ab01234567890123", Created: time.UnixMilli(1000),
	Info:  &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}},
	Parts: []lathe.Part{{ID: "prt_0123456789ab01234567890123", MessageID: "msg_0123456789ab01234567890123", SessionID: "ses_0123456789ab01234567890123", Body: &lathe.Text{Text: "old"}}},
}

// hookCase calls a hook and tells the text that it may change.
type hookCase struct {
	hook   string
	change string // JavaScript that changes the output to v
	call   func(ctx context.Context, c *plugin.Chain) string
}

func text(list []lathe.PartBody) string {
	if len(list) != 1 {
		return fmt.Sprint(len(list))
	}
	return list[0].(*lathe.Text).Text
}

var hookCases = []hookCase{
	{jsonhook.ChatMessage, "output.parts[0].text = v", func(ctx context.Context, c *plugin.Chain) string {
		out, err := c.ChatMessage(ctx, plugin.ChatMessageInput{SessionID: said.SessionID, MessageID: said.ID},
			plugin.ChatMessage{User: *said.Info.(*lathe.User), Parts: []lathe.PartBody{&lathe.Text{Text: "old"}}})
		if err != nil {
			return err.Error()
		}
		return text(out.Parts)
	}},
	{jsonhook.ChatParams, "output.options.v = v", func(ctx context.Context, c *plugin.Chain) string {
		return c.ChatParams(ctx, plugin.ChatParamsInput{Message: said}, plugin.ChatParams{Options: map[string]any{"v": "old"}}).Options["v"].(string)
	}},
	{jsonhook.ChatHeaders, "output.headers.v = v", func(ctx context.Context, c *plugin.Chain) string {
		return c.ChatHeaders(ctx, plugin.ChatParamsInput{Message: said}, map[string]string{"v": "old"})["v"]
	}},
	{jsonhook.CommandBefore, "output.parts[0].text = v", func(ctx context.Context, c *plugin.Chain) string {
		return text(c.CommandBefore(ctx, plugin.CommandInput{}, []lathe.PartBody{&lathe.Text{Text: "old"}}))
	}},
	{jsonhook.ToolBefore, "output.args.v = v", func(ctx context.Context, c *plugin.Chain) string {
		raw, err := c.ToolBefore(ctx, plugin.ToolInput{Tool: "bash", Args: json.RawMessage(`{"v":"old"}`)})
		if err != nil {
			return "refused"
		}
		var args struct{ V string }
		if json.Unmarshal(raw, &args) != nil {
			return "refused" // by the check of arguments that follows
		}
		return args.V
	}},
	{jsonhook.ToolAfter, "output.output = v", func(ctx context.Context, c *plugin.Chain) string {
		return c.ToolAfter(ctx, plugin.ToolInput{Tool: "bash"}, tool.Result{Output: "old"}).Output
	}},
	{jsonhook.ToolDefinition, "output.description = v", func(ctx context.Context, c *plugin.Chain) string {
		return c.ToolDefinition(ctx, plugin.ToolDefinitionInput{Tool: "bash"}, plugin.ToolDefinition{Description: "old", Schema: json.RawMessage(`{}`)}).Description
	}},
	{jsonhook.ShellEnv, "output.env.V = v", func(ctx context.Context, c *plugin.Chain) string {
		if v, ok := c.ShellEnv(ctx, plugin.ShellEnvInput{Dir: "/"})["V"]; ok {
			return v
		}
		return "old"
	}},
	{jsonhook.MessagesTransform, "output.messages[0].parts[0].text = v", func(ctx context.Context, c *plugin.Chain) string {
		return c.Messages(ctx, plugin.MessagesInput{}, []lathe.Message{said})[0].Parts[0].Body.(*lathe.Text).Text
	}},
	{jsonhook.SystemTransform, "output.system[0] = v", func(ctx context.Context, c *plugin.Chain) string {
		return c.System(ctx, plugin.SystemInput{}, []string{"old"})[0]
	}},
	{jsonhook.Compacting, "output.prompt = v", func(ctx context.Context, c *plugin.Chain) string {
		return c.Compacting(ctx, plugin.CompactingInput{}, plugin.Compacting{Prompt: "old"}).Prompt
	}},
	{jsonhook.TextComplete, "output.text = v", func(ctx context.Context, c *plugin.Chain) string {
		return c.TextComplete(ctx, plugin.TextInput{}, "old")
	}},
	{jsonhook.Autocontinue, "output.enabled = false", func(ctx context.Context, c *plugin.Chain) string {
		if c.Autocontinue(ctx, plugin.AutocontinueInput{Message: said}, true) {
			return "old"
		}
		return "new"
	}},
	{jsonhook.PermissionAsk, `output.status = "deny"`, func(ctx context.Context, c *plugin.Chain) string {
		if c.PermissionAsk(ctx, lathe.Ask{}) == lathe.Deny {
			return "new"
		}
		return "old"
	}},
	{jsonhook.SmallModel, "output.model = { providerID: \"p\" }; output.model.id = v", func(ctx context.Context, c *plugin.Chain) string {
		if small := c.SmallModel(ctx, plugin.SmallModelInput{}); small.Model != "" {
			return small.Model
		}
		return "old"
	}},
	{jsonhook.Stop, "output.continue = v", func(ctx context.Context, c *plugin.Chain) string {
		if why := c.Stop(ctx, plugin.StopInput{}); why != "" {
			return why
		}
		return "old"
	}},
}

// Each hook that works, throws, hangs, leaves garbage, dies, or leaves 10 MB: only the
// first and the last change anything, and nothing but an error before a tool stops it.
func TestHooksAndWhatCanGoWrong(t *testing.T) {
	large := strings.Repeat("x", 10_000_000)
	modes := []struct{ name, body, want string }{
		{"works", `const v = "new"; CHANGE`, "new"},
		{"large", `const v = "x".repeat(10_000_000); CHANGE`, large},
		{"throws", `const v = "new"; CHANGE; throw new Error("no")`, "old"},
		{"hangs", `const v = "new"; CHANGE; await new Promise(() => {})`, "old"},
		{"garbage", `for (const k of Object.keys(output)) output[k] = 7n > 0 ? [[]] : 0`, "old"},
		{"dies", `process.exit(3)`, "old"},
	}
	each(t, func(t *testing.T, r *rig) {
		if testing.Short() {
			t.Skip("it starts many processes")
		}
		for _, mode := range modes {
			shared := mode.name != "dies"
			if r.o.Limit = time.Minute; mode.name == "hangs" {
				r.o.Limit = 250 * time.Millisecond
			}
			var h interface{ Hooks() []plugin.Hooks }
			if shared {
				h = r.with(mode.body, hookCases...)
			}
			for _, hc := range hookCases {
				if !shared {
					h = r.with(mode.body, hc)
				}
				if mode.name == "large" {
					h = r.with(mode.body, hc)
				}
				want := mode.want
				switch {
				case hc.hook == jsonhook.ToolBefore && (mode.name == "throws" || mode.name == "garbage"):
					want = "refused"
				case mode.name == "large" && !strings.HasSuffix(hc.change, "= v"):
					want = "new"
				}
				got := hc.call(t.Context(), plugin.NewChain(r.o.Report, h.Hooks()...))
				if got != want {
					t.Errorf("%s %s: %.60q, want %.60q", hc.hook, mode.name, got, want)
				}
			}
		}
	})
}

// with starts a host of one plugin that has these hooks, each with a body.
func (r *rig) with(body string, cases ...hookCase) interface{ Hooks() []plugin.Hooks } {
	var b strings.Builder
	b.WriteString("export const P = async () => ({\n")
	for _, hc := range cases {
		fmt.Fprintf(&b, "%q: async (input, output) => { %s },\n", hc.hook, strings.ReplaceAll(body, "CHANGE", hc.change))
	}
	b.WriteString("})\n")
	r.sources = nil
	r.write("plugin/p.js", b.String())
	return r.start(`{}`)
}

// A plugin that never lets go of the process is ended, and the others run again.
func TestSpinningPlugin(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.o.Limit = 300 * time.Millisecond
		r.write("plugin/spin.js", `export const S = async () => ({ async "experimental.text.complete"(i, o) { for (;;) {} } })`)
		r.write("plugin/good.js", `export const G = async () => ({ async "shell.env"(i, o) { o.env.GOOD = "1" } })`)
		h := r.start(`{}`)
		c := r.chain(h)
		pid := h.PID()
		if got := c.TextComplete(t.Context(), plugin.TextInput{}, "old"); got != "old" {
			t.Errorf("text %q", got)
		}
		for i := 0; c.ShellEnv(t.Context(), plugin.ShellEnvInput{})["GOOD"] != "1"; i++ {
			if i == 400 {
				t.Fatal("the process does not run again")
			}
			time.Sleep(20 * time.Millisecond)
		}
		if h.PID() == pid {
			t.Error("the process that was stuck runs on")
		}
		if told := r.said(); !strings.Contains(told, "spin: hook experimental.text.complete: it took longer than 300ms") ||
			strings.Count(told, "the plugins' process died") != 1 {
			t.Errorf("told %q", told)
		}
	})
}

// A warm hook costs little over nothing. The figure in docs/benchmarks.md is made with it.
func BenchmarkWarmHook(b *testing.B) {
	for name, path := range runtimes(b) {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, path)
			r.write("plugin/p.js", `export const P = async () => ({ async "tool.execute.before"(i, o) {} })`)
			h := host.New(r.sources, r.o)
			defer h.Close()
			if err := h.Start(b.Context(), json.RawMessage(`{}`)); err != nil {
				b.Fatal(err)
			}
			c := plugin.NewChain(nil, h.Hooks()...)
			for b.Loop() {
				if _, err := c.ToolBefore(b.Context(), plugin.ToolInput{Tool: "bash", Args: json.RawMessage(`{"command":"ls"}`)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
