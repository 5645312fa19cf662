package server

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/opencode/wire"
	"lathe/internal/provider"
	"lathe/internal/store"
	"lathe/internal/workspace"
)

// apis answers the routes below /api of 1.18.
type apis struct{ *call }

// apiRoutes are routes that came with 1.18: the reading ones of its /api family,
// and those its screen calls at the start. The conversations of that family have
// a form of their own, which lathe does not support.
func apiRoutes() []route {
	const get, post = http.MethodGet, http.MethodPost
	list := func(f func(*call) (any, error)) handler {
		return func(c *call) (any, error) { return apis{c}.located(f) }
	}
	none := list(func(*call) (any, error) { return []any{}, nil })
	noData := func(*call) (any, error) { return apiData{[]any{}}, nil }
	conversations, workspaces := not("the conversations of /api; use the routes of /session"), not("workspaces")
	routes := []route{
		{get, "/api/health", func(*call) (any, error) { return apiHealth{true}, nil }, line18},
		{get, "/api/location", on(apis.apiLocation), line18},
		{get, "/api/agent", list(on(apis.apiAgents)), line18},
		{get, "/api/model", list(on(apis.apiModels)), line18},
		{get, "/api/provider", list(on(apis.apiProviders)), line18},
		{get, "/api/provider/{providerID}", list(on(apis.apiProvider)), line18},
		{get, "/api/command", list(on(apis.apiCommands)), line18},
		{get, "/api/skill", list(on(apis.apiSkills)), line18},
		{get, "/api/integration", none, line18},
		{get, "/api/reference", none, line18},
		{get, "/api/fs/find", list(on(apis.apiFind)), line18},
		{get, "/api/fs/list", list(on(apis.apiList)), line18},
		{get, "/api/pty", list(on(terminals.list)), line18},
		{get, "/api/permission/saved", noData, line18},
		{get, "/api/session", on(apis.apiSessions), line18},
		{get, "/api/session/active", on(apis.apiActive), line18},
		{get, "/api/session/{sessionID}", on(apis.apiSession), line18},

		{get, "/vcs/status", on(projects.vcsStatus), line18},
		{get, "/vcs/diff", on(projects.vcsDiff), line18},
		{get, "/vcs/diff/raw", on(projects.vcsDiffRaw), line18},
		{get, "/project/{projectID}/directories", on(projects.projectDirectories), line18},
		{get, "/experimental/capabilities", func(*call) (any, error) { return capabilities18{}, nil }, line18},
		{get, "/experimental/console", func(*call) (any, error) { return console18{Providers: []any{}}, nil }, line18},
		{get, "/experimental/console/orgs", func(*call) (any, error) { return orgs18{[]any{}}, nil }, line18},
		{get, "/experimental/session", on(apis.sessionsEverywhere), line18},
		{get, "/experimental/workspace", emptyList, line18},
		{get, "/experimental/workspace/adapter", emptyList, line18},
		{get, "/experimental/workspace/status", emptyList, line18},
		{post, "/experimental/workspace", workspaces, line18},
	}
	for _, path := range []string{
		"", "/{sessionID}/prompt", "/{sessionID}/compact", "/{sessionID}/wait", "/{sessionID}/interrupt", "/{sessionID}/agent", "/{sessionID}/model",
	} {
		routes = append(routes, route{post, "/api/session" + path, conversations, line18})
	}
	for _, path := range []string{"/context", "/history", "/event", "/message", "/message/{messageID}", "/permission", "/question"} {
		routes = append(routes, route{get, "/api/session/{sessionID}" + path, conversations, line18})
	}
	return append(routes, route{get, "/api/event", conversations, line18})
}

