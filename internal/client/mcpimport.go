package client

import (
	"context"
	"net/http"

	"lathe/internal/api"
)

// Imports lists the files of other programs that name MCP servers.
func (c servers) Imports(ctx context.Context) ([]api.MCPImport, error) {
	return get(ctx, c.conn, "/lathe/mcp-import", nil, plain[[]api.MCPImport])
}

// AnswerImport says whether the servers of such a file are to be used, as it was listed.
func (c servers) AnswerImport(ctx context.Context, in api.MCPImportAnswer) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe/mcp-import", nil, in)
	return err
}
