package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// learn asks a server what it has. Only reading tools may fail it, if the server says
// that it has some; anything else that cannot be read is left out.
func (c *conn) learn(ctx context.Context) (*Known, error) {
	init := c.session.InitializeResult()
	k := &Known{Protocol: init.ProtocolVersion, Instructions: cleanText(init.Instructions, maxText), Tools: []Tool{}}
	if info := init.ServerInfo; info != nil {
		k.Title = clean(info.Name+" "+info.Version, maxName)
	}
	caps := init.Capabilities
	if caps == nil {
		caps = &mcp.ServerCapabilities{}
	}
	if caps.Tools != nil {
		if err := c.learnTools(ctx, k); err != nil {
			return nil, err
		}
	}
	if caps.Resources != nil {
		k.HasResources = true
		c.note(k, c.learnResources(ctx, k))
	}
	if caps.Prompts != nil {
		c.note(k, c.learnPrompts(ctx, k))
	}
	return k, nil
}

func (c *conn) note(k *Known, err error) {
	if err != nil {
		k.Notes = append(k.Notes, clean(err.Error(), 300))
	}
}

// pages reads all pages of a list. A list that repeats itself or does not end is an
// error if nothing of it is kept.
func pages[T any](ctx context.Context, most int, ask func(ctx context.Context, cursor string) ([]T, string, error)) (all []T, over bool, err error) {
	seen, cursor := map[string]bool{}, ""
	for range maxPages {
		list, next, err := ask(ctx, cursor)
		if err != nil {
			return all, false, err
		}
		all = append(all, list...)
		if len(all) > most {
			return all[:most], true, nil
		}
		if next == "" {
			return all, false, nil
		}
		if seen[next] {
			return all, false, fmt.Errorf("the list of the server repeats its cursor %q", clean(next, 80))
		}
		seen[next], cursor = true, next
	}
	return all, true, nil
}

func (c *conn) learnTools(ctx context.Context, k *Known) error {
	list, over, err := pages(ctx, maxTools, func(ctx context.Context, cursor string) ([]*mcp.Tool, string, error) {
		res, err := c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Tools, res.NextCursor, nil
	})
	if err != nil {
		return err
	}
	if over {
		k.Notes = append(k.Notes, fmt.Sprintf("it has more than %d tools; the others are left out", maxTools))
	}
	names := map[string]bool{}
	for _, t := range list {
		if t == nil || t.Name == "" || len(t.Name) > maxName || names[t.Name] {
			continue
		}
		names[t.Name] = true
		def, note := definition(t).bound()
		if note != "" {
			k.Notes = append(k.Notes, note)
		}
		k.Tools = append(k.Tools, def)
	}
	if len(k.Notes) > 20 {
		k.Notes = append(k.Notes[:20], fmt.Sprintf("and %d more", len(k.Notes)-20))
	}
	return nil
}

func definition(t *mcp.Tool) Tool {
	def := Tool{Name: t.Name, Title: t.Title, Description: t.Description}
	if t.InputSchema != nil {
		def.Schema, _ = json.Marshal(t.InputSchema) // what was decoded from JSON encodes
	}
	if a := t.Annotations; a != nil {
		def.Hints = Hints{ReadOnly: a.ReadOnlyHint, Destructive: a.DestructiveHint, Idempotent: a.IdempotentHint, OpenWorld: a.OpenWorldHint}
		if def.Title == "" {
			def.Title = a.Title
		}
	}
	return def
}

func (c *conn) learnResources(ctx context.Context, k *Known) error {
	list, _, err := pages(ctx, maxEntries, func(ctx context.Context, cursor string) ([]*mcp.Resource, string, error) {
		res, err := c.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Resources, res.NextCursor, nil
	})
	if err != nil {
		return err
	}
	for _, r := range list {
		if r != nil && r.URI != "" && len(r.URI) <= maxText {
			k.Resources = append(k.Resources, Resource{
				URI: r.URI, Name: clean(r.Name, maxName), Title: clean(r.Title, maxName), Description: clean(r.Description, 1000), MIME: clean(r.MIMEType, 100),
			})
		}
	}
	templates, _, err := pages(ctx, maxEntries, func(ctx context.Context, cursor string) ([]*mcp.ResourceTemplate, string, error) {
		res, err := c.session.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.ResourceTemplates, res.NextCursor, nil
	})
	if err != nil {
		return nil // servers without templates may not know the request
	}
	for _, t := range templates {
		if t != nil && t.URITemplate != "" && len(t.URITemplate) <= maxText {
			k.Templates = append(k.Templates, Template{
				URI: t.URITemplate, Name: clean(t.Name, maxName), Description: clean(t.Description, 1000), MIME: clean(t.MIMEType, 100),
			})
		}
	}
	return nil
}

func (c *conn) learnPrompts(ctx context.Context, k *Known) error {
	list, _, err := pages(ctx, maxEntries, func(ctx context.Context, cursor string) ([]*mcp.Prompt, string, error) {
		res, err := c.session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Prompts, res.NextCursor, nil
	})
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, p := range list {
		if p == nil || p.Name == "" || len(p.Name) > maxName || names[p.Name] {
			continue
		}
		names[p.Name] = true
		out := Prompt{Name: p.Name, Title: clean(p.Title, maxName), Description: clean(p.Description, 1000)}
		for _, a := range p.Arguments {
			if a != nil && len(out.Arguments) < 50 {
				out.Arguments = append(out.Arguments, a.Name)
			}
		}
		k.Prompts = append(k.Prompts, out)
	}
	return nil
}

// learnAgain asks the server what it has now. However often it says that something
// changed, at most one request is running and one waiting.
func (c *conn) learnAgain() {
	if c.relearn.Swap(true) {
		return
	}
	c.server.set.wg.Go(func() {
		select {
		case <-c.opened: // a server may say so before it has answered anything
		case <-c.done:
			return
		}
		if pause(c.server.set.ctx, relearnAfter) != nil {
			return
		}
		c.relearn.Store(false)
		ctx, stop := context.WithTimeout(c.server.set.ctx, c.server.timeout())
		defer stop()
		known, err := c.learn(ctx)
		if err != nil {
			c.server.set.o.Log.Warn("an MCP server does not tell what it has now", "server", c.server.conf.Name, "err", err)
			return
		}
		c.server.learned(known)
	})
}
