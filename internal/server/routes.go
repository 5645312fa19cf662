package server

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// route is one thing a client may ask for.
type route struct {
	method, path string
	do           handler
	line         string // line of OpenCode that it came with; empty: 1.1
}

const line18 = "1.18"

// routes is the table that the mux and the OpenAPI document are made from.
func (s *Server) routes() []route {
	const (
		get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete

		session = "/session/{sessionID}"
		message = session + "/message/{messageID}"
		part    = message + "/part/{partID}"
	)
	return append(append(apiRoutes(), mcpRoutes()...), []route{
		{get, "/doc", (*call).doc, line18},

		{get, "/global/health", (*call).health, ""},
		{get, "/global/event", (*call).globalEventStream, ""},
		{post, "/global/dispose", (*call).globalDispose, ""},
		{get, "/global/config", on(equipment.configGet), line18},
		{patch, "/global/config", on(equipment.globalConfigUpdate), line18},
		{get, "/event", (*call).eventStream, ""},
		{post, "/instance/dispose", (*call).instanceDispose, ""},

		{get, "/project", on(projects.projectList), ""},
		{get, "/project/current", on(projects.projectCurrent), ""},
		{patch, "/project/{projectID}", on(projects.projectUpdate), ""},
		{post, "/project/git/init", on(projects.projectInitGit), line18},
		{get, "/path", (*call).path, ""},
		{get, "/vcs", on(projects.vcs), ""},

		{get, "/config", on(equipment.configGet), ""},
		{patch, "/config", on(equipment.configUpdate), ""},
		{get, "/config/providers", on(equipment.configProviders), ""},
		{get, "/provider", on(equipment.providerList), ""},
		{get, "/provider/auth", on(equipment.providerAuth), ""},
		{post, "/provider/{providerID}/oauth/authorize", on(equipment.authorize), ""},
		{post, "/provider/{providerID}/oauth/callback", on(equipment.loggedIn), ""},
		{put, "/auth/{providerID}", on(equipment.authSet), ""},
		{del, "/auth/{providerID}", on(equipment.authRemove), line18},

		{get, "/agent", on(equipment.agentList), ""},
		{get, "/command", on(equipment.commandList), ""},
		{get, "/skill", on(equipment.skills), ""},
		{get, "/lsp", on(equipment.lsp), ""},
		{get, "/formatter", on(equipment.formatters), ""},
		{get, "/experimental/tool/ids", on(equipment.toolIDs), ""},
		{get, "/experimental/tool", on(equipment.toolList), ""},
		{get, "/experimental/worktree", on(projects.worktreeList), ""},
		{post, "/experimental/worktree", on(projects.worktreeCreate), ""},
		{del, "/experimental/worktree", on(projects.worktreeRemove), ""},
		{post, "/experimental/worktree/reset", on(projects.worktreeReset), ""},

		{get, "/session", on(sessions.list), ""},
		{post, "/session", on(sessions.create), ""},
		{get, "/session/status", on(sessions.status), ""},
		{get, session, on(sessions.get), ""},
		{del, session, on(sessions.delete), ""},
		{patch, session, on(sessions.update), ""},
		{get, session + "/children", on(sessions.children), ""},
		{get, session + "/todo", on(sessions.todo), ""},
		{get, session + "/diff", on(sessions.diff), ""},
		{post, session + "/abort", on(sessions.abort), ""},
		{post, session + "/fork", on(sessions.fork), ""},
		{post, session + "/revert", on(sessions.revert), ""},
		{post, session + "/unrevert", on(sessions.unrevert), ""},
		{post, session + "/summarize", on(sessions.summarize), ""},
		{post, session + "/share", on(sessions.share), ""},
		{del, session + "/share", on(sessions.unshare), ""},
		{post, session + "/init", on(sessions.init), ""},
		{post, session + "/command", on(sessions.command), ""},
		{post, session + "/shell", on(sessions.shell), ""},

		{get, session + "/message", on(messages.messageList), ""},
		{post, session + "/message", on(messages.messagePrompt), ""},
		{post, session + "/prompt_async", on(messages.promptAsync), ""},
		{get, message, on(messages.messageGet), ""},
		{del, message, on(messages.messageDelete), line18},
		{patch, part, on(messages.partUpdate), ""},
		{del, part, on(messages.partDelete), ""},

		{get, "/permission", on(asks.permissionList), ""},
		{post, "/permission/{requestID}/reply", on(asks.permissionReply), ""},
		{post, session + "/permissions/{permissionID}", on(asks.permissionRespond), ""},
		{get, "/question", on(asks.questionList), ""},
		{post, "/question/{requestID}/reply", on(asks.questionReply), ""},
		{post, "/question/{requestID}/reject", on(asks.questionReject), ""},

		{get, "/find", on(files.findText), ""},
		{get, "/find/file", on(files.findFiles), ""},
		{get, "/find/symbol", on(files.findSymbols), ""},
		{get, "/file", on(files.fileList), ""},
		{get, "/file/content", on(files.fileRead), ""},
		{get, "/file/status", on(files.fileStatus), ""},
		{post, "/log", (*call).log, ""},

		{get, "/pty", on(terminals.list), ""},
		{post, "/pty", on(terminals.create), ""},
		{get, "/pty/shells", on(terminals.shells), line18},
		{get, "/pty/{ptyID}", on(terminals.get), ""},
		{put, "/pty/{ptyID}", on(terminals.update), ""},
		{del, "/pty/{ptyID}", on(terminals.remove), ""},
		{get, "/pty/{ptyID}/connect", on(terminals.connect), ""},

		{post, "/tui/append-prompt", on(screens.tuiAppend), ""},
		{post, "/tui/open-help", tuiCommand("help.show"), ""},
		{post, "/tui/open-sessions", tuiCommand("session.list"), ""},
		{post, "/tui/open-themes", tuiCommand("theme.list"), ""},
		{post, "/tui/open-models", tuiCommand("model.list"), ""},
		{post, "/tui/submit-prompt", tuiCommand("prompt.submit"), ""},
		{post, "/tui/clear-prompt", tuiCommand("prompt.clear"), ""},
		{post, "/tui/execute-command", on(screens.tuiExecute), ""},
		{post, "/tui/show-toast", on(screens.tuiToast), ""},
		{post, "/tui/publish", on(screens.tuiPublish), ""},
		{post, "/tui/select-session", on(screens.tuiSelect), ""},
		{get, "/tui/control/next", on(screens.tuiNext), ""},
		{post, "/tui/control/response", on(screens.tuiResponse), ""},
	}...)
}

