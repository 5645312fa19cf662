package instance

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/mcp"
	"lathe/internal/say"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// serverEnv are the variables that every local server gets: what a program needs to
// find itself and its files, its language and the network. Any others have to come
// from the configuration.
var serverEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP", "XDG_*", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"NVM_*", "VOLTA_HOME", "FNM_*", "ASDF_*", "MISE_*", "PYENV_ROOT", "UV_CACHE_DIR", "UV_PYTHON*", "npm_config_cache", "npm_config_registry", "npm_config_prefix", "COREPACK_HOME",
	"GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "DENO_DIR", "BUN_INSTALL", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT",
	"SYSTEMROOT", "SystemRoot", "SYSTEMDRIVE", "SystemDrive", "COMSPEC", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "ProgramFiles", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "WINDIR", "windir",
}

// serverPrograms opens the programs of local MCP servers, and says how they are confined.
type serverPrograms struct {
	config      *config.Config
	confinement *Confinement
	ways        *serverWays
}

// environment returns what the programs start with: those variables of the person's, and
// those named in keep_env, without the keys of providers.
func (p serverPrograms) environment(commands []string) []string {
	return slices.DeleteFunc(slices.Clone(commands), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !shell.Named(name, serverEnv) && !shell.Named(name, p.config.KeepEnv)
	})
}

// unconfined reports whether the program of a server may use the whole machine.
func (p serverPrograms) unconfined(server string) bool {
	return p.confinement.Off() || p.config.Unconfined(server)
}

// launch opens the program of a server: with the whole machine, or with hosts by rule, if
// the person says so.
func (p serverPrograms) launch(server string, program shell.Program) (*shell.Service, error) {
	reach := p.config.ServerNetwork(server)
	switch {
	case p.unconfined(server):
		program.Kind = shell.KindFreeMCP
	case reach.Set && !reach.Machine:
		program.Kind = shell.KindGuardedMCP
	}
	return p.ways.open(program, server, reach.Hosts)
}

// describe says in words how the servers are doing.
func (p serverPrograms) describe(all []mcp.Status) []api.Configured {
	out := []api.Configured{}
	for _, s := range all {
		kind := "local"
		if s.Remote {
			kind = "remote"
		}
		out = append(out, api.Configured{Name: s.Name, Kind: kind, State: join(serverWords(s), p.ways.words(shell.KindGuardedMCP, s.Name))})
	}
	return out
}

// connectServers makes the MCP servers. They cost nothing until they are needed.
func (i *Instance) connectServers(o Options) error {
	i.Imports = &Imports{i.place, o.Getenv}
	i.programs = serverPrograms{i.Config, i.Confinement, i.ways}
	i.MCP = mcp.New(mcp.Options{
		Dir: i.Root.Dir, Servers: i.Imports.servers(), Mode: cmp.Or(i.Config.MCPTools, "auto"),
		Timeout: time.Duration(i.Config.Experimental.MCPTimeout) * time.Millisecond,
		Cache:   filepath.Join(i.Paths.Cache, "mcp"), Env: i.programs.environment(i.Shell.Env), Open: i.Shell.Runner.Open, HTTP: o.HTTP, Log: o.Log, Now: o.Now,
		Logins:  &mcp.Logins{Path: filepath.Join(i.Paths.Data, "mcp-auth.json"), HTTP: o.HTTP, Now: o.Now},
		Publish: func(ev lathe.Event) { o.Publish(i.Root.Dir, ev) }, Reserved: i.Tools.names, Unconfined: i.programs.unconfined, Launch: i.programs.launch, Host: servedBy{i},
	})
	i.Commands.servers = i.MCP
	return i.Parts.Add(i.MCP)
}

// Servers returns the servers of the directory. It starts those that should not wait
// for their first call, without waiting for them.
func (i *Instance) Servers(ctx context.Context) *mcp.Servers {
	if i.MCP.Any() {
		_ = i.Parts.Start(ctx, i.MCP.Name()) // it fails only when the instance is closed
	}
	return i.MCP
}

// names returns the names of all tools.
func (t *Tools) names() []string {
	out := []string{"apply_patch"}
	for _, one := range t.Tools() {
		out = append(out, one.Spec().Name)
	}
	return out
}

// servedBy lets servers ask what only sessions can do.
type servedBy struct{ i *Instance }

// Questions puts a server's questions to the person.
func (h servedBy) Questions(ctx context.Context, call *tool.Call, list []lathe.Question) ([][]string, error) {
	return h.i.sessions.Ask(ctx, h.i, call, list)
}

// Sample has the model of a session answer a server.
func (h servedBy) Sample(ctx context.Context, call *tool.Call, in mcp.Sampling) (mcp.Sampled, error) {
	return h.i.sessions.Sample(ctx, h.i, call, in)
}

// join puts a comma between two texts that are there.
func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}

// serverWords says how a server is doing.
func serverWords(s mcp.Status) string {
	what := ""
	if s.Known != nil {
		what = ", " + say.Plural(len(s.Known.Tools), "tool")
	}
	switch s.State {
	case mcp.Disabled:
		return "switched off"
	case mcp.Waiting:
		return "starts when it is needed" + what
	case mcp.Starting:
		return "starts"
	case mcp.Connected:
		return "connected" + what
	case mcp.NeedsAuth, mcp.NeedsRegistration:
		return s.Why
	}
	return "failed: " + s.Why
}
