package provider

import (
	"cmp"
	"maps"
	"slices"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/config"
)

// models returns the models of a provider that pass the filters, made once.
func (r *Registry) models(e *entry) ([]*Model, error) {
	e.once.Do(func() {
		p, err := r.o.Catalog.Provider(e.info.ID)
		if err != nil {
			e.err = err
			return
		}
		e.hidden = map[string]string{}
		e.models = r.resolve(e, p)
	})
	return e.models, e.err
}

func (r *Registry) resolve(e *entry, p *catalog.Provider) []*Model {
	var list []*Model
	add := func(c *catalog.Model, conf *config.Model) {
		m := newModel(e, c, conf)
		m.outputMax = r.conf.Flags.ExperimentalOutputTokenMax
		var why string
		if m.Protocol, why = protocolOf(m); why == "" && m.URL == "" && p != nil && !publicAddress(e.info.ID) {
			why = "no base URL is known for its provider; configure options.baseURL"
		}
		m.Variants = userVariants(m, variants(m, m.origin), e.conf)
		if why = cmp.Or(why, r.hide(e, m)); why != "" {
			e.hidden[m.Ref.Model] = why
			return
		}
		list = append(list, m)
	}
	configured := map[string]*config.Model{}
	if e.conf != nil {
		for i := range e.conf.Models {
			configured[e.conf.Models[i].Key] = &e.conf.Models[i]
		}
	}
	if p != nil {
		for i := range p.Models {
			add(&p.Models[i], configured[p.Models[i].ID])
		}
	}
	if e.conf == nil {
		return list
	}
	for i := range e.conf.Models {
		conf := &e.conf.Models[i]
		var like *catalog.Model
		if p != nil {
			if p.Model(conf.Key) != nil {
				continue
			}
			like = p.Model(conf.ID)
		}
		add(like, conf)
	}
	return list
}

// hide says why a model is not offered; "" if it is.
func (r *Registry) hide(e *entry, m *Model) string {
	id := m.Ref.Model
	switch {
	case m.Status == "deprecated":
		return "it is deprecated"
	case m.Status == "alpha" && !r.conf.Flags.EnableExperimentalModels:
		return "it is an alpha; OPENCODE_ENABLE_EXPERIMENTAL_MODELS offers those"
	case id == "gpt-5-chat-latest" && slices.Contains([]string{"openai", "github-copilot", "openrouter"}, m.Ref.Provider),
		id == "openai/gpt-5-chat" && m.Ref.Provider == "openrouter":
		return "it cannot call tools"
	case e.public && m.Price.Input+m.Price.Output > 0:
		return "it is not free; set " + e.env + " or run: lathe auth login " + e.info.ID
	}
	if e.conf != nil {
		if slices.Contains(e.conf.Blacklist, id) {
			return "it is on the provider's blacklist"
		}
		if e.conf.Whitelist != nil && !slices.Contains(e.conf.Whitelist, id) {
			return "it is not on the provider's whitelist"
		}
	}
	return ""
}

// newModel applies the configuration on top of what the catalogue says. Either may be nil.
func newModel(e *entry, c *catalog.Model, conf *config.Model) *Model {
	priced := c != nil // a model that the catalogue has without a price is free
	if c == nil {
		c = &catalog.Model{ToolCall: true, Input: catalog.Text, Output: catalog.Text, NPM: ""}
	}
	m := &Model{
		Ref:   lathe.ModelRef{Provider: e.info.ID, Model: c.ID},
		APIID: cmp.Or(c.APIID, c.ID), Name: c.Name, Family: c.Family, Released: c.Released,
		Status: cmp.Or(c.Status, "active"), NPM: cmp.Or(c.NPM, e.info.NPM, npmCompatible), URL: baseURL(e, c),
		Limit: c.Limit, Price: c.Cost, Options: c.Options, Headers: c.Headers, origin: c, priced: priced,
		Caps: Caps{Temperature: c.Temperature, Reasoning: c.Reasoning, Attachment: c.Attachment, ToolCall: c.ToolCall,
			Input: c.Input, Output: c.Output, Interleaved: c.Interleaved},
	}
	if e.conf != nil {
		m.cacheKey = e.conf.Options.SetCacheKey
		m.proxied, _ = e.conf.Options.Extra["litellmProxy"].(bool)
		if on, _ := e.conf.Options.Extra["useCompletionUrls"].(bool); on && m.NPM == npmAzure {
			m.NPM = npmCompatible
		}
	}
	if conf != nil {
		m.override(e, conf)
	}
	return m
}

