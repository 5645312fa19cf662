package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Texts is a prompt and the server that has it.
type Texts struct {
	Command string // what a person types after "/"
	Server  string
	Prompt
}

// Renamed reports whether the prompt has another command than its server's and its own
// name make.
func (t Texts) Renamed() bool { return t.Command != Sanitize(t.Server)+":"+Sanitize(t.Name) }

// Prompts lists the prompts of the servers whose offer is known. One whose command is
// among those given, or is another prompt's, gets a distinguishing ending, the same
// every time. It starts nothing.
func (s *Servers) Prompts(commands ...string) []Texts {
	taken := map[string]bool{}
	for _, name := range commands {
		taken[name] = true
	}
	var out []Texts
	for _, srv := range s.all() {
		k := srv.known()
		if k == nil || !srv.enabled() {
			continue
		}
		for _, p := range k.Prompts {
			command := Sanitize(srv.conf.Name) + ":" + Sanitize(p.Name)
			if taken[command] {
				command += ending(srv.conf.Name, p.Name)
			}
			taken[command] = true
			out = append(out, Texts{command, srv.conf.Name, p})
		}
	}
	return out
}

// Prompt has a server make a prompt from arguments, in the order in which it names
// them, and starts the server if it is not running.
func (s *Servers) Prompt(ctx context.Context, p Texts, given []string) (string, error) {
	srv, err := s.find(p.Server)
	if err != nil {
		return "", err
	}
	args := map[string]string{}
	for i, name := range p.Arguments {
		if i < len(given) {
			args[name] = given[i]
		}
	}
	if n := len(p.Arguments); n > 0 && len(given) > n { // the last takes the rest
		args[p.Arguments[n-1]] = strings.Join(given[n-1:], " ")
	}
	var res *mcp.GetPromptResult
	err = srv.with(ctx, func(ctx context.Context, c *conn) error {
		var err error
		res, err = c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: args})
		return err
	})
	if err != nil {
		return "", err
	}
	g := gather{}
	for _, m := range res.Messages {
		if m != nil {
			g.add(m.Content)
		}
	}
	return strings.Join(g.texts, "\n"), nil
}
