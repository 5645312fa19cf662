package provider

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/catalog"
	"lathe/internal/config"
	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/typo"
)

// BuiltinModels makes the models that need no provider: "offline/guide" and
// "script/<file>". It reports false for a name it does not know.
type BuiltinModels func(ref lathe.ModelRef) (llm.Model, bool)

// Options say what a registry is made of.
type Options struct {
	Config  *config.Config      // nil: nothing is configured
	Auth    *auth.Store         // nil: no stored credentials
	Catalog *catalog.Catalog    // nil: the embedded one
	Getenv  func(string) string // nil: an empty environment
	HTTP    *http.Client        // for models and local servers; nil: the adapters' own
	Now     func() time.Time
	Dir     string // what relative paths of script models are relative to
	Builtin BuiltinModels
	// Own are the keys of the person for whom the registry is, in place of any other; the
	// providers that OwnProblems names cannot be used, because the person's key cannot.
	Own         map[string]auth.Entry
	OwnProblems map[string]error
	// Loaders prepare the requests to providers that a plugin logged in to.
	Loaders map[string]Loader
	// Local are the servers looked for on this machine; nil means the usual
	// ones, an empty list none.
	Local []LocalServer
	// LocalWait is how long they have to answer; 0 means 150 ms.
	LocalWait time.Duration
}

// Loader says how requests to a provider are made. It is called once for each model.
type Loader func() (Loaded, error)

// Loaded is what a plugin says of requests. Empty fields change nothing.
type Loaded struct {
	Key, BaseURL string
	Header       map[string]string
	Client       *http.Client
}

// Provider is an account and address with its models.
type Provider struct {
	ID, Name string
	Source   string // "env", "config", "api", "custom" or "builtin"; empty: not connected
	Env      []string
	NPM, API string
	Models   []*Model // those that pass the filters, in catalogue order

	// Connected says that its models can be called: it has a key, or needs none.
	Connected bool
}

// Registry knows which models can be used. It reads the catalogue one provider
// at a time. It is safe for concurrent use.
type Registry struct {
	o       Options
	conf    *config.Config
	order   []string
	entries map[string]*entry

	mu    sync.Mutex
	local localCache
}

// entry is a provider from the catalogue or the configuration. New sets
// everything except what load fills in.
type entry struct {
	info     catalog.Info
	conf     *config.Provider
	source   string
	key      auth.Secret
	env      string // name of the key's variable, for hints
	public   bool   // only free models, without a key
	login    string // why a stored sign-in cannot be used
	disabled string // why it may not be used
	broken   error  // why the person's own key cannot be used
	loader   Loader // of a plugin, where there is a login

	reached atomic.Bool // it answered a request

	once   sync.Once
	models []*Model
	hidden map[string]string // models that are left out, and why
	err    error
}

