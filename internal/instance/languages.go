package instance

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/builtin"
	"lathe/internal/config"
	"lathe/internal/format"
	"lathe/internal/lsp"
	"lathe/internal/shell"
)

// Languages are the language servers and formatters of a directory. It is a part, which
// starts when the first file is changed. Either is nil if switched off.
type Languages struct {
	Servers    *lsp.Servers
	Formatters *format.Formatters
	// OffersTool reports whether models are offered the lsp tool: where that is wished,
	// and a server is there that could serve the project. It is looked up once.
	OffersTool func() bool
	parts      *Parts
	ways       *serverWays
}

const languagesPart = "languages"

// LanguageDir is where lathe puts the language servers that it installs.
func LanguageDir(paths config.Paths) string { return filepath.Join(paths.Data, "languages") }

// newLanguages makes the part. It looks for nothing and starts nothing.
func (i *Instance) newLanguages(o Options, env []string, publish func(lathe.Event)) *Languages {
	l := &Languages{parts: i.Parts, ways: i.ways, OffersTool: func() bool { return false }}
	if o.Languages == nil || o.Runner == nil {
		return l
	}
	conf := i.Config
	notice := func(title string) func(string) {
		return func(text string) { publish(lathe.Notice{Title: title, Text: text}) }
	}
	place := i.LanguagePlace(env)
	if conf.LSP.Set && conf.LSP.On {
		l.Servers = lsp.New(lsp.Options{
			Place: place, Pool: o.Languages, Open: i.ways.Open, Reach: i.Confinement.reach, Repository: i.Root.CommonDir,
			Specs: lsp.Configure(serverSettings(conf), conf.Flags.ExperimentalLSPTy),
			Wait:  millis(conf.Languages.Wait), Idle: millis(conf.Languages.Idle), Memory: int64(conf.Languages.Memory) << 20,
			Everything: conf.Languages.Diagnostics == "all",
			Notice:     notice("Language servers"),
			Changed:    func() { publish(lathe.LSPUpdated{}) },
			Diagnosed:  func(server, path string) { publish(lathe.LSPDiagnosed{Server: server, Path: path}) },
		})
	}
	if conf.Formatter.Set && conf.Formatter.On {
		l.Formatters = format.New(format.Options{
			Place: format.Place{
				Dir: place.Dir, Worktree: place.Worktree, Env: env, Own: lsp.ProgramDirs(place), Trusted: place.Trusted, Oxfmt: conf.Flags.ExperimentalOxfmt,
			},
			Specs: formatterSpecs(conf), Open: i.ways.Open, Wait: millis(conf.Languages.FormatWait), Notice: notice("Formatters"), Now: o.Now,
		})
	}
	wished := conf.Flags.ExperimentalLSPTool
	if conf.Languages.Tool != nil {
		wished = *conf.Languages.Tool
	}
	if wished {
		l.OffersTool = sync.OnceValue(l.Servers.Could)
	}
	if l.Servers != nil {
		_ = i.Parts.Add(l) // its name is its own
	}
	return l
}

// LanguagePlace is where language servers of the directory are looked for.
func (i *Instance) LanguagePlace(env []string) lsp.Place {
	top := i.Root.TopLevel
	if i.Root.VCS == "" {
		top = i.Root.Dir
	}
	return lsp.Place{
		Dir: i.Root.Dir, Worktree: top, Env: env, Home: i.Paths.Home, Own: LanguageDir(i.Paths), Trusted: i.Trust.Given,
	}
}

func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func serverSettings(conf *config.Config) (out []lsp.Setting) {
	for _, e := range conf.LSP.Entries {
		out = append(out, lsp.Setting{
			ID: e.Name, Disabled: e.Disabled, Command: e.Command, Extensions: e.Extensions, Env: e.Env, Initial: e.Initialization,
			Unconfined: conf.UnconfinedServer(e.Name),
		})
	}
	return out
}

// formatterSpecs are those of the table as a configuration changes them, and those that
// it adds.
func formatterSpecs(conf *config.Config) []format.Spec {
	specs := format.BuiltIn()
	for _, e := range conf.Formatter.Entries {
		i := slices.IndexFunc(specs, func(s format.Spec) bool { return s.Name == e.Name })
		switch {
		case i >= 0 && (e.Disabled || len(e.Command) > 0):
			if specs = slices.Delete(specs, i, i+1); e.Disabled {
				continue
			}
		case i >= 0:
			specs[i] = specs[i].With(e.Extensions, e.Environment)
			specs[i].Unconfined = conf.UnconfinedFormatter(e.Name)
			continue
		}
		if len(e.Command) > 0 && !e.Disabled {
			own := format.Custom(e.Name, e.Command, slices.Clone(e.Extensions), e.Environment)
			own.Unconfined = conf.UnconfinedFormatter(e.Name)
			specs = append(specs, own)
		}
	}
	return specs
}

