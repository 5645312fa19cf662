package config

import (
	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/jsonc"
	"time"
)

// Config is the merged configuration. It is read-only. Lists that are objects
// in a file keep the order of their keys.
type Config struct {
	Schema   string       `conf:"$schema"`
	Theme    string       `conf:"theme"`
	Keybinds *jsonc.Value `conf:"keybinds,kind=object"` // as written
	TUI      *jsonc.Value `conf:"tui,kind=object"`      // as written
	Shell    string       `conf:"shell"`
	KeepEnv  []string     `conf:"keep_env"` // key variables that commands get all the same; "*" at the end stands for any rest
	// Sandbox says how commands are confined: "" as far as the system can, "required" not
	// below the highest level, "machine-network" without a network of their own, "off" not
	// at all. Repositories cannot say it.
	Sandbox string `conf:"sandbox,enum=on|required|machine-network|off"`
	// PluginSandbox says whether the plugins' process is confined; "": if a repository
	// brought one of them. Repositories cannot say it.
	PluginSandbox string `conf:"plugin_sandbox,enum=on|off"`

	Limits   Limits `conf:"limits"` // of commands; written as "limits" of "shell"
	LogLevel string `conf:"logLevel,enum=DEBUG|INFO|WARN|ERROR"`
	Server   Server `conf:"server"`
	Worker   Worker `conf:"worker"`
	Keys     Keys   `conf:"keys"`
	OIDC     OIDC   `conf:"oidc"`

	Retention Retention `conf:"retention"`

	Commands   []Command   `conf:"command"`
	Skills     Skills      `conf:"skills"`
	References []Reference `conf:"references"`
	Watcher    Watcher     `conf:"watcher"`
	Plugins    []Plugin    `conf:"plugin"`
	Hooks      Hooks       `conf:"hooks"`

	Snapshot   *bool      `conf:"snapshot"` // nil: on
	Share      string     `conf:"share,enum=manual|auto|disabled"`
	Autoupdate Autoupdate `conf:"autoupdate"`

	DisabledProviders []string   `conf:"disabled_providers"`
	EnabledProviders  []string   `conf:"enabled_providers"` // nil: all
	Model             string     `conf:"model"`             // "provider/model" or "provider/model#variant"
	SmallModel        string     `conf:"small_model"`
	Fallback          []string   `conf:"fallback"` // models that answer where another's provider is down
	DefaultAgent      string     `conf:"default_agent"`
	SubagentDepth     *int       `conf:"subagent_depth,min=0"` // nil: 2
	SubagentLimit     *int       `conf:"subagent_limit,min=1"` // of one session at once; nil: 4
	Username          string     `conf:"username"`
	Language          string     `conf:"language,enum=auto|en|zh-CN"` // that lathe speaks; see [OwnLanguage]
	Agents            []Agent    `conf:"agent"`
	Providers         []Provider `conf:"provider"`
	MCP               []MCP      `conf:"mcp"`
	MCPTools          string     `conf:"mcp_tools,enum=auto|direct|deferred"` // how MCP tools are offered
	Formatter         Formatters `conf:"formatter"`
	LSP               Servers    `conf:"lsp"`
	Languages         Languages  `conf:"languages"`
	Instructions      []string   `conf:"instructions"`
	Layout            string     `conf:"layout"`
	// Permission holds the rules of the key "permission" and the older "tools",
	// in written order, with home directories expanded. Those of an untrusted
	// repository are not among them; see Tighten.
	Permission Rules `conf:"permission"`
	// Approvals says how long an "always" holds: "instance" (the default), or
	// "project" to keep it for the project.
	Approvals  string          `conf:"approvals,enum=instance|project"`
	Tools      map[string]bool `conf:"tools"` // lowered into Permission, then empty
	Attachment Attachment      `conf:"attachment"`
	Enterprise Enterprise      `conf:"enterprise"`
	ToolOutput ToolOutput      `conf:"tool_output"`
	Compaction Compaction      `conf:"compaction"`
	Budget     Budget          `conf:"budget"`
	// Resume says whether a turn whose server is gone goes on elsewhere, when its prompt comes
	// again; default "off".
	Resume string `conf:"resume,enum=auto|off"`
	// Learn lets agents suggest lines for the project's instructions.
	Learn        bool         `conf:"learn"`
	Experimental Experimental `conf:"experimental"`

	// Flags are those of the environment; where they override a key, the key
	// above is already changed.
	Flags Flags `conf:"-"`
	// Directories are the config directories in order of application; agents,
	// commands, skills, tools, plugins and themes are looked for in them.
	Directories []Directory `conf:"-"`
	// Sources are the files that were read, in order of application.
	Sources []Source `conf:"-"`
	// Warnings are problems that did not stop the load.
	Warnings []Issue `conf:"-"`
	// Trusted says that the repository's configuration counts in full.
	Trusted bool `conf:"-"`
	// LeftOut lists what an untrusted repository set without effect.
	LeftOut []LeftOut `conf:"-"`
	// Env holds variables that credentials of organisations define; they count
	// like those of the environment when a provider's key is looked up.
	Env map[string]string `conf:"-"`

	repoRules  []lathe.Rule            // of an untrusted repository
	repoAgents map[string][]lathe.Rule // what it denies single agents

	placeheld []string // variables that {env:} stands for

	tree  *jsonc.Value
	trust map[*jsonc.Source]Trust
}

