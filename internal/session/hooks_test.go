package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/plugin"
	"lathe/internal/session"
	"lathe/internal/tool"
)

// hooked runs one prompt in which the model globs, under the hooks.
func hooked(t *testing.T, h plugin.Hooks) (*play, lathe.SessionID) {
	t.Helper()
	p := newPlay(t, nil, func(req *llm.Request) say {
		if strings.HasPrefix(said(req.Messages[:1]), "go") && len(req.Messages) == 1 {
			return say{text: "I look.", calls: []use{{"glob", args{"pattern": "*.go"}}}}
		}
		return say{text: "found it"}
	})
	p.opts.Hooks = plugin.NewChain(func(plugin string, err error) { t.Logf("%s: %v", plugin, err) }, h)
	p.open()
	id := p.session()
	if out := p.prompt(id, session.Prompt{}, "go"); out.Failure != nil {
		t.Fatalf("outcome %+v", out)
	}
	return p, id
}

var errHook = errors.New("not today")

func TestChatHooks(t *testing.T) {
	p, id := hooked(t, plugin.Hooks{
		ChatMessage: func(_ context.Context, in plugin.ChatMessageInput, out *plugin.ChatMessage) error {
			out.Parts = append(out.Parts, &lathe.Text{Text: "hooked for " + in.Agent, Synthetic: true})
			out.User.Agent = "nobody" // is not taken
			return nil
		},
		ChatParams: func(_ context.Context, _ plugin.ChatParamsInput, out *plugin.ChatParams) error {
			out.Options = map[string]any{"seed": 1}
			return nil
		},
		SystemTransform: func(_ context.Context, _ plugin.SystemInput, out *[]string) error {
			*out = append(*out, "more system")
			return nil
		},
		MessagesTransform: func(_ context.Context, _ plugin.MessagesInput, out *[]lathe.Message) error {
			m := (*out)[0]
			m.Parts = slices.Clone(m.Parts)
			m.Parts = append(m.Parts, lathe.Part{Body: &lathe.Text{Text: "only sent"}})
			(*out)[0] = m
			return nil
		},
		TextComplete: func(_ context.Context, _ plugin.TextInput, out *string) error {
			*out = strings.ToUpper(*out)
			return nil
		},
	})
	req := p.asked()[0]
	if text := said(req.Messages); !strings.Contains(text, "hooked for build") || !strings.Contains(text, "only sent") {
		t.Errorf("the model was told %q", text)
	}
	if len(req.System) != 2 || !strings.HasSuffix(req.System[1], "more system") {
		t.Errorf("%d system blocks", len(req.System))
	}
	list := p.messages(id)
	if len(list[0].Parts) != 2 || list[0].Info.(*lathe.User).Agent != "build" {
		t.Errorf("stored prompt %+v", list[0])
	}
	if text := list[1].Parts[1].Body.(*lathe.Text).Text; text != "I LOOK." {
		t.Errorf("stored text %q", text)
	}
}

func TestToolHooks(t *testing.T) {
	p, id := hooked(t, plugin.Hooks{
		Name: "p",
		ToolBefore: func(_ context.Context, in plugin.ToolInput, out *json.RawMessage) error {
			*out = json.RawMessage(`{"pattern":"*.none"}`)
			return nil
		},
		ToolAfter: func(_ context.Context, in plugin.ToolInput, out *tool.Result) error {
			out.Output += " after " + string(in.Args)
			return nil
		},
	})
	if tools := p.tools(id); tools[0] != `glob done: No files found after {"pattern":"*.none"}` {
		t.Errorf("calls %q", tools)
	}
	p, id = hooked(t, plugin.Hooks{Name: "p", ToolBefore: func(context.Context, plugin.ToolInput, *json.RawMessage) error { return errHook }})
	if tools := p.tools(id); tools[0] != "glob failed: plugin p: tool.execute.before: not today" {
		t.Errorf("calls %q", tools)
	}
}

// A hook that is in doubt has the person asked, whatever the rules allow.
func TestDoubt(t *testing.T) {
	for answer, want := range map[lathe.ReplyKind]string{lathe.Once: "glob done", lathe.Reject: "glob failed"} {
		p := newPlay(t, nil, func(req *llm.Request) say {
			if len(req.Messages) == 1 {
				return say{calls: []use{{"glob", args{"pattern": "*.go"}}}}
			}
			return say{text: "ok"}
		})
		p.env["OPENCODE_CONFIG_CONTENT"] = `{"permission":"allow"}`
		var asked []string
		p.opts.Hooks = plugin.NewChain(nil, plugin.Hooks{
			ToolBefore: func(_ context.Context, _ plugin.ToolInput, out *json.RawMessage) error {
				*out = json.RawMessage(`{"pattern":"*.none"}`)
				return &plugin.Doubt{Plugin: "p", Reason: "sure?"}
			},
			PermissionAsk: func(_ context.Context, ask lathe.Ask, out *lathe.Action) error {
				asked = append(asked, ask.Permission, fmt.Sprint(ask.Patterns), fmt.Sprint(ask.Metadata["reason"]))
				if *out = lathe.Allow; answer == lathe.Reject {
					*out = lathe.Deny
				}
				return nil
			},
		})
		p.open()
		id := p.session()
		p.prompt(id, session.Prompt{}, "go")
		if tools := p.tools(id); len(tools) == 0 || !strings.HasPrefix(tools[0], want) || answer == lathe.Once && !strings.Contains(tools[0], "No files found") {
			t.Errorf("%s: calls %q", answer, tools)
		}
		if !slices.Equal(asked, []string{"hook", "[glob]", "p: sure?"}) {
			t.Errorf("%s: asked %q", answer, asked)
		}
	}
}

func TestPermissionAndEventHooks(t *testing.T) {
	var mu sync.Mutex
	idle := make(chan struct{})
	var kinds []string
	h := plugin.Hooks{
		PermissionAsk: func(_ context.Context, ask lathe.Ask, out *lathe.Action) error {
			if ask.Permission == "glob" {
				*out = lathe.Allow
			}
			return nil
		},
		Event: func(_ context.Context, ev lathe.Envelope) error {
			mu.Lock()
			defer mu.Unlock()
			switch ev := ev.Event.(type) {
			case lathe.PermissionReplied:
				kinds = append(kinds, "replied")
			case lathe.SessionStatus:
				if _, ok := ev.Status.(lathe.Idle); ok {
					close(idle)
				}
			}
			return nil
		},
	}
	p := newPlay(t, nil, func(req *llm.Request) say {
		if len(req.Messages) == 1 {
			return say{calls: []use{{"glob", args{"pattern": "*.go"}}}}
		}
		return say{text: "ok"}
	})
	p.env["OPENCODE_CONFIG_CONTENT"] = `{"permission":{"glob":"ask"}}`
	p.opts.Hooks = plugin.NewChain(nil, h)
	p.open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	if tools := p.tools(id); !strings.HasPrefix(tools[0], "glob done") {
		t.Errorf("calls %q", tools)
	}
	<-idle
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(kinds, []string{"replied"}) {
		t.Errorf("events %q", kinds)
	}
}
