package mcp

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"lathe/internal/config"
)

// LoginError means that a server wants a login.
type LoginError struct {
	Server   string
	Register bool // it does not register clients by itself
	Why      string
}

// Error says what to do.
func (e *LoginError) Error() string {
	if e.Register {
		return fmt.Sprintf("MCP server %q does not register clients by itself: put a clientId into its oauth settings", e.Server)
	}
	text := fmt.Sprintf("MCP server %q wants a login: lathe mcp auth %s", e.Server, e.Server)
	if e.Why != "" {
		text += " (" + e.Why + ")"
	}
	return text
}

// Logins are the logins of servers.
type Logins struct{}

func (l *Logins) handler(config.MCP) auth.OAuthHandler { return nil }

func (c *carrier) login(auth.OAuthHandler) {}