// New returns the registry. It reads credentials and the catalogue's index, and
// makes no requests. A credential file that cannot be read is an error.
func New(o Options) (*Registry, error) {
	if o.Config == nil {
		o.Config = &config.Config{}
	}
	if o.Catalog == nil {
		o.Catalog = catalog.Embedded()
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LocalWait == 0 {
		o.LocalWait = probeTimeout
	}
	r := &Registry{o: o, conf: o.Config, entries: map[string]*entry{}}
	stored := map[string]auth.Entry{}
	if o.Auth != nil {
		var err error
		if stored, err = o.Auth.All(); err != nil {
			return nil, err
		}
	}
	for _, info := range o.Catalog.Providers() {
		r.addEntry(info, stored)
	}
	for i := range o.Config.Providers {
		if id := o.Config.Providers[i].ID; r.entries[id] == nil {
			r.addEntry(catalog.Info{ID: id, Name: id, NPM: npmCompatible}, stored)
		}
	}
	return r, nil
}

func (r *Registry) getenv(name string) string {
	if v, ok := r.conf.Env[name]; ok {
		return v
	}
	return r.o.Getenv(name)
}

// addEntry decides whether a provider is connected: by a variable, a stored
// credential or its configuration; the last of these that applies wins.
func (r *Registry) addEntry(info catalog.Info, stored map[string]auth.Entry) {
	e := &entry{info: info, conf: r.conf.Provider(info.ID)}
	if c := e.conf; c != nil {
		e.info.Name = cmp.Or(c.Name, info.Name)
		e.info.NPM = cmp.Or(c.NPM, info.NPM)
		e.info.API = cmp.Or(c.Options.BaseURL, c.API, info.API)
		if c.Env != nil {
			e.info.Env = c.Env
		}
	}
	var val string
	if e.env, val = keyVariable(info.ID, e.info.Env, r.getenv); val != "" {
		e.source, e.key = "env", auth.NewSecret(val)
	}
	switch s := stored[info.ID].(type) {
	case auth.API:
		e.source, e.key = "api", s.Key
	case auth.OAuth:
		e.oauth(s, r.o.Now())
	}
	if stored[info.ID] != nil && r.o.Loaders[info.ID] != nil {
		e.source, e.login, e.loader = "custom", "", r.o.Loaders[info.ID]
	}
	if c := e.conf; c != nil {
		e.source = "config"
		if c.Options.APIKey != "" {
			e.key = auth.NewSecret(c.Options.APIKey)
		}
	}
	if info.ID == "opencode" && e.conf != nil && e.key.IsZero() {
		e.public, e.key = true, auth.NewSecret("public")
	}
	e.owned(r.o.Own[info.ID], r.o.OwnProblems[info.ID], r.o.Now())
	e.disabled = r.disabled(info.ID)
	r.entries[info.ID] = e
	r.order = append(r.order, info.ID)
}

// oauth uses a stored token where it works as a key.
func (e *entry) oauth(s auth.OAuth, now time.Time) {
	if e.login = LoginProblem(e.info.ID, s, now); e.login != "" {
		return
	}
	key := s.Access
	if e.info.ID == "github-copilot" {
		key = s.Refresh
		if s.EnterpriseURL != "" {
			host := strings.TrimSuffix(strings.TrimPrefix(s.EnterpriseURL, "https://"), "/")
			e.info.API = "https://copilot-api." + host
		}
	}
	if !key.IsZero() {
		e.source, e.key = "custom", key
	}
}

func (r *Registry) disabled(id string) string {
	if slices.Contains(r.conf.DisabledProviders, id) {
		return "it is listed in disabled_providers"
	}
	if on := r.conf.EnabledProviders; on != nil && !slices.Contains(on, id) {
		return "it is not listed in enabled_providers"
	}
	return ""
}

// connected reports whether the models can be called.
func (e *entry) connected() bool {
	return e.disabled == "" && e.broken == nil && (!e.key.IsZero() || e.loader != nil || e.keyless())
}

// keyless: configured by hand with an address and without a variable that would
// hold a key, or on this machine.
func (e *entry) keyless() bool {
	if e.conf == nil {
		return false
	}
	own := e.conf.Options.BaseURL != "" || e.conf.API != ""
	return own && (len(e.info.Env) == 0 || onLoopback(e.info.API) || e.conf.Options.BaseURL != "") ||
		len(e.conf.Options.Headers) > 0
}

// List returns the connected providers with at least one model, in catalogue
// order, then those that are built in.
func (r *Registry) List() ([]*Provider, error) { return r.list(false) }

// All returns every provider, connected or not.
func (r *Registry) All() ([]*Provider, error) { return r.list(true) }

func (r *Registry) list(all bool) ([]*Provider, error) {
	var list []*Provider
	for _, id := range r.order {
		e := r.entries[id]
		if e.disabled != "" || !all && !e.connected() {
			continue
		}
		models, err := r.models(e)
		if err != nil {
			return nil, err
		}
		if len(models) == 0 {
			continue
		}
		list = append(list, e.provider(id, models))
	}
	list = append(list, r.localProviders()...)
	return append(list, r.builtins()...), nil
}

func (e *entry) provider(id string, models []*Model) *Provider {
	return &Provider{ID: id, Name: e.info.Name, Source: e.source, Env: e.info.Env, NPM: e.info.NPM, API: e.info.API, Models: models, Connected: e.connected()}
}

// Provider returns a provider of the catalogue or the configuration, connected or not,
// with its models if they are wanted; nil if it is not known.
func (r *Registry) Provider(id string, withModels bool) *Provider {
	e := r.entries[id]
	if e == nil {
		return nil
	}
	var models []*Model
	if withModels {
		models, _ = r.models(e) // one whose models cannot be read has none
	}
	return e.provider(id, models)
}

// Models returns the models of the connected providers, or of all, sorted by
// name; with a filter only those of that provider, which must exist.
func (r *Registry) Models(filter string, all bool) ([]*Model, error) {
	providers, err := r.list(all || filter != "")
	if err != nil {
		return nil, err
	}
	var list []*Model
	found := filter == ""
	for _, p := range providers {
		if filter == "" || p.ID == filter {
			found = true
			list = append(list, p.Models...)
		}
	}
	if !found {
		return nil, r.unknownProvider(filter)
	}
	slices.SortStableFunc(list, func(a, b *Model) int { return cmp.Compare(a.Ref.String(), b.Ref.String()) })
	return list, nil
}

// builtins lists the models that answer from within the process.
func (r *Registry) builtins() []*Provider {
	if r.o.Builtin == nil {
		return nil
	}
	var list []*Provider
	for _, b := range []struct{ provider, name, model, title string }{
		{"offline", "Offline", "guide", "Guide (rule-based, not a language model)"},
		{"script", "Script", "<file>", "A scripted model played from a file"},
	} {
		m := builtinModel(lathe.ModelRef{Provider: b.provider, Model: b.model}, b.title)
		list = append(list, &Provider{ID: b.provider, Name: b.name, Source: "builtin", Models: []*Model{m}, Connected: true})
	}
	return list
}

const builtinContext = 200_000

func builtinModel(ref lathe.ModelRef, name string) *Model {
	ref.Variant = ""
	return &Model{
		Ref: ref, APIID: ref.Model, Name: name, Status: "active", Protocol: ProtocolBuiltin,
		Limit: catalog.Limit{Context: builtinContext, Output: DefaultOutputMax},
		Caps:  Caps{ToolCall: true, Input: catalog.Text, Output: catalog.Text},
	}
}

func isBuiltin(id string) bool { return id == "offline" || id == "script" }

// Lookup returns a model that can be called. Its variant is not checked. Errors
// are for people: unknown names come with suggestions (CodeNotFound), a missing
// key says where to put it (CodeAuth).
func (r *Registry) Lookup(ref lathe.ModelRef) (*Model, error) {
	if isBuiltin(ref.Provider) && r.o.Builtin != nil {
		if adapter, ok := r.o.Builtin(ref); ok {
			m := r.limited(builtinModel(ref, ref.Model))
			m.LLM = adapter
			return m, nil
		}
		return nil, lathe.Errorf(lathe.CodeNotFound, "built in are: offline/guide, script/<file>", "there is no built-in model %q", ref.String())
	}
	e := r.entries[ref.Provider]
	if e == nil || !e.connected() {
		if m, ok := r.localModel(ref); ok {
			return m, nil
		}
	}
	if e == nil {
		return nil, r.unknownProvider(ref.Provider)
	}
	if e.disabled != "" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "change the configuration, or choose from: lathe models", "provider %q is switched off: %s", ref.Provider, e.disabled)
	}
	models, err := r.models(e)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(models, func(m *Model) bool { return m.Ref.Model == ref.Model })
	if i < 0 {
		return nil, r.unknownModel(e, ref)
	}
	if !e.connected() {
		return nil, noKey(e)
	}
	return r.connect(e, models[i])
}

