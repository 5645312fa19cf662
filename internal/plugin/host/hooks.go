package host

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/plugin"
	"lathe/internal/plugin/jsonhook"
)

// toldPlugin is what the process reports a plugin.
type toldPlugin struct {
	Index     int      `json:"index"`
	Late      bool     `json:"late"`
	Error     string   `json:"error"`
	Hooks     []string `json:"hooks"`
	Tools     []Tool   `json:"tools"`
	Auth      []Login  `json:"auth"`
	Providers []string `json:"providers"`
	Config    bool     `json:"config"`
}

// learn notes a plugin's hooks. The caller holds mu.
func (h *Host) learn(t toldPlugin) {
	i := h.position(t.Index)
	if i < 0 {
		return
	}
	p := &h.told[i]
	p.Hooks, p.Tools, p.Auth, p.Providers = t.Hooks, t.Tools, t.Auth, t.Providers
	p.Config, p.Late, p.Error = t.Config, t.Late, t.Error
	if t.Error != "" {
		h.o.Log.Warn("a plugin does not work", "plugin", p.Name, "err", t.Error)
	}
}

// listed notes the plugins if none of them works.
func (h *Host) listed(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sources {
		h.told = append(h.told, Plugin{Source: s, Error: why.Error()})
	}
	for i := range h.told {
		h.told[i].File = "" // no process was given it
	}
}

// position finds the plugin that the process knows by a number: it was given only
// those that could be installed.
func (h *Host) position(index int) int {
	n := 0
	for i := range h.told {
		if h.told[i].File == "" {
			continue
		}
		if n == index {
			return i
		}
		n++
	}
	return -1
}

// index is the reverse of position.
func (h *Host) index(position int) int {
	n := 0
	for i := range h.told[:position] {
		if h.told[i].File != "" {
			n++
		}
	}
	return n
}

// Hooks returns the plugins' hooks, in order. Plugins that are not ready yet join once
// they are.
func (h *Host) Hooks() []plugin.Hooks {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []plugin.Hooks
	var listening []int
	for i, p := range h.told {
		if p.File == "" || p.Kind == "tool" {
			continue
		}
		names := slices.DeleteFunc(slices.Clone(p.Hooks), func(n string) bool { return n == jsonhook.Event })
		if p.Late {
			names = slices.DeleteFunc(slices.Clone(jsonhook.Names), func(n string) bool { return n == jsonhook.Event })
		}
		if len(names) > 0 {
			out = append(out, jsonhook.Hooks(p.Name, names, h.caller(p.Name, i, h.index(i)), h.o.Describe))
		}
		if p.Late || slices.Contains(p.Hooks, jsonhook.Event) {
			listening = append(listening, h.index(i))
		}
	}
	if len(listening) > 0 {
		out = append(out, plugin.Hooks{Name: "plugins", Event: func(ctx context.Context, ev lathe.Envelope) error { return h.event(ctx, listening, ev) }})
	}
	return out
}

type hookParams struct {
	Plugin int             `json:"plugin"`
	Hook   string          `json:"hook"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitempty"`
}

func (h *Host) caller(name string, position, index int) jsonhook.Caller {
	return func(ctx context.Context, hook string, input, output json.RawMessage) (json.RawMessage, error) {
		if !h.takesPart(position, hook) {
			return nil, plugin.ErrNotMeant
		}
		begin := time.Now()
		after, err := h.call(ctx, "hook", hookParams{index, hook, input, output})
		h.o.watched(name, hook, begin, output, after, err)
		return after, err
	}
}

func (h *Host) takesPart(position int, hook string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.told[position].Hooks, hook)
}

// event hands an event to the process, which does not answer.
func (h *Host) event(ctx context.Context, listening []int, env lathe.Envelope) error {
	raws := wire.EncodeEvents(env.Event)
	if d, ok := env.Event.(lathe.PartDelta); ok {
		raws = append(raws, wire.EncodePartDelta(d, wire.TextOf(d.Delta), "").Bytes())
	}
	if len(raws) == 0 {
		return nil
	}
	c, err := h.connection(ctx)
	if err != nil {
		return err
	}
	for _, raw := range raws {
		params, err := json.Marshal(struct {
			Plugins []int           `json:"plugins"`
			Event   json.RawMessage `json:"event"`
		}{listening, raw})
		if err != nil {
			return err
		}
		if err := c.send("", "event", json.RawMessage(params)); err != nil {
			return &plugin.NotCalled{Why: err.Error()}
		}
	}
	return nil
}

// Settle returns when the process has handled everything that it was sent before.
func (h *Host) Settle(limit time.Duration) {
	h.mu.Lock()
	c := h.live
	h.mu.Unlock()
	if c == nil || c.over() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, _ = c.call(ctx, "ping", struct{}{})
}
