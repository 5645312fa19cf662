package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/bus"
	"lathe/internal/search"
	"lathe/internal/session"
	"lathe/internal/sqlite"
	"lathe/internal/tui"
)

// tuiEngine shows the session service to the screen.
type tuiEngine struct {
	tuiAbilities
	app *app
	dir string

	mu    sync.Mutex
	files []string // of the directory, with "/" after directories
	read  time.Time
}

func newTUIEngine(a *app, dir string) *tuiEngine { return &tuiEngine{app: a, dir: dir} }

var (
	_ tui.Engine    = (*tuiEngine)(nil)
	_ tui.Reverter  = (*tuiEngine)(nil)
	_ tui.Compacter = (*tuiEngine)(nil)
	_ tui.Forker    = (*tuiEngine)(nil)
	_ tui.Connector = (*tuiEngine)(nil)
)

func (e *tuiEngine) List(ctx context.Context, search string) ([]lathe.Session, error) {
	return e.app.svc.List(ctx, sqlite.SessionFilter{Directory: e.dir, Roots: true, Active: true, Search: search})
}

func (e *tuiEngine) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.app.svc.Get(ctx, id)
}

func (e *tuiEngine) Create(ctx context.Context) (lathe.Session, error) {
	return e.app.svc.Create(ctx, session.Create{Directory: e.dir})
}

func (e *tuiEngine) Rename(ctx context.Context, id lathe.SessionID, title string) error {
	_, err := e.app.svc.Rename(ctx, id, title)
	return err
}

func (e *tuiEngine) Delete(ctx context.Context, id lathe.SessionID) error {
	return e.app.svc.Delete(ctx, id)
}

func (e *tuiEngine) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	list, err := e.app.svc.List(ctx, sqlite.SessionFilter{ParentID: id})
	slices.Reverse(list)
	return list, err
}

func (e *tuiEngine) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return e.app.svc.Todos(ctx, id)
}

func (e *tuiEngine) History(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	var out []lathe.Message
	for m, err := range e.app.store.Messages(ctx, id, sqlite.MessageFilter{Before: before, Limit: limit}) {
		if err != nil {
			return nil, fmt.Errorf("read messages of %s: %w", id, err)
		}
		out = append(out, m)
	}
	slices.Reverse(out)
	return out, nil
}

func (e *tuiEngine) Prompt(ctx context.Context, id lathe.SessionID, p tui.Prompt) error {
	_, _, err := e.app.svc.Prompt(ctx, id, session.Prompt{
		Parts: promptParts(p), Agent: p.Agent, Model: p.Model, Refs: true,
	})
	return err
}

// promptParts returns what the person sends as parts.
func promptParts(p tui.Prompt) []lathe.PartBody {
	out := []lathe.PartBody{&lathe.Text{Text: p.Text}}
	for _, f := range p.Files {
		out = append(out, &lathe.File{MIME: f.MIME, Filename: f.Name, URL: "data:" + f.MIME + ";base64," + base64.StdEncoding.EncodeToString(f.Data)})
	}
	return out
}

func (e *tuiEngine) Command(ctx context.Context, id lathe.SessionID, name, args string, p tui.Prompt) error {
	_, _, err := e.app.svc.Command(ctx, id, session.CommandInput{Name: name, Arguments: args, Agent: p.Agent, Model: p.Model})
	return err
}

func (e *tuiEngine) Shell(ctx context.Context, id lathe.SessionID, command string, p tui.Prompt) error {
	_, _, err := e.app.svc.Shell(ctx, id, session.ShellInput{Command: command, Agent: p.Agent, Model: p.Model})
	return err
}

func (e *tuiEngine) Abort(ctx context.Context, id lathe.SessionID) error {
	return e.app.svc.Abort(ctx, id)
}

func (e *tuiEngine) Status(_ context.Context, id lathe.SessionID) lathe.Status {
	return e.app.svc.Status(id)
}

func (e *tuiEngine) Events(ctx context.Context) iter.Seq2[lathe.Envelope, error] {
	return func(yield func(lathe.Envelope, error) bool) {
		sub := e.app.svc.Subscribe(ctx, bus.Filter{Directory: e.dir})
		defer sub.Close()
		for env, err := range sub.All() {
			if !yield(env, err) {
				return
			}
		}
	}
}

func (e *tuiEngine) Waiting(ctx context.Context) ([]lathe.Ask, []lathe.QuestionAsk, error) {
	return e.app.svc.Asks(ctx, e.dir), e.app.svc.Questions(e.dir), nil
}

func (e *tuiEngine) Reply(ctx context.Context, a lathe.Ask, r lathe.Reply) error {
	return e.app.reply(ctx, e.dir, a.ID, r)
}

func (e *tuiEngine) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	return e.app.svc.Answer(ctx, id, answers)
}

func (e *tuiEngine) Dismiss(ctx context.Context, id lathe.AskID) error {
	return e.app.svc.RejectQuestion(ctx, id)
}