type (
	apiHealth struct {
		Healthy bool `json:"healthy"`
	}
	apiData struct {
		Data any `json:"data"`
	}
	apiPage struct {
		Data   any       `json:"data"`
		Cursor apiCursor `json:"cursor"`
	}
	apiCursor struct {
		Previous string `json:"previous,omitempty"`
		Next     string `json:"next,omitempty"`
	}
	apiFile struct {
		Path string `json:"path"`
		Type string `json:"type"`
	}
	capabilities18 struct {
		Background bool `json:"backgroundSubagents"`
	}
	console18 struct {
		Providers []any `json:"consoleManagedProviders"`
		Orgs      int   `json:"switchableOrgCount"`
	}
	orgs18 struct {
		Orgs []any `json:"orgs"`
	}
)

func (c apis) place() (wire.Location, *instance.Instance, error) {
	inst, dir, err := c.instance()
	if err != nil {
		return wire.Location{}, nil, err
	}
	return wire.Location{Directory: dir, Project: wire.LocationProject{ID: inst.Project.ID, Directory: inst.Root.Worktree}}, inst, nil
}

func (c apis) located(f func(*call) (any, error)) (any, error) {
	place, _, err := c.place()
	if err != nil {
		return nil, err
	}
	data, err := f(c.call)
	return wire.Located{Location: place, Data: data}, err
}

func (c apis) apiLocation() (any, error) {
	place, _, err := c.place()
	return place, err
}

func (c apis) apiAgents() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return wire.EncodeAPIAgents(listedAgents(inst.Agents.All())), nil
}

func (c apis) providers() ([]*provider.Provider, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	return models.Usable(c.ctx())
}

func (c apis) apiModels() (any, error) {
	all, err := c.providers()
	return wire.EncodeAPIModels(listedProviders(all)), err
}

func (c apis) apiProviders() (any, error) {
	all, err := c.providers()
	out := make([]any, 0, len(all))
	for _, p := range all {
		out = append(out, wire.EncodeAPIProvider(instance.ListedProvider(p)))
	}
	return out, err
}

func (c apis) apiProvider() (any, error) {
	all, err := c.providers()
	if err != nil {
		return nil, err
	}
	id := c.r.PathValue("providerID")
	i := slices.IndexFunc(all, func(p *provider.Provider) bool { return p.ID == id })
	if i < 0 {
		return nil, notFound("Provider not found: %s", clip(id, 80))
	}
	return wire.EncodeAPIProvider(instance.ListedProvider(all[i])), nil
}

func (c apis) apiCommands() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	return wire.EncodeAPICommands(listedCommands(inst.Commands.All()), models.ParseRef), nil
}

// skillLimit bounds the text of a skill that is shown.
const skillLimit = 256 << 10

func (c apis) apiSkills() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	list, _ := inst.Skills.All()
	out := make([]wire.APISkill, 0, len(list))
	for _, s := range list {
		text, err := workspace.ReadFile(s.File, skillLimit)
		if err != nil {
			c.s.opts.Log.Warn("a skill was left out", "err", err)
			continue
		}
		out = append(out, wire.APISkill{Name: s.Name, Description: s.Description, Location: s.File, Content: string(text)})
	}
	return out, nil
}

// apiFind finds files by name, as a person types it.
func (c apis) apiFind() (any, error) {
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = filesLimit
	}
	kind, query := c.query("type"), c.query("query")
	if len(query) > maxPattern {
		return nil, badQuery("query", "longer than %d bytes", maxPattern)
	}
	inst, err := c.project()
	if err != nil {
		return nil, err
	}
	names, err := files(c).find(inst, query, int(min(limit, filesMost)), kind != "directory", kind != "file")
	if err != nil {
		return nil, err
	}
	return apiFiles(names), nil
}

func apiFiles(paths []string) []apiFile {
	out := make([]apiFile, 0, len(paths))
	for _, p := range paths {
		kind := "file"
		if strings.HasSuffix(p, "/") {
			kind = "directory"
		}
		out = append(out, apiFile{p, kind})
	}
	return out
}

