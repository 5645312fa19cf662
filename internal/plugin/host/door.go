package host

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"lathe/internal/tool"
)

// door answers what the plugins' process asks of lathe.
type door struct{ *Host }

// take carries out what the process asks for, without blocking the reading of its
// next messages.
func (h door) take(c *conn, m message) {
	switch m.Method {
	case "request":
		go h.request(c, m)
	case "hangup":
		var in struct{ Stream string }
		_ = json.Unmarshal(m.Params, &in)
		c.mu.Lock()
		cancel := c.cancels[in.Stream]
		c.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case "ask":
		go func() { c.answer(m.ID, struct{}{}, h.ask(m.Params)) }()
	case "metadata":
		h.progress(m.Params)
	case "auth":
		go h.credential(c, m)
	case "late":
		var t toldPlugin
		if json.Unmarshal(m.Params, &t) == nil {
			select {
			case c.lates <- t:
			default:
			}
			go h.late(t) // the process may be loading, which holds the host
		}
	case "stray":
		go h.stray(m.Params) // the process may be loading, which holds the host
	default:
		if m.ID != "" {
			c.answer(m.ID, nil, fmt.Errorf("there is no %q", m.Method))
		}
	}
}

// credential answers with what is stored for a provider, if a plugin logs in to it.
func (h door) credential(c *conn, m message) {
	var in struct{ Provider string }
	_ = json.Unmarshal(m.Params, &in)
	if _, err := h.owner(in.Provider); err != nil || h.o.Credential == nil {
		c.answer(m.ID, nil, err)
		return
	}
	c.answer(m.ID, h.o.Credential(in.Provider), nil)
}

func (h door) late(t toldPlugin) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.learn(t)
	h.remember()
}

// stray reports what a plugin did wrong outside of a call.
func (h door) stray(params json.RawMessage) {
	var in struct {
		Plugin  *int
		Message string
	}
	_ = json.Unmarshal(params, &in)
	name := "plugins"
	if in.Plugin != nil {
		h.mu.Lock()
		if i := h.position(*in.Plugin); i >= 0 {
			name = h.told[i].Name
		}
		h.mu.Unlock()
	}
	h.o.Report(name, errors.New(in.Message))
}

// request answers a request of the client that plugins are given. The response's
// body follows in pieces.
func (h door) request(c *conn, m message) {
	var in struct {
		Stream, Method, Path, Body string
		Headers                    map[string]string
	}
	if err := json.Unmarshal(m.Params, &in); err != nil {
		c.answer(m.ID, nil, err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.mu.Lock()
	c.cancels[in.Stream] = cancel
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.cancels, in.Stream)
		c.mu.Unlock()
	}()
	if in.Path != "/log" && !strings.HasPrefix(in.Path, "/log?") { // which needs no directory
		select {
		case <-h.opened:
		case <-ctx.Done():
			return
		case <-c.done:
			return
		}
	}
	resp, err := h.answerTo(ctx, in.Method, in.Path, in.Headers, in.Body)
	if err != nil {
		c.answer(m.ID, nil, err)
		return
	}
	defer resp.Body.Close()
	headers := map[string]string{}
	for name := range resp.Header {
		headers[name] = resp.Header.Get(name)
	}
	c.answer(m.ID, map[string]any{"status": resp.StatusCode, "headers": headers}, nil)
	c.pass(in.Stream, resp.Body)
}

func (h door) answerTo(ctx context.Context, method, path string, headers map[string]string, body string) (*http.Response, error) {
	if h.o.Door == nil {
		return nil, errors.New("lathe answers no requests here")
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, v := range headers {
		req.Header.Set(name, v)
	}
	if req.Header.Get("X-Opencode-Directory") == "" && !req.URL.Query().Has("directory") {
		req.Header.Set("X-Opencode-Directory", h.o.Dir)
	}
	req.Header.Del("Accept-Encoding")
	return h.o.Door.RoundTrip(req)
}

// pass sends a body to the process in pieces.
func (c *conn) pass(stream string, body io.Reader) {
	buf := make([]byte, 64<<10)
	end := ""
	for {
		n, err := body.Read(buf)
		if n > 0 {
			c.notify("chunk", piece(stream, buf[:n]))
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				end = err.Error()
			}
			break
		}
	}
	c.notify("chunk", chunk{Stream: stream, End: &end})
}

func piece(stream string, b []byte) chunk {
	if utf8.Valid(b) {
		text := string(b)
		return chunk{Stream: stream, Text: &text}
	}
	return chunk{Stream: stream, Data: base64.StdEncoding.EncodeToString(b)}
}

// progress shows what a running tool reports about itself.
func (h door) progress(params json.RawMessage) {
	var in struct {
		Call, Title string
		Metadata    map[string]any
	}
	if json.Unmarshal(params, &in) != nil {
		return
	}
	if r := h.calls.get(in.Call); r != nil && r.call.Progress != nil {
		r.call.Progress(in.Title, in.Metadata)
	}
}

// ask asks for permission for a running tool.
func (h door) ask(params json.RawMessage) error {
	var in struct {
		Call, Permission string
		Patterns, Always []string
		Metadata         map[string]any
	}
	if err := json.Unmarshal(params, &in); err != nil {
		return err
	}
	r := h.calls.get(in.Call)
	if r == nil {
		return errors.New("the call is over")
	}
	if in.Permission == "" {
		return errors.New("ask needs a permission")
	}
	if len(in.Patterns) == 0 {
		in.Patterns = []string{"*"}
	}
	if in.Metadata == nil {
		in.Metadata = map[string]any{}
	}
	delete(in.Metadata, tool.MetaProtected)
	if err := r.call.Ask(r.ctx, tool.Request{Permission: in.Permission, Patterns: in.Patterns, Always: in.Always, Metadata: in.Metadata}); err != nil {
		return fmt.Errorf("permission was not given: %w", err)
	}
	return nil
}
