package server

import (
	"context"
	"net/http"

	"lathe/internal/api"
)

// serverImports answers about MCP servers that files of other programs name. Whoever may call
// may decide, as about trust.
type serverImports struct{ *call }

func serverImportRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/mcp-import", on(serverImports.list), ""},
		{http.MethodPost, "/lathe/mcp-import", on(serverImports.answer), ""},
	}
}

func (c serverImports) list() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return inst.Imports.List()
}

// answer keeps what the person says, and makes the directory's open instance be read again.
func (c serverImports) answer() (any, error) {
	inst, dir, err := c.instance()
	if err != nil {
		return nil, err
	}
	var in api.MCPImportAnswer
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return true, repositories(c).change(dir, func(ctx context.Context) error { return inst.Imports.Answer(ctx, in) })
}