func (e *tuiEngine) Models(ctx context.Context) ([]tui.Model, error) {
	inst, err := e.app.svc.Instance(ctx, e.dir)
	if err != nil {
		return nil, err
	}
	list, err := inst.Models.Models("", false)
	if err != nil {
		return nil, err
	}
	def, _, _ := inst.Models.Default(ctx) // without a default none is marked
	out := make([]tui.Model, len(list))
	for i, m := range list {
		out[i] = tui.Model{
			Ref: m.Ref, Name: m.Name, Context: m.Limit.Context, Price: m.Price.For(0),
			Default: m.Ref.Provider == def.Provider && m.Ref.Model == def.Model,
		}
		for _, v := range m.Variants {
			out[i].Variants = append(out[i].Variants, v.Name)
		}
	}
	return out, nil
}

func (e *tuiEngine) Agents(ctx context.Context) ([]tui.Agent, error) {
	inst, err := e.app.svc.Instance(ctx, e.dir)
	if err != nil {
		return nil, err
	}
	var out []tui.Agent
	for _, a := range inst.Agents {
		if !a.Hidden {
			out = append(out, tui.Agent{Name: a.Name, Description: a.Description, Subagent: a.Mode == session.ModeSubagent, Model: a.Model})
		}
	}
	if name := inst.Config.DefaultAgent; name != "" {
		slices.SortStableFunc(out, func(a, b tui.Agent) int { return isName(b, name) - isName(a, name) })
	}
	return out, nil
}

func isName(a tui.Agent, name string) int {
	if a.Name == name {
		return 1
	}
	return 0
}

func (e *tuiEngine) Commands(ctx context.Context) ([]tui.Command, error) {
	list, err := e.app.svc.Commands(ctx, e.dir)
	if err != nil {
		return nil, err
	}
	out := make([]tui.Command, len(list))
	for i, c := range list {
		out[i] = tui.Command{Name: c.Name, Description: c.Description}
	}
	return out, nil
}

const (
	listedFiles = 50_000
	filesFresh  = 5 * time.Second
)

// Files searches a listing of the directory that is read again when it is old.
func (e *tuiEngine) Files(ctx context.Context, query string, limit int) ([]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.app.env.Now(); e.files == nil || now.Sub(e.read) > filesFresh {
		var files []string
		for f, err := range search.Files(ctx, e.dir, search.FileOptions{Dirs: true, Limit: listedFiles}) {
			if err != nil {
				return nil, fmt.Errorf("list files of %s: %w", e.dir, err)
			}
			path := f.Path
			if f.Dir && !strings.HasSuffix(path, "/") {
				path += "/"
			}
			files = append(files, path)
		}
		slices.SortFunc(files, func(a, b string) int {
			if d := strings.Count(strings.TrimSuffix(a, "/"), "/") - strings.Count(strings.TrimSuffix(b, "/"), "/"); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		e.files, e.read = files, now
	}
	return search.Fuzzy(query, e.files, limit), nil
}

func (e *tuiEngine) Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID) error {
	out, err := e.app.svc.Revert(ctx, id, session.RevertInput{MessageID: m})
	if err == nil && len(out.Conflicts) > 0 {
		return conflicts(len(out.Conflicts))
	}
	return err
}

func (e *tuiEngine) Unrevert(ctx context.Context, id lathe.SessionID) error {
	out, err := e.app.svc.Unrevert(ctx, id, false)
	if err == nil && len(out.Conflicts) > 0 {
		return conflicts(len(out.Conflicts))
	}
	return err
}

func conflicts(n int) error {
	return lathe.Errorf(lathe.CodeInvalid, "they were left as they are", "%d files were changed by somebody else since", n)
}

func (e *tuiEngine) Compact(ctx context.Context, id lathe.SessionID, model lathe.ModelRef) error {
	return e.app.svc.Summarize(ctx, id, model, false)
}

// Providers lists the whole catalogue.
func (e *tuiEngine) Providers(ctx context.Context) ([]tui.Provider, error) {
	inst, err := e.app.svc.Instance(ctx, e.dir)
	if err != nil {
		return nil, err
	}
	list, err := inst.Models.All()
	if err != nil {
		return nil, err
	}
	var out []tui.Provider
	for _, p := range list {
		if p.Source != "builtin" {
			out = append(out, tui.Provider{ID: p.ID, Name: p.Name, Connected: p.Connected})
		}
	}
	return out, nil
}

// Connect stores a key and lets the directory's configuration be read anew, so
// that it counts.
func (e *tuiEngine) Connect(ctx context.Context, provider, key string) error {
	if !validProvider(provider) {
		return lathe.Errorf(lathe.CodeInvalid, "", "provider %q is not a name of small letters, digits and hyphens", provider)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= 0x20 || r > 0x7e }) {
		return lathe.Errorf(lathe.CodeInvalid, "nothing was stored", "that is not a key: it holds spaces or characters that no header can carry")
	}
	if err := e.app.auth.Set(ctx, provider, auth.API{Key: auth.NewSecret(key)}); err != nil {
		return err
	}
	return e.app.svc.Dispose(ctx, e.dir)
}

func (e *tuiEngine) Fork(ctx context.Context, id lathe.SessionID, upTo lathe.MessageID) (lathe.Session, error) {
	out, err := e.app.svc.Fork(ctx, id, session.ForkInput{MessageID: upTo})
	return out.Session, err
}