// connect returns a copy of the model with its adapter.
func (r *Registry) connect(e *entry, m *Model) (*Model, error) {
	url, missing := fillAddress(m.URL, r.getenv)
	if missing != "" {
		return nil, keyError(e.info.ID, "set "+missing+" in the environment", "the provider's address needs %s", missing)
	}
	endpoint := adapter.Endpoint{BaseURL: url, Key: e.key.Reveal(), Client: r.o.HTTP, Header: map[string]string{}, Reached: &e.reached}
	maps.Copy(endpoint.Header, providerHeaders()[e.info.ID])
	if e.info.ID == "azure" && m.Protocol == ProtocolOpenAI {
		endpoint.Header["api-key"], endpoint.Key = endpoint.Key, ""
	}
	if c := e.conf; c != nil {
		maps.Copy(endpoint.Header, c.Options.Headers)
		endpoint.Timeouts = adapter.Timeouts{
			Header: duration(c.Options.HeaderTimeout), Idle: duration(c.Options.ChunkTimeout), Total: duration(c.Options.Timeout),
		}
	}
	if e.loader != nil {
		l, err := e.loader()
		if err != nil {
			return nil, keyError(e.info.ID, "run: lathe auth login "+e.info.ID, "the plugin that logs in to %q cannot use its login: %v", e.info.ID, err)
		}
		endpoint.Key, endpoint.BaseURL = cmp.Or(l.Key, endpoint.Key), cmp.Or(l.BaseURL, endpoint.BaseURL)
		maps.Copy(endpoint.Header, l.Header)
		endpoint.Client = cmp.Or(l.Client, endpoint.Client)
	}
	usable := *m
	usable.URL = endpoint.BaseURL
	usable.LLM = speak(m.Protocol, endpoint)
	return &usable, nil
}

func duration(ms config.Millis) time.Duration { return time.Duration(ms) * time.Millisecond }

func noKey(e *entry) error {
	if e.broken != nil {
		return e.broken
	}
	hint := "run: lathe auth login " + e.info.ID
	if e.env != "" {
		hint = "set " + e.env + ", or " + hint
	}
	if e.login != "" {
		return keyError(e.info.ID, hint, "the login stored for %q cannot be used: %s", e.info.ID, e.login)
	}
	return keyError(e.info.ID, hint, "provider %q has no key", e.info.ID)
}