// routeMux finds the route of a request. Routes are grouped by the beginning of their
// path, and a group is registered when it is first needed: one command uses few of
// them, and registering all takes longer than answering.
type routeMux struct {
	s *Server

	mu     sync.Mutex
	groups map[string]*http.ServeMux
}

// ServeHTTP answers a request.
func (m *routeMux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.group(groupOf(r.URL.Path)).ServeHTTP(w, r)
}

// rootOnly is the path of the page at "/", and of nothing below it.
const rootOnly = "/{$}"

// groupOf returns what a path begins with: a segment, two of lathe's own routes.
func groupOf(path string) string {
	if path == rootOnly {
		return ""
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if first == "lathe" {
		second, _, _ := strings.Cut(rest, "/")
		first += "/" + second
	}
	return first
}

func (m *routeMux) group(name string) *http.ServeMux {
	m.mu.Lock()
	defer m.mu.Unlock()
	if mux := m.groups[name]; mux != nil {
		return mux
	}
	all := m.s.allRoutes()
	if !slices.ContainsFunc(all, func(r route) bool { return groupOf(r.path) == name }) {
		name = "" // all the names that clients make up share the page's
		if mux := m.groups[name]; mux != nil {
			return mux
		}
	}
	mine := slices.DeleteFunc(all, func(r route) bool { return groupOf(r.path) != name })
	mux := http.NewServeMux()
	for _, r := range mine {
		mux.HandleFunc(r.method+" "+r.path, m.s.handle(r.do))
	}
	mux.HandleFunc("/", m.s.handle(noRoute))
	m.groups[name] = mux
	return mux
}

func (s *Server) allRoutes() []route {
	return slices.Concat(s.routes(), s.ownRoutes(), lifeRoutes(), helperRoutes(), modeRoutes(), noteRoutes(), reviewRoutes(), lessonRoutes(), worktreeRoutes(), languageRoutes(), reportRoutes(), gearRoutes(), pluginRoutes(), authRoutes(), keyRoutes(), importRoutes(), s.screenRoutes(), s.jobRoutes(), ownServerRoutes(), serverImportRoutes(), pageRoutes(), sharedRoutes(), timelineRoutes(), fileRoutes(), workerRoutes(), continueRoutes(), metricsRoutes())
}
