package provider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/llm/adapter"
)

// LocalServer is a model server on this machine that speaks Chat Completions.
type LocalServer struct {
	ID, Name string
	URL      string // with /v1
}

// usualServers are what people run, on the ports they come with.
var usualServers = []LocalServer{
	{"ollama", "Ollama", "http://127.0.0.1:11434/v1"},
	{"lmstudio", "LM Studio", "http://127.0.0.1:1234/v1"},
	{"llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1"},
	{"vllm", "vLLM", "http://127.0.0.1:8000/v1"},
}

const (
	probeTimeout = 150 * time.Millisecond
	probeFresh   = 30 * time.Second
	maxProbe     = 1 << 20
	maxLocal     = 200 // models of one server
	// localContext is assumed if a server does not report its window: small
	// enough for what such servers usually offer.
	localContext = 32_768
)

// localCache is what the last look at local servers found.
type localCache struct {
	at        time.Time
	providers []*Provider
}

func (r *Registry) servers() []LocalServer {
	switch {
	case r.o.Local != nil:
		return r.o.Local
	case r.conf.Flags.DisableLocalModels:
		return nil
	}
	return usualServers
}

func (r *Registry) isLocal(id string) bool {
	return slices.ContainsFunc(r.servers(), func(s LocalServer) bool { return s.ID == id })
}

// discover asks all local servers at once which models they have, for at most
// Options.LocalWait. The result is valid for half a minute.
func (r *Registry) discover(ctx context.Context) []*Provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.local.at.IsZero() && r.o.Now().Sub(r.local.at) < probeFresh {
		return r.local.providers
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.o.LocalWait, errors.New("no answer"))
	defer cancel()
	servers := r.servers()
	found := make([]*Provider, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		if r.disabled(s.ID) == "" {
			wg.Go(func() { found[i] = r.probe(ctx, s) })
		}
	}
	wg.Wait()
	r.local = localCache{r.o.Now(), slices.DeleteFunc(found, func(p *Provider) bool { return p == nil || len(p.Models) == 0 })}
	return r.local.providers
}

// localProviders returns what the last look found, without a new one, except
// for providers that are configured and so listed already.
func (r *Registry) localProviders() []*Provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.local.providers), func(p *Provider) bool {
		e := r.entries[p.ID]
		return e != nil && e.connected()
	})
}

// probe returns nil for anything but a list of models.
func (r *Registry) probe(ctx context.Context, s LocalServer) *Provider {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/models", nil)
	if err != nil {
		return nil
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if r.o.HTTP != nil {
		client.Transport = r.o.HTTP.Transport
	}
	res, err := client.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	var doc struct {
		Data []struct {
			ID          string `json:"id"`
			MaxModelLen int    `json:"max_model_len"`
			Meta        struct {
				Context int `json:"n_ctx_train"`
			} `json:"meta"`
		} `json:"data"`
	}
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, maxProbe)).Decode(&doc) != nil {
		return nil
	}
	p := &Provider{ID: s.ID, Name: s.Name, Source: "custom", NPM: npmCompatible, API: s.URL, Connected: true}
	for _, d := range doc.Data {
		if d.ID == "" || len(d.ID) > 300 || len(p.Models) >= maxLocal {
			continue
		}
		context := d.MaxModelLen
		if context <= 0 {
			context = d.Meta.Context
		}
		p.Models = append(p.Models, r.serverModel(s, d.ID, context))
	}
	return p
}

func (r *Registry) serverModel(s LocalServer, id string, context int) *Model {
	if context <= 0 || context > 1<<30 {
		context = localContext
	}
	return &Model{
		Ref: lathe.ModelRef{Provider: s.ID, Model: id}, APIID: id, Name: id, Status: "active", NPM: npmCompatible,
		URL: s.URL, Protocol: ProtocolOpenAIChat, Limit: catalog.Limit{Context: context, Output: min(context/4, 8192)},
		Caps:      Caps{Temperature: true, ToolCall: true, Input: catalog.Text, Output: catalog.Text},
		outputMax: r.conf.Flags.ExperimentalOutputTokenMax,
	}
}

// localModel returns a model of a local server. A model that has not been seen
// yet is accepted: the server will say whether it has it.
func (r *Registry) localModel(ref lathe.ModelRef) (*Model, bool) {
	i := slices.IndexFunc(r.servers(), func(s LocalServer) bool { return s.ID == ref.Provider })
	if i < 0 || ref.Model == "" || r.disabled(ref.Provider) != "" {
		return nil, false
	}
	s := r.servers()[i]
	m := r.serverModel(s, ref.Model, 0)
	for _, p := range r.localProviders() {
		for _, seen := range p.Models {
			if seen.Ref == m.Ref {
				copied := *seen
				m = &copied
			}
		}
	}
	m.LLM = speak(m.Protocol, adapter.Endpoint{BaseURL: s.URL, Client: r.o.HTTP})
	return m, true
}

func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}