func (c apis) apiList() (any, error) {
	if q := c.r.URL.Query(); !q.Has("path") { // the top, where /file wants it said
		q.Set("path", "")
		u := *c.r.URL
		u.RawQuery = q.Encode()
		r := *c.r
		r.URL = &u
		c.call = &call{s: c.s, w: c.w, r: &r}
	}
	listed, err := files(c).fileList()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, n := range listed.([]fileNode) {
		path := filepath.ToSlash(n.Path)
		if n.Type == "directory" {
			path += "/"
		}
		paths = append(paths, path)
	}
	return apiFiles(paths), nil
}

// apiMost bounds a page of sessions.
const apiMost = 1000

// apiSessions lists sessions, newest first, page by page. A cursor says how many
// were seen.
func (c apis) apiSessions() (any, error) {
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	if limit = min(limit, apiMost); limit == 0 {
		limit = apiMost
	}
	skip, err := parseOffset(c.query("cursor"))
	if err != nil {
		return nil, err
	}
	f := store.SessionFilter{Search: c.query("search"), ProjectID: c.query("project"), Limit: skip + int(limit) + 1}
	if f.Directory = c.query("directory"); f.Directory != "" {
		if f.Directory, err = c.dir(); err != nil {
			return nil, err
		}
	}
	all, err := c.s.opts.Service.List(c.ctx(), f)
	if err != nil {
		return nil, err
	}
	page := apiPage{}
	all = all[min(skip, len(all)):]
	if skip > 0 {
		page.Cursor.Previous = offset(max(0, skip-int(limit)))
	}
	if len(all) > int(limit) {
		all = all[:limit]
		page.Cursor.Next = offset(skip + int(limit))
	}
	out := make([]wire.APISession, 0, len(all))
	for _, s := range all {
		out = append(out, wire.EncodeAPISession(s))
	}
	page.Data = out
	return page, nil
}

// pageStart is what a cursor of a list of sessions holds.
type pageStart struct {
	Skip int `json:"skip"`
}

func offset(n int) string {
	raw, err := wire.Marshal(pageStart{n})
	if err != nil { // numbers always encode
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func parseOffset(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	var p pageStart
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil || p.Skip < 0 || p.Skip > 1<<20 {
		return 0, badQuery("cursor", "expected the cursor of an earlier answer")
	}
	return p.Skip, nil
}

// sessionsEverywhere lists the sessions of all projects.
func (c apis) sessionsEverywhere() (any, error) {
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	if limit = min(limit, apiMost); limit == 0 {
		limit = 100
	}
	f := store.SessionFilter{Search: c.query("search"), Roots: c.query("roots") == "true", Limit: int(limit)}
	if f.Directory = c.query("directory"); f.Directory != "" {
		if f.Directory, err = c.dir(); err != nil {
			return nil, err
		}
	}
	list, err := c.s.opts.Service.List(c.ctx(), f)
	if err != nil {
		return nil, err
	}
	projects, err := c.s.opts.Store.Projects(c.ctx())
	return wire.EncodeGlobalSessions(list, projects), err
}

func (c apis) apiSession() (any, error) {
	sess, err := c.session()
	return apiData{wire.EncodeAPISession(sess)}, err
}

func (c apis) apiActive() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	out := map[lathe.SessionID]any{}
	for id := range c.s.opts.Service.Statuses(dir) {
		out[id] = struct {
			Type string `json:"type"`
		}{"running"}
	}
	return apiData{out}, nil
}

// tagged adds what clients of /api look for in an error.
func tagged(r *http.Request, body any) any {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return body
	}
	switch b := body.(type) {
	case failure:
		b.Tag, b.Message = b.Name, b.Data.Message
		if id := r.PathValue("sessionID"); id != "" && b.Name == "NotFoundError" {
			b.Tag, b.Session = "SessionNotFoundError", id
		}
		return b
	case badRequest:
		b.Tag, b.Message = "InvalidRequestError", b.Data.Message
		return b
	}
	return body
}
