package server

import (
	"net/http"
	"slices"
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
	oauth := not("OAuth with MCP servers over the API")
	return append(apiRoutes(), []route{
		{get, "/doc", (*call).doc, line18},

		{get, "/global/health", (*call).health, ""},
		{get, "/global/event", (*call).globalEvents, ""},
		{post, "/global/dispose", (*call).globalDispose, ""},
		{get, "/global/config", (*call).configGet, line18},
		{patch, "/global/config", (*call).globalConfigUpdate, line18},
		{get, "/event", (*call).events, ""},
		{post, "/instance/dispose", (*call).instanceDispose, ""},

		{get, "/project", (*call).projectList, ""},
		{get, "/project/current", (*call).projectCurrent, ""},
		{patch, "/project/{projectID}", (*call).projectUpdate, ""},
		{post, "/project/git/init", (*call).projectInitGit, line18},
		{get, "/path", (*call).path, ""},
		{get, "/vcs", (*call).vcs, ""},

		{get, "/config", (*call).configGet, ""},
		{patch, "/config", (*call).configUpdate, ""},
		{get, "/config/providers", (*call).configProviders, ""},
		{get, "/provider", (*call).providerList, ""},
		{get, "/provider/auth", (*call).providerAuth, ""},
		{post, "/provider/{providerID}/oauth/authorize", (*call).providerOAuth, ""},
		{post, "/provider/{providerID}/oauth/callback", (*call).providerOAuth, ""},
		{put, "/auth/{providerID}", (*call).authSet, ""},
		{del, "/auth/{providerID}", (*call).authRemove, line18},

		{get, "/agent", (*call).agentList, ""},
		{get, "/command", (*call).commandList, ""},
		{get, "/skill", (*call).skills, ""},
		{get, "/lsp", emptyList, ""},
		{get, "/formatter", emptyList, ""},
		{get, "/experimental/tool/ids", (*call).toolIDs, ""},
		{get, "/experimental/tool", (*call).toolList, ""},
		{get, "/experimental/resource", emptyObject, ""},
		{get, "/experimental/worktree", (*call).worktreeList, ""},
		{post, "/experimental/worktree", (*call).worktreeCreate, ""},
		{del, "/experimental/worktree", (*call).worktreeRemove, ""},
		{post, "/experimental/worktree/reset", (*call).worktreeReset, ""},

		{get, "/mcp", emptyObject, ""},
		{post, "/mcp", not("adding MCP servers over the API"), ""},
		{post, "/mcp/{name}/connect", noServer, ""},
		{post, "/mcp/{name}/disconnect", noServer, ""},
		{post, "/mcp/{name}/auth", oauth, ""},
		{del, "/mcp/{name}/auth", oauth, ""},
		{post, "/mcp/{name}/auth/callback", oauth, ""},
		{post, "/mcp/{name}/auth/authenticate", oauth, ""},

		{get, "/session", (*call).sessionList, ""},
		{post, "/session", (*call).sessionCreate, ""},
		{get, "/session/status", (*call).sessionStatus, ""},
		{get, session, (*call).sessionGet, ""},
		{del, session, (*call).sessionDelete, ""},
		{patch, session, (*call).sessionUpdate, ""},
		{get, session + "/children", (*call).sessionChildren, ""},
		{get, session + "/todo", (*call).sessionTodo, ""},
		{get, session + "/diff", (*call).sessionDiff, ""},
		{post, session + "/abort", (*call).sessionAbort, ""},
		{post, session + "/fork", (*call).sessionFork, ""},
		{post, session + "/revert", (*call).sessionRevert, ""},
		{post, session + "/unrevert", (*call).sessionUnrevert, ""},
		{post, session + "/summarize", (*call).sessionSummarize, ""},
		{post, session + "/share", (*call).sessionShare, ""},
		{del, session + "/share", (*call).sessionUnshare, ""},
		{post, session + "/init", (*call).sessionInit, ""},
		{post, session + "/command", (*call).sessionCommand, ""},
		{post, session + "/shell", (*call).sessionShell, ""},

		{get, session + "/message", (*call).messageList, ""},
		{post, session + "/message", (*call).messagePrompt, ""},
		{post, session + "/prompt_async", (*call).promptAsync, ""},
		{get, message, (*call).messageGet, ""},
		{del, message, (*call).messageDelete, line18},
		{patch, part, (*call).partUpdate, ""},
		{del, part, (*call).partDelete, ""},

		{get, "/permission", (*call).permissionList, ""},
		{post, "/permission/{requestID}/reply", (*call).permissionReply, ""},
		{post, session + "/permissions/{permissionID}", (*call).permissionRespond, ""},
		{get, "/question", (*call).questionList, ""},
		{post, "/question/{requestID}/reply", (*call).questionReply, ""},
		{post, "/question/{requestID}/reject", (*call).questionReject, ""},

		{get, "/find", (*call).findText, ""},
		{get, "/find/file", (*call).findFiles, ""},
		{get, "/find/symbol", (*call).findSymbols, ""},
		{get, "/file", (*call).fileList, ""},
		{get, "/file/content", (*call).fileRead, ""},
		{get, "/file/status", (*call).fileStatus, ""},
		{post, "/log", (*call).log, ""},

		{get, "/pty", (*call).ptyList, ""},
		{post, "/pty", (*call).ptyCreate, ""},
		{get, "/pty/shells", (*call).ptyShells, line18},
		{get, "/pty/{ptyID}", (*call).ptyGet, ""},
		{put, "/pty/{ptyID}", (*call).ptyUpdate, ""},
		{del, "/pty/{ptyID}", (*call).ptyRemove, ""},
		{get, "/pty/{ptyID}/connect", (*call).ptyConnect, ""},

		{post, "/tui/append-prompt", (*call).tuiAppend, ""},
		{post, "/tui/open-help", tuiCommand("help.show"), ""},
		{post, "/tui/open-sessions", tuiCommand("session.list"), ""},
		{post, "/tui/open-themes", tuiCommand("theme.list"), ""},
		{post, "/tui/open-models", tuiCommand("model.list"), ""},
		{post, "/tui/submit-prompt", tuiCommand("prompt.submit"), ""},
		{post, "/tui/clear-prompt", tuiCommand("prompt.clear"), ""},
		{post, "/tui/execute-command", (*call).tuiExecute, ""},
		{post, "/tui/show-toast", (*call).tuiToast, ""},
		{post, "/tui/publish", (*call).tuiPublish, ""},
		{post, "/tui/select-session", (*call).tuiSelect, ""},
		{get, "/tui/control/next", (*call).tuiNext, ""},
		{post, "/tui/control/response", (*call).tuiResponse, ""},
	}...)
}

func (s *Server) register() {
	for _, r := range slices.Concat(s.routes(), s.ownRoutes(), s.screenRoutes()) {
		s.mux.HandleFunc(r.method+" "+r.path, s.handle(r.do))
	}
	s.mux.HandleFunc("/", s.handle(noRoute))
}