// override applies a model's own configuration.
func (m *Model) override(e *entry, c *config.Model) {
	known := m.Ref.Model != ""
	m.Ref.Model = c.Key
	m.APIID = cmp.Or(c.ID, m.APIID, c.Key)
	switch {
	case c.Name != "":
		m.Name = c.Name
	case !known || c.ID != "" && c.ID != c.Key:
		m.Name = c.Key
	}
	m.Family, m.Released = cmp.Or(c.Family, m.Family), cmp.Or(c.ReleaseDate, m.Released)
	m.Status = cmp.Or(c.Status, m.Status)
	m.NPM = cmp.Or(c.Provider.NPM, m.NPM)
	m.URL = cmp.Or(c.Provider.API, m.URL)
	for _, f := range []struct {
		dst *bool
		src *bool
	}{{&m.Caps.Attachment, c.Attachment}, {&m.Caps.Reasoning, c.Reasoning}, {&m.Caps.Temperature, c.Temperature}, {&m.Caps.ToolCall, c.ToolCall}} {
		if f.src != nil {
			*f.dst = *f.src
		}
	}
	if c.Interleaved != nil {
		m.Caps.Interleaved = string(*c.Interleaved)
	}
	if c.Cost != nil {
		m.Price, m.priced = c.Cost.Cost, true
	}
	if c.Limit != nil {
		m.Limit = catalog.Limit{Context: cmp.Or(c.Limit.Context, m.Limit.Context), Input: cmp.Or(c.Limit.Input, m.Limit.Input), Output: cmp.Or(c.Limit.Output, m.Limit.Output)}
	}
	if c.Modalities != nil {
		m.Caps.Input = cmp.Or(catalog.Modalities(c.Modalities.Input), m.Caps.Input)
		m.Caps.Output = cmp.Or(catalog.Modalities(c.Modalities.Output), m.Caps.Output)
	}
	if len(c.Options) > 0 {
		opts := map[string]any{}
		mergeOptions(opts, m.Options)
		mergeOptions(opts, c.Options)
		m.Options = opts
	}
	if len(c.Headers) > 0 {
		h := map[string]string{}
		maps.Copy(h, m.Headers)
		maps.Copy(h, c.Headers)
		m.Headers = h
	}
}

// baseURL returns a model's address: the configured one, the known one of the
// vendor, its own, or the provider's, in this order. The known one takes
// precedence over the catalogue, which is fetched, so that a change of the
// catalogue cannot send a vendor's key elsewhere.
func baseURL(e *entry, c *catalog.Model) string {
	if e.conf != nil {
		if url := cmp.Or(e.conf.Options.BaseURL, e.conf.API); url != "" {
			return url
		}
	}
	if url, ok := addresses()[e.info.ID+" "+cmp.Or(c.NPM, e.info.NPM)]; ok {
		return url
	}
	if url, ok := addresses()[e.info.ID]; ok {
		return url
	}
	return cmp.Or(c.API, e.info.API)
}

// publicAddress reports whether a vendor of the catalogue is reached at its
// protocol's own address.
func publicAddress(id string) bool {
	_, ok := addresses()[id]
	return ok
}

// userVariants lays configured variants over a model's own.
func userVariants(m *Model, own []catalog.Variant, conf *config.Provider) []catalog.Variant {
	if conf == nil {
		return own
	}
	i := slices.IndexFunc(conf.Models, func(c config.Model) bool { return c.Key == m.Ref.Model })
	if i < 0 || len(conf.Models[i].Variants) == 0 {
		return own
	}
	list := slices.Clone(own)
	for _, v := range conf.Models[i].Variants {
		at := slices.IndexFunc(list, func(o catalog.Variant) bool { return o.Name == v.Name })
		switch {
		case v.Disabled && at >= 0:
			list = slices.Delete(list, at, at+1)
		case v.Disabled:
		case at >= 0:
			opts := map[string]any{}
			mergeOptions(opts, list[at].Options)
			mergeOptions(opts, v.Options)
			list[at].Options = opts
		default:
			list = append(list, catalog.Variant{Name: v.Name, Options: v.Options})
		}
	}
	return list
}
