package config

import (
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Flags are the switches that the environment sets, one field for each. They are read from
// OPENCODE_<NAME> and LATHE_<NAME>, of which the latter wins when it is set.
// The name is the field's, in capitals with underscores, unless a tag gives it.
// A boolean is true for "true" and "1".
type Flags struct {
	Config, ConfigContent, ConfigDir string
	DisableProjectConfig             bool
	Permission                       string

	AutoShare, DisableShare               bool
	DisableAutoupdate, AlwaysNotifyUpdate bool
	DisablePrune, DisableAutocompact      bool
	DisableTerminalTitle, DisableMouse    bool
	DisableDefaultPlugins, Pure           bool
	DisableLSPDownload                    bool `env:"DISABLE_LSP_DOWNLOAD"`
	DisableModelsFetch                    bool
	DisableLocalModels                    bool   // model servers on this machine are not looked for
	ModelsURL                             string `env:"MODELS_URL"`
	ModelsPath                            string
	EnableExperimentalModels              bool
	DisableClaudeCode                     bool
	DisableClaudeCodePrompt               bool
	DisableClaudeCodeSkills               bool
	DisableExternalSkills                 bool
	Client                                string // default "cli"
	ServerPassword, ServerUsername        string // default user "opencode"
	FakeVCS                               string `env:"FAKE_VCS"`
	GitBashPath                           string
	DisableFiletimeCheck                  bool
	EnableExa, EnableParallel             bool
	WebsearchProvider                     string
	EnableQuestionTool                    bool
	AuthContent                           string
	DB                                    string
	DisableChannelDB                      bool   `env:"DISABLE_CHANNEL_DB"`
	TUIConfig                             string `env:"TUI_CONFIG"`
	PluginMetaFile                        string
	WorkspaceID                           string `env:"WORKSPACE_ID"`
	LogLevel                              string
	PrintLogs                             bool
	DisableEmbeddedWebUI                  bool `env:"DISABLE_EMBEDDED_WEB_UI"`
	DisableFFF                            bool `env:"DISABLE_FFF"`
	TestManagedConfigDir                  string
	AutoHeapSnapshot                      bool
	ConsoleToken                          string
	APIKey                                string `env:"API_KEY"`

	// Experimental turns a group of features on; each of them can be switched
	// off again by an explicit "false" or "0".
	Experimental                     bool
	ExperimentalFilewatcher          bool
	ExperimentalDisableFilewatcher   bool
	ExperimentalIconDiscovery        bool `group:"1"`
	ExperimentalOxfmt                bool `group:"1"`
	ExperimentalLSPTy                bool `env:"EXPERIMENTAL_LSP_TY"`
	ExperimentalLSPTool              bool `env:"EXPERIMENTAL_LSP_TOOL" group:"1"`
	ExperimentalPlanMode             bool `group:"1"`
	ExperimentalExa                  bool `group:"1"`
	ExperimentalReferences           bool `group:"1"`
	ExperimentalBackgroundSubagents  bool `group:"1"`
	ExperimentalCodeMode             bool `group:"1"`
	ExperimentalEventSystem          bool `group:"1"`
	ExperimentalWorkspaces           bool `group:"1"`
	ExperimentalNativeLLM            bool `env:"EXPERIMENTAL_NATIVE_LLM"`
	ExperimentalWebsockets           bool
	ExperimentalParallel             bool
	ExperimentalDisableCopyOnSelect  bool
	ExperimentalBashDefaultTimeoutMS int `env:"EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS"`
	ExperimentalBashMaxOutputLength  int
	ExperimentalOutputTokenMax       int

	Trust bool // LATHE_TRUST: the repository is trusted for this process
}

// BashDefaultTimeout returns the default time limit of a shell command, or zero.
func (f Flags) BashDefaultTimeout() time.Duration {
	return time.Duration(f.ExperimentalBashDefaultTimeoutMS) * time.Millisecond
}

// ReadFlags reads the flags from the environment. A number that is not a
// positive integer counts as unset.
func ReadFlags(getenv func(string) string) Flags {
	f := Flags{Client: "cli", ServerUsername: "opencode"}
	v := reflect.ValueOf(&f).Elem()
	group := truth(lookup(getenv, "EXPERIMENTAL"))
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("env")
		if name == "" {
			name = constantCase(field.Name)
		}
		setFlag(v.Field(i), lookup(getenv, name), group && field.Tag.Get("group") != "")
	}
	f.Trust = truth(getenv("LATHE_TRUST")) // OpenCode's environment grants no trust
	return f
}

func setFlag(dst reflect.Value, val string, fallback bool) {
	switch dst.Kind() {
	case reflect.Bool:
		dst.SetBool(truth(val) || val == "" && fallback)
	case reflect.String:
		if val != "" {
			dst.SetString(val)
		}
	case reflect.Int:
		if n, err := strconv.Atoi(val); err == nil && n > 0 {
			dst.SetInt(int64(n))
		}
	}
}

func lookup(getenv func(string) string, name string) string {
	return firstOf(getenv("LATHE_"+name), getenv("OPENCODE_"+name))
}

func truth(s string) bool { return s == "1" || strings.EqualFold(s, "true") }

func constantCase(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(rune(s[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}