type (
	// Server holds the defaults of lathe serve.
	Server struct {
		Port       int      `conf:"port,min=0"`
		Hostname   string   `conf:"hostname"`
		MDNS       bool     `conf:"mdns"`
		MDNSDomain string   `conf:"mdnsDomain"`
		CORS       []string `conf:"cors"`
		Proxies    []string `conf:"proxies"` // addresses and networks of those that are believed
		// Directories are those that requests may name; "~/" is the home directory.
		Directories []string `conf:"directories"`
		// Store is the address of a PostgreSQL that several servers share. It counts in
		// the person's own configuration only.
		Store string `conf:"store"`
	}
	// OIDC says which OpenID Connect issuer names the people who call a server. It counts in the
	// person's own configuration only.
	OIDC struct {
		Issuer       string   `conf:"issuer"`
		ClientID     string   `conf:"clientId"`
		ClientSecret string   `conf:"clientSecret"`
		Audiences    []string `conf:"audiences"` // of tokens that count; none: the client id
		// URL is the server's address in a browser, to which the issuer sends it back.
		URL    string   `conf:"url"`
		Scopes []string `conf:"scopes"`
		Claims struct {
			Name string `conf:"name"` // names the person; "email" unless it is set
			Role string `conf:"role"` // has the groups that Roles names
		} `conf:"claims"`
		Roles map[string]string `conf:"roles"` // of groups
		// Create is the role that people get who come for the first time; empty: only
		// those come in who were added.
		Create string `conf:"create"`
	}
	// Keys say with what people's own provider keys are sealed. It counts in the person's own
	// configuration only.
	Keys struct {
		File string `conf:"file"` // with the secrets, the newest first; "~/" is the home directory
	}
	// Retention says when what is stored is removed; 0: never. It counts in the person's own
	// configuration only.
	Retention struct {
		Sessions Age `conf:"sessions"` // since the latest prompt
		Audit    Age `conf:"audit"`    // since it was recorded
	}
	// Age is a time of whole days, written like "180d", "26w" or "2y".
	Age time.Duration
	// Worker is what lathe worker offers. It counts in the person's own configuration only.
	Worker struct {
		Roots []string `conf:"roots"` // directories; "~/" is the home directory
		// Clones are git remotes that it clones and offers; CloneDir is where, "~/" the home
		// directory, and "" a directory of its own.
		Clones   []string       `conf:"clones"`
		CloneDir string         `conf:"cloneDir"`
		Turns    int            `conf:"turns,min=1"` // that run at once; 0: the default
		Limits   map[string]int `conf:"limits"`      // of turns, by directory, on all workers together
	}
	// Command is a slash command.
	Command struct {
		Name        string    `conf:",key"`
		Template    string    `conf:"template,required"`
		Description string    `conf:"description"`
		Agent       string    `conf:"agent"`
		Model       string    `conf:"model"`
		Variant     string    `conf:"variant"`
		Subtask     *bool     `conf:"subtask"`
		Pos         jsonc.Pos `conf:",pos"`
	}
	// Skills names extra skill folders and indexes.
	Skills struct {
		Paths []string `conf:"paths"`
		URLs  []string `conf:"urls"`
	}
	// Reference is an extra directory or repository to read.
	Reference struct {
		Name        string    `conf:",key"`
		Path        string    `conf:"path,scalar"`
		Repository  string    `conf:"repository"`
		Branch      string    `conf:"branch"`
		Description string    `conf:"description"`
		Hidden      bool      `conf:"hidden"`
		Pos         jsonc.Pos `conf:",pos"`
	}
	// Watcher names what the file watcher leaves out.
	Watcher struct {
		Ignore []string `conf:"ignore"`
	}
	// Plugin is one plugin. A relative path is relative to the file at Pos.
	Plugin struct {
		Spec    string
		Options map[string]any
		Pos     jsonc.Pos
	}
	// Hooks are programs that take part in what happens, in the order they are called.
	Hooks []Hook
	// Hook is a program that a hook runs. A path in Command that began with "./" or "../"
	// is absolute.
	Hook struct {
		Name    string // "tool.execute.before" …
		Match   string // patterns with "|" between them; empty: always
		Command []string
		Timeout float64 // seconds; 0: the default
		Pos     jsonc.Pos
	}
	// Agent is the configuration of an agent, built in or new. Nil and empty
	// fields leave what is built in.
	Agent struct {
		Key         string         `conf:",key"`
		Name        string         `conf:"name"` // shown instead of Key
		Description string         `conf:"description"`
		Mode        string         `conf:"mode,enum=primary|subagent|all"`
		Prompt      string         `conf:"prompt"`
		Model       string         `conf:"model"`
		Variant     string         `conf:"variant"`
		Temperature *float64       `conf:"temperature"`
		TopP        *float64       `conf:"top_p"`
		Disable     bool           `conf:"disable"`
		Hidden      *bool          `conf:"hidden"`
		Color       string         `conf:"color"`
		Steps       int            `conf:"steps,min=1"`
		Permission  Rules          `conf:"permission"`
		Options     map[string]any `conf:"options,rest"`
		Pos         jsonc.Pos      `conf:",pos"`
	}
	// Provider is the configuration of a provider.
	Provider struct {
		ID        string          `conf:",key"`
		API       string          `conf:"api"`
		Name      string          `conf:"name"`
		Env       []string        `conf:"env"`
		AltID     string          `conf:"id"`
		NPM       string          `conf:"npm"`
		Whitelist []string        `conf:"whitelist"` // nil: all
		Blacklist []string        `conf:"blacklist"`
		Options   ProviderOptions `conf:"options"`
		Models    []Model         `conf:"models"`
		Pos       jsonc.Pos       `conf:",pos"`
	}
	// ProviderOptions are the options that lathe acts on; Extra are all others.
	ProviderOptions struct {
		APIKey        string            `conf:"apiKey"`
		BaseURL       string            `conf:"baseURL"`
		EnterpriseURL string            `conf:"enterpriseUrl"`
		SetCacheKey   *bool             `conf:"setCacheKey"`
		Timeout       Millis            `conf:"timeout"`
		HeaderTimeout Millis            `conf:"headerTimeout"`
		ChunkTimeout  Millis            `conf:"chunkTimeout"`
		Headers       map[string]string `conf:"headers"`
		Extra         map[string]any    `conf:",rest"`
	}
	// Model overrides what the catalogue says of a model, or adds one. Nil and
	// empty fields override nothing.
	Model struct {
		Key          string            `conf:",key"`
		ID           string            `conf:"id"` // the name that the API is sent
		Name         string            `conf:"name"`
		Family       string            `conf:"family"`
		ReleaseDate  string            `conf:"release_date"`
		Attachment   *bool             `conf:"attachment"`
		Reasoning    *bool             `conf:"reasoning"`
		Temperature  *bool             `conf:"temperature"`
		ToolCall     *bool             `conf:"tool_call"`
		Interleaved  *Interleaved      `conf:"interleaved"`
		Cost         *Cost             `conf:"cost"`
		Limit        *Limit            `conf:"limit"`
		Modalities   *Modalities       `conf:"modalities"`
		Experimental *jsonc.Value      `conf:"experimental"`
		Status       string            `conf:"status,enum=alpha|beta|deprecated|active"`
		Options      map[string]any    `conf:"options"`
		Headers      map[string]string `conf:"headers"`
		Provider     struct {
			NPM string `conf:"npm"`
			API string `conf:"api"`
		} `conf:"provider"`
		Variants []ModelVariant `conf:"variants"`
	}
	// ModelVariant is a named set of provider options.
	ModelVariant struct {
		Name     string         `conf:",key"`
		Disabled bool           `conf:"disabled"`
		Options  map[string]any `conf:",rest"`
	}
	// Limit is measured in tokens.
	Limit struct {
		Context int `conf:"context,min=0"`
		Input   int `conf:"input,min=0"`
		Output  int `conf:"output,min=0"`
	}
	// Modalities are kinds of content.
	Modalities struct {
		Input  []string `conf:"input"`
		Output []string `conf:"output"`
	}
	// Interleaved is the field that carries reasoning, "true", or empty.
	Interleaved string
	// Cost is a price list.
	Cost struct{ catalog.Cost }
	// Millis is a time in milliseconds; negative for false, which means no limit.
	Millis int64
	// MCP is an MCP server. An empty Type means that only Enabled is set.
	MCP struct {
		Name        string            `conf:",key"`
		Type        string            `conf:"type,enum=local|remote"`
		Command     []string          `conf:"command"`
		Environment map[string]string `conf:"environment"`
		Cwd         string            `conf:"cwd"`
		URL         string            `conf:"url"`
		Headers     map[string]string `conf:"headers"`
		OAuth       OAuth             `conf:"oauth"`
		Enabled     *bool             `conf:"enabled"`       // nil: yes
		Timeout     int               `conf:"timeout,min=1"` // ms; 0: default
		LazyStart   *bool             `conf:"lazy"`          // nil: yes
		Sandbox     Confining         `conf:"sandbox"`
		Network     Reach             `conf:"network"`
		Pos         jsonc.Pos         `conf:",pos"`
	}
	// Reach says which hosts a local server's program reaches: with Machine any, otherwise
	// those that rules allow, and Hosts, which are written like patterns of rules.
	Reach struct {
		Set, Machine bool
		Hosts        []string
	}
	// OAuth is how to authorise with a remote server; Off switches it off.
	OAuth struct {
		Off          bool   `conf:"-"`
		ClientID     string `conf:"clientId"`
		ClientSecret string `conf:"clientSecret"`
		Scope        string `conf:"scope"`
		CallbackPort int    `conf:"callbackPort,min=1"`
		RedirectURI  string `conf:"redirectUri"`
	}
	// Formatters says whether files are formatted. Set is false when nothing was said.
	Formatters struct {
		Set, On bool
		Entries []Formatter
	}
	// Formatter adds or changes a formatter.
	Formatter struct {
		Name        string            `conf:",key"`
		Disabled    bool              `conf:"disabled"`
		Command     []string          `conf:"command"`
		Environment map[string]string `conf:"environment"`
		Extensions  []string          `conf:"extensions"`
		Sandbox     Confining         `conf:"sandbox"`
	}
	// Servers says whether language servers run. Set is false when nothing was said.
	Servers struct {
		Set, On bool
		Entries []LanguageServer
	}
	// LanguageServer adds or changes a language server.
	LanguageServer struct {
		Name           string            `conf:",key"`
		Disabled       bool              `conf:"disabled"`
		Command        []string          `conf:"command"`
		Extensions     []string          `conf:"extensions"`
		Env            map[string]string `conf:"env"`
		Initialization map[string]any    `conf:"initialization"`
		Sandbox        Confining         `conf:"sandbox"`
	}
	// Languages says what language servers and formatters may cost, and what models are
	// told; 0: the default. Times are in milliseconds, Memory is in MiB.
	Languages struct {
		Diagnostics string `conf:"diagnostics,enum=new|all"` // which diagnostics of a changed file; default new
		Wait        int    `conf:"wait,min=1"`               // for what servers say of a change
		FormatWait  int    `conf:"format_wait,min=1"`        // for the formatters of a change
		Idle        int    `conf:"idle,min=1"`               // until an unused server is stopped
		Memory      int    `conf:"memory,min=1"`             // of all servers together
		Tool        *bool  `conf:"tool"`                     // offer the lsp tool; nil: as its flag says
	}
	// Limits bound what commands take of the machine; 0 is the default.
	Limits struct {
		Processes int `conf:"processes,min=1"` // of all commands of a directory, threads counted
		Memory    int `conf:"memory,min=1"`    // of each process, in MB
		Files     int `conf:"files,min=1"`     // that each process has open
	}
	// Attachment bounds attached files.
	Attachment struct {
		Image struct {
			AutoResize     *bool `conf:"auto_resize"`
			MaxWidth       int   `conf:"max_width,min=1"`
			MaxHeight      int   `conf:"max_height,min=1"`
			MaxBase64Bytes int   `conf:"max_base64_bytes,min=1"`
		} `conf:"image"`
	}
	// Enterprise names the host that sessions are shared on.
	Enterprise struct {
		URL string `conf:"url"`
	}
	// ToolOutput bounds what a tool's result shows the model; 0: the default.
	ToolOutput struct {
		MaxLines int `conf:"max_lines,min=1"`
		MaxBytes int `conf:"max_bytes,min=1"`
	}
	// Compaction says how the model's window is kept from filling up. Nil Auto and Prune mean on.
	Compaction struct {
		Auto                 *bool  `conf:"auto"`
		Prune                *bool  `conf:"prune"`
		TailTurns            *int   `conf:"tail_turns,min=0"`
		PreserveRecentTokens *int   `conf:"preserve_recent_tokens,min=0"`
		Reserved             *int   `conf:"reserved,min=0"`
		Prompt               string `conf:"prompt"` // replaces the built-in request for a summary
	}
	// Budget bounds what may be used. What is zero is not bounded.
	Budget struct {
		Session Allowance `conf:"session"` // its subagents included
		Day     Allowance `conf:"day"`     // of every session, from midnight on
		Project Allowance `conf:"project"` // of every session there ever was
	}
	// Allowance is what may be used.
	Allowance struct {
		Cost   float64 `conf:"cost"` // in dollars
		Tokens int64   `conf:"tokens,min=0"`
		Steps  int64   `conf:"steps,min=0"`
		Time   Lasting `conf:"time"` // that models and tools were at work
	}
	// Lasting is a length of time, written like "90s", "30m" or "8h".
	Lasting time.Duration
	// Experimental holds settings that may change.
	Experimental struct {
		DisablePasteSummary bool         `conf:"disable_paste_summary"`
		BatchTool           bool         `conf:"batch_tool"`
		OpenTelemetry       bool         `conf:"openTelemetry"`
		PrimaryTools        []string     `conf:"primary_tools"`
		ContinueLoopOnDeny  bool         `conf:"continue_loop_on_deny"`
		MCPTimeout          int          `conf:"mcp_timeout,min=1"` // ms; 0: default
		Policies            *jsonc.Value `conf:"policies,kind=array"`
		Hook                *jsonc.Value `conf:"hook,kind=object"`
		ChatMaxRetries      int          `conf:"chatMaxRetries,min=0"`
	}
	// Autoupdate is "", "true", "false" or "notify".
	Autoupdate string
	// Rules are permission rules; the last one that matches wins.
	Rules []lathe.Rule
)

