package host

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/tool"
)

// Tool is a tool of a plugin.
type Tool struct {
	ID          string          `json:"id"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// calls are the running calls of tools, by the number that the process knows them by.
type calls struct {
	next atomic.Int64
	mu   sync.Mutex
	all  map[string]*running
}

type running struct {
	ctx  context.Context
	call *tool.Call
}

func (c *calls) add(r *running) string {
	id := "t" + strconv.FormatInt(c.next.Add(1), 10)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]*running{}
	}
	c.all[id] = r
	return id
}

func (c *calls) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, id)
}

func (c *calls) get(id string) *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[id]
}

// Tools returns the tools of the plugins. If several have one name, the last counts.
func (h *Host) Tools() []tool.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := map[string]int{}
	var out []tool.Tool
	for i, p := range h.told {
		if p.File == "" {
			continue
		}
		for _, t := range p.Tools {
			one := &pluginTool{host: h, name: p.Name, plugin: h.index(i), tool: t}
			if n, taken := at[t.ID]; taken {
				out[n] = one
				continue
			}
			at[t.ID] = len(out)
			out = append(out, one)
		}
	}
	return out
}

type pluginTool struct {
	host   *Host
	name   string // of the plugin
	plugin int
	tool   Tool
}

// Spec describes it to the model.
func (t *pluginTool) Spec() tool.Spec {
	return tool.Spec{Name: t.tool.ID, Description: t.tool.Description, Schema: t.tool.Schema}
}

// Run lets the process run it, for as long as it takes.
func (t *pluginTool) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	c, err := t.host.connection(ctx)
	if err != nil {
		return tool.Failf("The tool cannot be run: %v", err), nil
	}
	run := &running{ctx: ctx, call: call}
	id := t.host.calls.add(run)
	defer t.host.calls.remove(id)
	begin := time.Now()
	raw, err := c.call(ctx, "tool", map[string]any{
		"plugin": t.plugin, "tool": t.tool.ID, "args": call.Input, "call": id,
		"context": map[string]any{
			"sessionID": call.SessionID, "messageID": call.MessageID, "callID": call.CallID, "agent": call.Agent,
			"directory": t.host.o.Dir, "worktree": t.host.o.Worktree,
		},
	})
	t.host.o.watched(t.name, "tool "+t.tool.ID, begin, nil, nil, err)
	var gone *plugin.NotCalled
	switch {
	case ctx.Err() != nil:
		c.notify("abort", map[string]string{"call": id})
		return tool.Result{}, context.Cause(ctx)
	case errors.As(err, &gone):
		return tool.Failf("The tool did not finish: %v", err), nil
	case err != nil:
		return tool.Failf("%v", err), nil
	}
	return decodeResult(raw)
}

func decodeResult(raw json.RawMessage) (tool.Result, error) {
	var out struct {
		Title       string         `json:"title"`
		Output      string         `json:"output"`
		Metadata    map[string]any `json:"metadata"`
		Attachments []struct {
			MIME     string `json:"mime"`
			URL      string `json:"url"`
			Filename string `json:"filename"`
		} `json:"attachments"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return tool.Failf("The tool returned no result: %v", err), nil
	}
	res := tool.Result{Title: out.Title, Output: out.Output, Metadata: out.Metadata}
	for _, a := range out.Attachments {
		res.Attachments = append(res.Attachments, lathe.File{MIME: a.MIME, URL: a.URL, Filename: a.Filename})
	}
	return res, nil
}
