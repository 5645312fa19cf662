package client

import (
	"context"

	"lathe/internal/api"
)

// Languages lists the language servers that were started for the directory.
func (c directory) Languages(ctx context.Context) (api.LanguageServers, error) {
	return get(ctx, c.conn, "/lathe/lsp", nil, plain[api.LanguageServers])
}

// StopLanguage ends a language server; the next file that needs it starts it anew.
func (c directory) StopLanguage(ctx context.Context, name api.LanguageServerName) error {
	_, err := post(ctx, c.conn, "/lathe/lsp/stop", name, plain[bool])
	return err
}
