package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/catalog"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/provider"
)

// Trusting keeps the person's decisions about repositories. Directories are those
// that requests are about.
type Trusting interface {
	State(ctx context.Context, dir string) (api.Trust, error)
	// Decide trusts what a digest stands for, for good or for this process. It
	// fails when the files are others by now.
	Decide(ctx context.Context, dir string, d api.Decision) error
	// Withdraw takes every decision about a directory back.
	Withdraw(ctx context.Context, dir string) error
}

// screenRoutes are what the screen asks for beside the other own routes.
func (s *Server) screenRoutes() []route {
	return append(approvalRoutes(), []route{
		{http.MethodGet, "/lathe/setup", on(faces.setup), ""},
		{http.MethodGet, "/lathe/found", on(faces.found), ""},
		{http.MethodGet, "/lathe/search", on(faces.search), ""},
		{http.MethodPost, "/lathe/provider/{providerID}/test", on(faces.keyTest), ""},
		{http.MethodGet, "/lathe/session/{sessionID}/weight", on(faces.weight), ""},
		{http.MethodGet, "/lathe/trust", on(faces.trustState), ""},
		{http.MethodPost, "/lathe/trust/decision", on(faces.trustDecide), ""},
		{http.MethodDelete, "/lathe/trust/decision", on(faces.trustWithdraw), ""},
	}...)
}

// found looks for keys in the environment and for model servers.
func (c faces) found() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	_, _, _ = inst.Models.Default(c.ctx()) // looks for local servers where nothing else is connected
	list, err := inst.Models.List()
	if err != nil {
		return nil, err
	}
	out := api.Found{Keys: []api.FoundKey{}, Servers: []api.FoundServer{}, Stored: []string{}}
	for _, p := range list {
		switch {
		case p.Source == "builtin":
		case inst.Models.Local(p.ID):
			out.Servers = append(out.Servers, api.FoundServer{Provider: p.ID, Name: p.Name, URL: p.API, Models: len(p.Models)})
		case p.Source == "env":
			out.Keys = append(out.Keys, api.FoundKey{Provider: p.ID, Name: p.Name, Variable: inst.Models.Variable(p.ID)})
		default:
			out.Stored = append(out.Stored, p.ID)
		}
	}
	return out, nil
}

const testPatience = 20 * time.Second

// keyTest asks a model of a provider for one word and says what came back.
func (c faces) keyTest() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	id := c.r.PathValue("providerID")
	m, err := testModel(inst, id)
	if err != nil {
		return nil, err
	}
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "Answer with the word ok."}}}}}
	m.Prepare(req, provider.Params{Small: true, Client: "cli"})
	req.MaxTokens = 64
	ctx, cancel := context.WithTimeoutCause(c.ctx(), testPatience, fmt.Errorf("no answer within %s", testPatience))
	defer cancel()
	for _, err := range m.LLM.Stream(ctx, req) {
		if err != nil {
			return judge(m, err), nil
		}
		break // it answers; that is enough
	}
	return api.KeyTest{Outcome: api.KeyAccepted, Model: m.Ref.String()}, nil
}

// testModel returns the cheapest model of a provider that answers with text.
func testModel(inst *instance.Instance, id string) (*provider.Model, error) {
	list, err := inst.Models.List()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(p *provider.Provider) bool { return p.ID == id })
	if i < 0 {
		return nil, notFound("provider %s is not connected", clip(id, 80))
	}
	var best *provider.Model
	for _, m := range list[i].Models {
		if !m.Caps.ToolCall || !m.Caps.Output.Has(catalog.Text) || m.Status == "deprecated" {
			continue
		}
		if best == nil || m.Price.For(0).Output < best.Price.For(0).Output {
			best = m
		}
	}
	if best == nil {
		return nil, notFound("provider %s has no model that could be asked", clip(id, 80))
	}
	if best.Price.For(0).Output > 0 {
		if small := inst.Models.Small(best.Ref); small.Provider == id {
			best = &provider.Model{Ref: small}
		}
	}
	return inst.Models.Lookup(best.Ref)
}

// judge says what a failed request tells of the key.
func judge(m *provider.Model, err error) api.KeyTest {
	out := api.KeyTest{Outcome: api.KeyUnknown, Model: m.Ref.String(), Detail: clip(err.Error(), 300)}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		out.Hint = "try again"
		return out
	}
	switch e.Kind {
	case llm.KindAuth:
		out.Outcome, out.Hint = api.KeyRefused, "copy it again from the provider's console; it must be an API key, and allowed to use "+m.APIID
	case llm.KindNetwork, llm.KindTimeout:
		out.Hint = "look at the network, a proxy, and the provider's address"
	case llm.KindRateLimit:
		out.Outcome, out.Hint = api.KeyAccepted, "the provider asks to wait"
	case llm.KindQuota:
		out.Hint = "the key is known, but its account has no credit"
	case llm.KindInvalid:
		out.Hint = "the provider knows the key, but refused this request; another model may work"
	default:
		out.Hint = "try again later"
	}
	return out
}

// weight tells what a session would send next, and what it cost.
func (c faces) weight() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Window(c.ctx(), sess.ID)
}

