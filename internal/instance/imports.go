package instance

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/mcp"
	"lathe/internal/mcpjson"
)

// importAnswers keeps what the person said of other programs' files of servers.
func importAnswers(p config.Paths) *mcpjson.Answers {
	return mcpjson.OpenAnswers(filepath.Join(p.Data, "mcp-imports.json"))
}

// Imports are the files of other programs that name MCP servers for a directory.
type Imports struct {
	*place
	getenv func(string) string
}

func (i *Imports) where() mcpjson.Where {
	return mcpjson.Where{
		Dir: i.Root.Dir, Top: i.Root.TopLevel, Home: i.Paths.Home, Getenv: i.getenv, NoProject: i.Config.Flags.DisableProjectConfig,
	}
}

// servers returns the servers of the configuration, then those of the files that the
// person agreed to. The configuration decides about a name that both have.
func (i *Imports) servers() []config.MCP {
	out := slices.Clone(i.Config.MCP)
	agreed, err := importAnswers(i.Paths).Agreed(i.where())
	if err != nil {
		i.log.Warn("MCP servers of other programs' files are not used", "err", err)
	}
	for _, c := range agreed {
		n := slices.IndexFunc(out, func(own config.MCP) bool { return own.Name == c.Name })
		switch {
		case n < 0:
			out = append(out, c)
		case out[n].Type == "": // it only says whether the server is on
			c.Enabled = out[n].Enabled
			out[n] = c
		}
	}
	return out
}

// List tells of the files, and of what the person said of each.
func (i *Imports) List() ([]api.MCPImport, error) {
	answers := importAnswers(i.Paths)
	out := []api.MCPImport{}
	for _, s := range mcpjson.Sources(i.where()) {
		state, err := answers.State(s)
		if err != nil {
			return nil, err
		}
		one := api.MCPImport{ID: s.ID(), Path: s.Path, Scope: string(s.Scope), Dir: s.Dir, State: string(state), Digest: s.Digest, Servers: []api.MCPImported{}, Skipped: s.Skipped}
		for _, c := range s.Servers {
			one.Servers = append(one.Servers, i.imported(c))
		}
		out = append(out, one)
	}
	return out, nil
}

// imported describes a server as it is written, without the values of its environment
// and headers.
func (i *Imports) imported(c mcpjson.Server) api.MCPImported {
	own := slices.ContainsFunc(i.Config.MCP, func(o config.MCP) bool { return o.Name == c.Name && o.Type != "" })
	return api.MCPImported{
		Name: c.Name, Remote: c.Type == "remote", Where: mcp.Where(c.Shown), Own: own,
		Given: slices.Concat(slices.Sorted(maps.Keys(c.Environment)), slices.Sorted(maps.Keys(c.Headers))),
	}
}

// Answer keeps whether the servers of a file are to be used, if it still says what its
// digest stands for. It takes effect in the next instance of the directory.
func (i *Imports) Answer(ctx context.Context, in api.MCPImportAnswer) error {
	sources := mcpjson.Sources(i.where())
	n := slices.IndexFunc(sources, func(s mcpjson.Source) bool { return s.ID() == in.ID })
	switch {
	case n < 0:
		return lathe.Errorf(lathe.CodeNotFound, "list the files with: lathe mcp import", "no such file names MCP servers any more")
	case sources[n].Digest != in.Digest:
		return lathe.Errorf(lathe.CodeInvalid, "look at it again, then decide", "%s has changed since it was shown", sources[n].Path)
	case in.Use && len(sources[n].Servers) == 0:
		return lathe.Errorf(lathe.CodeInvalid, "correct the file", "%s names no server that can be used", sources[n].Path)
	}
	if err := config.Ensure(i.Paths.Data); err != nil {
		return err
	}
	return importAnswers(i.Paths).Answer(ctx, sources[n], in.Use)
}