// Trust says who is responsible for a source.
type Trust string

// Classes of trust.
const (
	Managed     Trust = "managed"     // the administrator or the organisation
	User        Trust = "user"        // the person's own files
	Environment Trust = "environment" // variables, and files that they name
	Repository  Trust = "repository"  // files below the worktree
)

// Source is a file, a variable or an address that configuration was read from.
type Source struct {
	Name  string
	Trust Trust
}

// Directory is a config directory.
type Directory struct {
	Path  string
	Trust Trust
}

// LeftOut is something that an untrusted repository set without effect.
type LeftOut struct {
	Path   string // of keys, separated by dots
	Pos    jsonc.Pos
	Reason string
}

// Origin is where a value comes from.
type Origin struct {
	Path  string // of keys, separated by dots
	Pos   jsonc.Pos
	Trust Trust
}

// SnapshotOn reports whether snapshots are taken.
func (c *Config) SnapshotOn() bool { return c.Snapshot == nil || *c.Snapshot }

// CompactAuto reports whether a full window is compacted automatically.
func (c *Config) CompactAuto() bool { return c.Compaction.Auto == nil || *c.Compaction.Auto }

// PruneOn reports whether old tool output is pruned.
func (c *Config) PruneOn() bool { return c.Compaction.Prune == nil || *c.Compaction.Prune }

// Agent returns the configuration of an agent by its key; nil when there is none.
func (c *Config) Agent(key string) *Agent {
	for i := range c.Agents {
		if c.Agents[i].Key == key {
			return &c.Agents[i]
		}
	}
	return nil
}

// Command returns a command by name; nil when there is none.
func (c *Config) Command(name string) *Command {
	for i := range c.Commands {
		if c.Commands[i].Name == name {
			return &c.Commands[i]
		}
	}
	return nil
}

// Provider returns the configuration of a provider; nil when there is none.
func (c *Config) Provider(id string) *Provider {
	for i := range c.Providers {
		if c.Providers[i].ID == id {
			return &c.Providers[i]
		}
	}
	return nil
}