func (c faces) trustState() (any, error) {
	t, dir, err := c.trusting()
	if err != nil {
		return nil, err
	}
	return t.State(c.ctx(), dir)
}

func (c faces) trusting() (Trusting, string, error) {
	dir, err := c.dir()
	if err == nil && c.s.opts.Trusting == nil {
		err = &unsupported{"deciding about trust here; use lathe trust where the server runs"}
	}
	return c.s.opts.Trusting, dir, err
}

// trustDecide trusts what the digest stands for. It is refused while a session
// works in the directory, whose rules would change.
func (c faces) trustDecide() (any, error) {
	t, dir, err := c.trusting()
	if err != nil {
		return nil, err
	}
	var in api.Decision
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return c.trustChanged(dir, func(ctx context.Context) error { return t.Decide(ctx, dir, in) })
}

func (c faces) trustWithdraw() (any, error) {
	t, dir, err := c.trusting()
	if err != nil {
		return nil, err
	}
	return c.trustChanged(dir, func(ctx context.Context) error { return t.Withdraw(ctx, dir) })
}

func (c faces) trustChanged(dir string, change func(context.Context) error) (any, error) {
	if len(c.s.opts.Service.Statuses(dir)) > 0 {
		return nil, lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "a session is busy in %s", dir)
	}
	ctx := context.WithoutCancel(c.ctx())
	if err := change(ctx); err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Dispose(ctx, dir)
}

// setup tells how lathe is set up for the directory. What this build cannot
// run, it says so.
func (c faces) setup() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	conf := inst.Config
	out := api.Setup{
		Version: lathe.Version, MCP: []api.Configured{}, LSP: []api.Configured{}, Formatters: []api.Configured{},
		Skills: []api.Skill{}, Plugins: []string{}, Files: []string{}, Warnings: []string{}, Share: shareWords(conf.Share),
	}
	const none = "configured; this build runs none"
	for _, m := range conf.MCP {
		state := none
		if m.Enabled != nil && !*m.Enabled {
			state = "switched off"
		}
		out.MCP = append(out.MCP, api.Configured{Name: m.Name, Kind: m.Type, State: state})
	}
	for _, e := range conf.LSP.Entries {
		out.LSP = append(out.LSP, api.Configured{Name: e.Name, Kind: strings.Join(e.Extensions, " "), State: offOr(e.Disabled, none)})
	}
	for _, e := range conf.Formatter.Entries {
		out.Formatters = append(out.Formatters, api.Configured{Name: e.Name, Kind: strings.Join(e.Extensions, " "), State: offOr(e.Disabled, none)})
	}
	skills, problems := inst.Skills.All()
	for _, s := range skills {
		out.Skills = append(out.Skills, api.Skill{Name: s.Name, Description: s.Description, Path: s.File})
	}
	for _, p := range conf.Plugins {
		out.Plugins = append(out.Plugins, p.Spec)
	}
	for _, s := range conf.Sources {
		out.Files = append(out.Files, s.Name)
	}
	for _, w := range conf.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	for _, p := range problems {
		if !errors.Is(p, instance.ErrShadowed) {
			out.Warnings = append(out.Warnings, p.Error())
		}
	}
	if n := inst.Notice(); n != "" {
		out.Warnings = append(out.Warnings, n)
	}
	out.Warnings = append(out.Warnings, inst.Unused()...)
	out.Snapshots = "on"
	if _, err := inst.Snapshots(); err != nil {
		out.Snapshots = "off: " + err.Error()
	}
	out.Checks = c.checks(inst, out)
	return out, nil
}

func offOr(off bool, state string) string {
	if off {
		return "switched off"
	}
	return state
}

func shareWords(mode string) string {
	switch mode {
	case "auto":
		return "every session, as the configuration says"
	case "disabled":
		return "switched off"
	}
	return "when asked for"
}

// checks look at what the work depends on.
func (c faces) checks(inst *instance.Instance, s api.Setup) []api.Check {
	var out []api.Check
	add := func(name string, ok bool, detail string) {
		out = append(out, api.Check{Name: name, OK: ok, Detail: detail})
	}
	ref, why, err := inst.Models.Default(c.ctx())
	switch {
	case err != nil:
		add("model", false, err.Error())
	case ref.Provider == "offline":
		add("model", false, "none is connected, so the offline guide answers; /connect connects one")
	default:
		add("model", true, ref.String()+": "+why)
	}
	if inst.Root.VCS == "" {
		add("repository", true, "not a git repository; undo works all the same")
	} else {
		add("repository", true, "git, at "+inst.Root.Worktree)
	}
	add("undo", s.Snapshots == "on", "snapshots are "+s.Snapshots)
	unused := inst.Unused()
	complaints := len(s.Warnings) - len(unused)
	add("configuration", complaints == 0, fmt.Sprintf("%d files, %d complaints", len(s.Files), complaints))
	for _, line := range unused {
		add("not used", false, line)
	}
	if _, err := c.s.opts.Auth.All(); err != nil {
		add("credentials", false, err.Error())
	} else {
		add("credentials", true, "auth.json can be read")
	}
	return out
}
