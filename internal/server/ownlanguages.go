package server

import (
	"net/http"

	"lathe"
	"lathe/internal/api"
)

func languageRoutes() []route {
	const all = "/lathe/lsp"
	return []route{
		{http.MethodGet, all, on(equipment.languages), ""},
		{http.MethodPost, all + "/stop", on(equipment.stopLanguage), ""},
	}
}

// languages lists the language servers that were started, with what OpenCode's route has
// no field for.
func (c equipment) languages() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	servers := inst.Languages.Servers
	out := api.LanguageServers{On: servers != nil, Servers: []api.LanguageServer{}}
	for _, s := range servers.Status() {
		out.Servers = append(out.Servers, api.LanguageServer(s))
	}
	return out, nil
}

// stopLanguage ends a server; the next file that needs it starts it anew.
func (c equipment) stopLanguage() (any, error) {
	var in api.LanguageServerName
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("id", in.ID); err != nil {
		return nil, err
	}
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	if !inst.Languages.Servers.Stop(in.ID, in.Root) {
		return nil, lathe.Errorf(lathe.CodeNotFound, "list them with GET /lathe/lsp", "no language server %.80q runs for %.200q", in.ID, in.Root)
	}
	return true, nil
}
