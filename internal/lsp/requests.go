package lsp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// handler answers what servers ask. What it does not know it refuses, as the protocol
// wants it.
type handler struct{ c *client }

// Handle is called for one message after the other.
func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	if req.Notif {
		switch req.Method {
		case "textDocument/publishDiagnostics":
			var p published
			if json.Unmarshal(params, &p) == nil {
				h.c.publish(p)
			}
		case "$/progress":
			h.c.works.note(params)
		}
		return
	}
	result, ok := h.answer(req.Method, params)
	if !ok {
		_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "lathe has no " + req.Method})
		return
	}
	_ = conn.Reply(ctx, req.ID, result)
}

func (h handler) answer(method string, params json.RawMessage) (any, bool) {
	switch method {
	case "workspace/configuration":
		return h.configuration(params), true
	case "workspace/workspaceFolders":
		h.c.mu.Lock()
		defer h.c.mu.Unlock()
		out := []folder{}
		for _, root := range h.c.folders {
			out = append(out, folderOf(root))
		}
		return out, true
	case "client/registerCapability":
		h.register(params)
		return nil, true
	case "client/unregisterCapability":
		h.unregister(params)
		return nil, true
	case "workspace/applyEdit":
		return map[string]bool{"applied": h.collect(params)}, true
	case "window/showDocument":
		return map[string]bool{"success": false}, true
	case "window/workDoneProgress/create", "window/showMessageRequest", "workspace/diagnostic/refresh", "workspace/semanticTokens/refresh",
		"workspace/codeLens/refresh", "workspace/inlayHint/refresh", "workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		return nil, true
	}
	return nil, false
}

// configuration answers for each item the part of the options that its section names;
// where they have no such part, all of them, as OpenCode does.
func (h handler) configuration(params json.RawMessage) []any {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	_ = json.Unmarshal(params, &p)
	const most = 1000
	out := []any{}
	for n, item := range p.Items {
		if n == most {
			break
		}
		value, section := h.c.options, item.Section
		for key := range strings.SplitSeq(section, ".") {
			m, ok := value.(map[string]any)
			if section == "" || !ok {
				break
			}
			if value, ok = m[key]; !ok {
				value = nil
			}
		}
		out = append(out, value)
	}
	return out
}

func (h handler) register(params json.RawMessage) {
	var p struct {
		Registrations []registration `json:"registrations"`
	}
	_ = json.Unmarshal(params, &p)
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	for _, r := range p.Registrations {
		if r.Method == "textDocument/diagnostic" && len(h.c.pulls) < 100 {
			var about diagnosticAbout
			_ = json.Unmarshal(r.Options, &about)
			h.c.pulls[r.ID] = about
			h.c.tell()
		}
	}
}

func (h handler) unregister(params json.RawMessage) {
	var p struct {
		List []registration `json:"unregisterations"` // as the protocol spells it
	}
	_ = json.Unmarshal(params, &p)
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	for _, r := range p.List {
		delete(h.c.pulls, r.ID)
	}
}

// collect takes an edit that the server wants made, while a command of its runs.
func (h handler) collect(params json.RawMessage) bool {
	var p struct {
		Edit workspaceEdit `json:"edit"`
	}
	err := json.Unmarshal(params, &p)
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if err != nil || h.c.applied == nil {
		return false
	}
	*h.c.applied = append(*h.c.applied, p.Edit)
	return true
}
