package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Login is how a plugin logs in to a provider.
type Login struct {
	Provider string   `json:"provider"`
	Loader   bool     `json:"loader"` // it says how requests are made
	Methods  []Method `json:"methods"`
}

// Method is one way to log in.
type Method struct {
	Type       string   `json:"type"` // "oauth" or "api"
	Label      string   `json:"label"`
	Authorizes bool     `json:"authorizes"`
	Prompts    []Prompt `json:"prompts,omitempty"`
}

// Prompt is a question before a login.
type Prompt struct {
	Type        string         `json:"type"` // "text" or "select"
	Key         string         `json:"key"`
	Message     string         `json:"message"`
	Placeholder string         `json:"placeholder,omitempty"`
	Options     []PromptOption `json:"options,omitempty"`
	When        *When          `json:"when,omitempty"`
}

// PromptOption is one answer to a "select" prompt.
type PromptOption struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Hint  string `json:"hint,omitempty"`
}

// When says which earlier answer makes lathe ask.
type When struct {
	Key   string `json:"key"`
	Op    string `json:"op"` // "eq" or "neq"
	Value string `json:"value"`
}

// waitForPerson is how long a login may take in the browser.
const waitForPerson = 10 * time.Minute

// Logins are the ways in which the plugins of a host log in to providers.
type Logins struct{ h *Host }

// Logins returns the ways in which plugins log in.
func (h *Host) Logins() Logins { return Logins{h} }

// All returns how plugins log in, by provider; of several for one the last counts.
func (l Logins) All() map[string]Login {
	out := map[string]Login{}
	for _, p := range l.h.Plugins() {
		for _, one := range p.Auth {
			out[one.Provider] = one
		}
	}
	return out
}

// owner is the process's number for the plugin that logs in to a provider.
func (h *Host) owner(provider string) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.told) - 1; i >= 0; i-- {
		for _, l := range h.told[i].Auth {
			if l.Provider == provider {
				return h.index(i), nil
			}
		}
	}
	return 0, fmt.Errorf("no plugin logs in to %q", provider)
}

// Authorization is a login that was begun.
type Authorization struct {
	URL          string `json:"url"`
	Method       string `json:"method"` // "auto", or "code" if the person pastes one
	Instructions string `json:"instructions"`
	// Result is the outcome of a method that needs no browser.
	Result *Credential `json:"result,omitempty"`
}

// Credential is the result of a login.
type Credential struct {
	Type          string            `json:"type"` // "success" or "failed"
	Provider      string            `json:"provider"`
	Key           string            `json:"key"`
	Refresh       string            `json:"refresh"`
	Access        string            `json:"access"`
	Expires       float64           `json:"expires"` // ms since 1970
	AccountID     string            `json:"accountId"`
	EnterpriseURL string            `json:"enterpriseUrl"`
	Metadata      map[string]string `json:"metadata"`
}

// Authorize begins a login by one of a provider's methods.
func (l Logins) Authorize(ctx context.Context, provider string, method int, inputs map[string]string) (out Authorization, err error) {
	owner, err := l.h.owner(provider)
	if err != nil {
		return out, err
	}
	raw, err := l.h.callWithin(ctx, time.Minute, "authorize", map[string]any{"plugin": owner, "provider": provider, "method": method, "inputs": inputs})
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(raw, &out)
}

// Callback waits for the end of a login; a code is what the person brought back.
func (l Logins) Callback(ctx context.Context, provider, code string) (out Credential, err error) {
	raw, err := l.h.callWithin(ctx, waitForPerson, "callback", map[string]any{"provider": provider, "code": code})
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, err
	}
	if out.Type != "success" {
		return out, errors.New("the login failed")
	}
	return out, nil
}

// Loaded is what a plugin says about requests to a provider.
type Loaded struct {
	APIKey  string            `json:"apiKey"`
	BaseURL string            `json:"baseURL"`
	Headers map[string]string `json:"headers"`
	Fetches bool              `json:"fetches"` // it makes them itself
}

// Load has a plugin prepare the requests to a provider that it logged in to.
func (l Logins) Load(ctx context.Context, provider string, info any) (out Loaded, err error) {
	owner, err := l.h.owner(provider)
	if err != nil {
		return out, err
	}
	raw, err := l.h.callWithin(ctx, time.Minute, "loader", map[string]any{"plugin": owner, "provider": provider, "info": info})
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(raw, &out)
}

// Transport carries out requests with the fetch of a plugin's loader.
func (l Logins) Transport(provider string) http.RoundTripper {
	return &transport{h: l.h, provider: provider}
}

type transport struct {
	h        *Host
	provider string
	next     atomic.Int64
}

// RoundTrip lets the process make the request; the body is streamed.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	c, err := t.h.connection(req.Context())
	if err != nil {
		return nil, err
	}
	stream := "f" + t.provider + strconv.FormatInt(t.next.Add(1), 10)
	r, w := io.Pipe()
	pieces := make(chan chunk, 1024)
	c.stream(stream, func(p chunk) { pieces <- p })
	go func() { // ends with the last piece, or when nobody reads any longer
		for p := range pieces {
			if data := p.bytes(); len(data) > 0 {
				if _, err := w.Write(data); err != nil {
					c.notify("cancel", map[string]string{"stream": stream})
					c.stream(stream, func(chunk) {})
					return
				}
			}
			if p.End != nil {
				var why error
				if *p.End != "" {
					why = errors.New(*p.End)
				}
				_ = w.CloseWithError(why)
				return
			}
		}
	}()
	stop := context.AfterFunc(req.Context(), func() {
		c.notify("cancel", map[string]string{"stream": stream})
		_ = r.CloseWithError(context.Cause(req.Context()))
	})
	headers := map[string]string{}
	for name := range req.Header {
		headers[name] = req.Header.Get(name)
	}
	raw, err := c.call(req.Context(), "fetch", map[string]any{
		"provider": t.provider, "stream": stream, "url": req.URL.String(), "method": req.Method, "headers": headers, "body": string(body),
	})
	var head struct {
		Status  int
		Headers map[string]string
	}
	if err == nil {
		err = json.Unmarshal(raw, &head)
	}
	if err != nil {
		stop()
		_ = r.CloseWithError(err)
		return nil, fmt.Errorf("the plugin's request to %s: %w", t.provider, err)
	}
	resp := &http.Response{StatusCode: head.Status, Status: strconv.Itoa(head.Status) + " " + http.StatusText(head.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: r, ContentLength: -1, Request: req}
	for name, v := range head.Headers {
		if name != "content-encoding" && name != "content-length" { // the process has decoded it
			resp.Header.Set(name, v)
		}
	}
	return resp, nil
}