// Name is "languages".
func (*Languages) Name() string { return languagesPart }

// Start does nothing: each server starts with the first file that it serves.
func (*Languages) Start(context.Context, func()) error { return nil }

// Status is empty; [lsp.Servers.Status] tells of each server.
func (*Languages) Status() string { return "" }

// Close ends the servers that no other directory uses.
func (l *Languages) Close() error {
	l.Servers.Close()
	return nil
}

// format returns what formats files that tools wrote, or nil.
func (l *Languages) format() func(context.Context, []string) {
	if l.Formatters == nil {
		return nil
	}
	return l.Formatters.Format
}

// servers returns the language servers as tools use them, or nil.
func (l *Languages) servers() builtin.Languages {
	if l.Servers == nil {
		return nil
	}
	return changing{l}
}

// code returns what answers questions about code, or nil.
func (l *Languages) code() builtin.Code {
	if l.Servers == nil {
		return nil
	}
	return asked{l}
}

// asked starts the part with the first question.
type asked struct{ l *Languages }

func (a asked) servers() (*lsp.Servers, error) {
	return a.l.Servers, a.l.parts.Start(context.Background(), languagesPart)
}

// Ask asks the servers of a file.
func (a asked) Ask(ctx context.Context, op lsp.Operation, f lsp.File, at lsp.Position, query string) ([]json.RawMessage, error) {
	s, err := a.servers()
	if err != nil {
		return nil, err
	}
	return s.Ask(ctx, op, f, at, query)
}

// Rename returns the edits of a rename.
func (a asked) Rename(ctx context.Context, f lsp.File, at lsp.Position, name string) ([]lsp.Edit, error) {
	s, err := a.servers()
	if err != nil {
		return nil, err
	}
	return s.Rename(ctx, f, at, name)
}

// Actions lists what servers offer for a range.
func (a asked) Actions(ctx context.Context, f lsp.File, at lsp.Range, kind string) ([]lsp.Action, error) {
	s, err := a.servers()
	if err != nil {
		return nil, err
	}
	return s.Actions(ctx, f, at, kind)
}

// Configured tells of the servers that were started how they are doing, and of the
// formatters which the directory uses.
func (l *Languages) Configured(dir string) (servers, formatters []api.Configured) {
	servers, formatters = []api.Configured{}, []api.Configured{}
	for _, s := range l.Servers.Status() {
		c := api.Configured{Name: s.ID, State: s.Told()}
		if root, err := filepath.Rel(dir, s.Root); err == nil && root != "." {
			c.Kind = "in " + root
		}
		servers = append(servers, c)
	}
	if l.Servers != nil && len(servers) == 0 {
		servers = append(servers, api.Configured{Name: "switched on", State: "each starts with the first file that it serves"})
	}
	for _, f := range l.Formatters.Status() {
		if f.Enabled {
			formatters = append(formatters, api.Configured{Name: f.Name, Kind: strings.Join(f.Extensions, " "), State: "used"})
		}
	}
	if words := l.ways.words(shell.KindLSP, ""); words != "" {
		servers = append(servers, api.Configured{Name: "network", State: words})
	}
	if words := l.ways.words(shell.KindFormatter, ""); words != "" {
		formatters = append(formatters, api.Configured{Name: "network", State: words})
	}
	return servers, formatters
}

// SymbolAt returns the range of the symbol that begins in a line.
func (l *Languages) SymbolAt(ctx context.Context, f lsp.File, line int) (lsp.Range, bool) {
	if l.Servers == nil || l.parts.Start(ctx, languagesPart) != nil {
		return lsp.Range{}, false
	}
	return l.Servers.SymbolAt(ctx, f, line)
}

// News tells what servers found late, for the model; see [builtin.LateReport].
func (l *Languages) News() lsp.Report { return l.Servers.News() }

// changing starts the part on its first use.
type changing struct{ *Languages }

// Before tells the servers about files that are going to be changed.
func (l changing) Before(files ...lsp.File) builtin.Change {
	if l.parts.Start(context.Background(), languagesPart) != nil { // the instance is closed
		return (*lsp.Change)(nil)
	}
	return l.Servers.Before(files...)
}

// Read tells the running servers about a file that was read.
func (l changing) Read(f lsp.File) { l.Servers.Read(f) }