func (r *Registry) unknownProvider(id string) error {
	hint := "list them with: lathe models --all"
	if names := typo.Suggest(id, r.order); len(names) > 0 {
		hint = "did you mean " + quoted(names) + "? " + hint
	}
	return lathe.Errorf(lathe.CodeNotFound, hint, "provider %q is not in the catalogue or the configuration", id)
}

func (r *Registry) unknownModel(e *entry, ref lathe.ModelRef) error {
	list := "list them with: lathe models " + e.info.ID
	if why, ok := e.hidden[ref.Model]; ok {
		return lathe.Errorf(lathe.CodeNotFound, list, "model %q cannot be used: %s", ref.String(), why)
	}
	names := make([]string, len(e.models))
	for i, m := range e.models {
		names[i] = m.Ref.Model
	}
	near := typo.Suggest(ref.Model, names)
	for i := range near {
		near[i] = e.info.ID + "/" + near[i]
	}
	if len(near) > 0 {
		list = "did you mean " + quoted(near) + "? " + list
	}
	return lathe.Errorf(lathe.CodeNotFound, list, "model %q is not in the catalogue", ref.String())
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(q, ", ")
}

// ParseRef reads a model as people type it: "provider/model", split at the
// first slash, or only a model's name, which is looked for among the connected
// providers. "#variant" may follow.
func (r *Registry) ParseRef(text string) (lathe.ModelRef, error) {
	text = strings.TrimSpace(text)
	name, variant, _ := strings.Cut(text, "#")
	provider, model, ok := strings.Cut(name, "/")
	ref := lathe.ModelRef{Provider: provider, Model: model, Variant: variant}
	if text == "" || ok && (provider == "" || model == "") {
		return lathe.ModelRef{}, lathe.Errorf(lathe.CodeInvalid, "write it as provider/model; list them with: lathe models", "%q does not name a model", text)
	}
	if ok && (r.entries[provider] != nil || isBuiltin(provider) || r.isLocal(provider)) {
		return ref, nil
	}
	providers, err := r.List()
	if err != nil {
		return lathe.ModelRef{}, err
	}
	var names []string
	for _, p := range providers {
		for _, m := range p.Models {
			if m.Ref.Model == name {
				return lathe.ModelRef{Provider: p.ID, Model: name, Variant: variant}, nil
			}
			names = append(names, m.Ref.String())
		}
	}
	if ok {
		return ref, r.unknownProvider(provider)
	}
	hint := "list them with: lathe models"
	if near := typo.Suggest(name, names); len(near) > 0 {
		hint = "did you mean " + quoted(near) + "? " + hint
	}
	return lathe.ModelRef{}, lathe.Errorf(lathe.CodeNotFound, hint, "no connected provider has a model %q", name)
}

// Default returns the model to use when none was named, and why: the configured
// one, else the best of the first connected provider, else one of a server on
// this machine, else the built-in guide. A configured model that cannot be used
// is an error.
func (r *Registry) Default(ctx context.Context) (ref lathe.ModelRef, why string, err error) {
	if r.conf.Model != "" {
		ref, err := r.ParseRef(r.conf.Model)
		if err == nil {
			_, err = r.Lookup(ref)
		}
		why := "it is configured"
		if o, ok := r.conf.Origin("model"); ok && !o.Pos.IsZero() {
			why = "it is configured in " + o.Pos.String()
		}
		return ref, why, err
	}
	for _, id := range r.preferred() {
		e := r.entries[id]
		models, err := r.models(e)
		if err != nil {
			return ref, "", err
		}
		if m := best(models); m != nil {
			return m.Ref, e.why(), nil
		}
	}
	for _, p := range r.discover(ctx) {
		if m := best(p.Models); m != nil {
			return m.Ref, fmt.Sprintf("%s answers at %s", p.Name, p.API), nil
		}
	}
	ref = lathe.ModelRef{Provider: "offline", Model: "guide"}
	if r.o.Builtin != nil {
		if _, ok := r.o.Builtin(ref); ok {
			return ref, "no provider is connected", nil
		}
	}
	return lathe.ModelRef{}, "", lathe.Errorf(lathe.CodeAuth, "run: lathe auth login, or set a key such as ANTHROPIC_API_KEY", "no provider is connected")
}

// preferred lists the connected providers, only those of the configuration if
// it names any that is connected.
func (r *Registry) preferred() []string {
	var all, configured []string
	for _, id := range r.order {
		if e := r.entries[id]; e.connected() {
			all = append(all, id)
			if e.conf != nil {
				configured = append(configured, id)
			}
		}
	}
	if len(configured) > 0 {
		return configured
	}
	return all
}

func (e *entry) why() string {
	switch e.source {
	case "env":
		return e.env + " is set"
	case "config":
		return "the provider is configured"
	}
	return "you are logged in to " + e.info.Name
}
