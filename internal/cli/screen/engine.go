package screen

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/cli/console"
	"lathe/internal/order"
	"lathe/internal/tui/engine"
)

// tuiEngine is the engine as the screen sees it, in this process or in a server.
type tuiEngine struct {
	Abilities
	now          func() time.Time
	defaultAgent string
}

var _ engine.Engine = (*tuiEngine)(nil)

// Can says that a lathe server has all capabilities that screens know of.
func (e *tuiEngine) Can() engine.Capabilities {
	return engine.Capabilities{
		Undo: e, Compact: e, Fork: e, Archive: e, Share: e, Export: e, Search: e, Changes: e, Found: e, Keys: e,
		Trust: e, Approvals: e, Weigh: e, Budget: e.c, Setup: e, Jobs: e.c, Symbols: e.c, Servers: e.c, Plugins: e.c, Logins: e.c, Imports: e.c, Tree: e.c, Worktrees: worktreesOf{e.c}, Languages: e.c, Modes: e.c, Review: e.c, Elsewhere: e.c, Notes: e.c, Attend: e.c,
	}
}

func (e *tuiEngine) List(ctx context.Context, search string) ([]lathe.Session, error) {
	return e.c.List(ctx, api.SessionFilter{Search: search})
}

func (e *tuiEngine) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.c.Get(ctx, id)
}

func (e *tuiEngine) Create(ctx context.Context) (lathe.Session, error) {
	return e.c.Create(ctx, api.SessionRequest{})
}

func (e *tuiEngine) Rename(ctx context.Context, id lathe.SessionID, title string) error {
	_, err := e.c.Rename(ctx, id, title)
	return err
}

func (e *tuiEngine) Delete(ctx context.Context, id lathe.SessionID) error { return e.c.Delete(ctx, id) }

func (e *tuiEngine) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	list, err := e.c.Children(ctx, id)
	slices.Reverse(list)
	return list, err
}

func (e *tuiEngine) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return e.c.Todos(ctx, id)
}

func (e *tuiEngine) History(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	return e.c.History(ctx, id, before, limit)
}

func (e *tuiEngine) Prompt(ctx context.Context, id lathe.SessionID, p engine.Prompt) error {
	_, err := e.c.Prompt(ctx, id, api.Prompt{Parts: promptParts(p), Agent: p.Agent, Model: p.Model, Refs: true})
	return err
}

// promptParts returns what the person sends as parts.
func promptParts(p engine.Prompt) []lathe.PartBody {
	text := &lathe.Text{Text: p.Text}
	if raw, err := json.Marshal(p.Pasted); err == nil && len(p.Pasted) > 0 {
		text.Meta = lathe.Meta{lathe.MetaPasted: raw}
	}
	out := []lathe.PartBody{text}
	for _, f := range p.Files {
		out = append(out, &lathe.File{MIME: f.MIME, Filename: f.Name, URL: "data:" + f.MIME + ";base64," + base64.StdEncoding.EncodeToString(f.Data)})
	}
	return out
}

func (e *tuiEngine) Command(ctx context.Context, id lathe.SessionID, name, args string, p engine.Prompt) error {
	_, err := e.c.Prompt(ctx, id, api.Prompt{Agent: p.Agent, Model: p.Model, Command: name, Arguments: args})
	return err
}

func (e *tuiEngine) Shell(ctx context.Context, id lathe.SessionID, command string, p engine.Prompt) error {
	_, err := e.c.Prompt(ctx, id, api.Prompt{Agent: p.Agent, Model: p.Model, Shell: command})
	return err
}

func (e *tuiEngine) Abort(ctx context.Context, id lathe.SessionID) error { return e.c.Abort(ctx, id) }

func (e *tuiEngine) Status(ctx context.Context, id lathe.SessionID) lathe.Status {
	st, err := e.c.Status(ctx, id)
	if err != nil {
		return lathe.Idle{} // events will say
	}
	return st
}

// Follow yields what happens from now on, and changes of the connection.
func (e *tuiEngine) Follow(ctx context.Context) iter.Seq2[engine.Update, error] {
	return func(yield func(engine.Update, error) bool) {
		for u, err := range e.c.Follow(ctx) {
			out := engine.Update{Envelope: u.Envelope}
			if u.Event == nil && err == nil {
				out.Link = &engine.Link{Up: u.Open, Lost: u.Lost, Err: u.Err, Server: u.Server}
				if !u.Open {
					out.Link.Retry = e.now().Add(u.Retry)
				}
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

func (e *tuiEngine) Waiting(ctx context.Context) ([]lathe.Ask, []lathe.QuestionAsk, error) {
	asks, err := e.c.Asks(ctx)
	if err != nil {
		return nil, nil, err
	}
	questions, err := e.c.Questions(ctx)
	return asks, questions, err
}

func (e *tuiEngine) Reply(ctx context.Context, a lathe.Ask, r lathe.Reply) error {
	return e.c.Reply(ctx, a.ID, r)
}

func (e *tuiEngine) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	return e.c.Answer(ctx, id, answers)
}

func (e *tuiEngine) Dismiss(ctx context.Context, id lathe.AskID) error {
	return e.c.Answer(ctx, id, nil)
}

func (e *tuiEngine) Models(ctx context.Context) ([]api.Model, error) { return e.c.Models(ctx) }

// Agents returns the agents that are shown, with the default one first.
func (e *tuiEngine) Agents(ctx context.Context) ([]api.Agent, error) {
	list, err := e.c.Agents(ctx)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(list, func(a api.Agent) bool { return a.Hidden })
	if name := e.defaultAgent; name != "" {
		order.Stable(out, func(a, b api.Agent) int { return isName(b, name) - isName(a, name) })
	}
	return out, nil
}

func isName(a api.Agent, name string) int {
	if a.Name == name {
		return 1
	}
	return 0
}

func (e *tuiEngine) Commands(ctx context.Context) ([]api.Command, error) { return e.c.Commands(ctx) }

func (e *tuiEngine) Files(ctx context.Context, query string, limit int) ([]string, error) {
	return e.c.Files(ctx, query, limit)
}

func (e *tuiEngine) Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID) error {
	out, err := e.c.Revert(ctx, id, api.Revert{MessageID: m})
	return notTakenBack(out, err)
}

func (e *tuiEngine) Unrevert(ctx context.Context, id lathe.SessionID) error {
	out, err := e.c.Unrevert(ctx, id, api.Unrevert{})
	return notTakenBack(out, err)
}

// notTakenBack is the error of a revert that left some files as they are.
func notTakenBack(out api.Reverted, err error) error {
	switch {
	case err != nil:
		return err
	case out.Conflicts > 0:
		return lathe.Errorf(lathe.CodeInvalid, "what is not named was taken back", "left as it is, since somebody else changed it meanwhile: %s", namedFiles(out.Files, out.Conflicts))
	case out.Unrecorded != "":
		return lathe.Errorf(lathe.CodeInvalid, "/redo shows the messages again", "the messages are hidden, but the files stay as they are: what was done to them was not recorded (%s)", out.Unrecorded)
	}
	return nil
}

// namedFiles names the first files, and counts the others.
func namedFiles(names []string, all int) string {
	const most = 3
	if len(names) == 0 {
		return console.Count(int64(all)) + " of the files"
	}
	shown := names[:min(len(names), most)]
	text := strings.Join(shown, ", ")
	if rest := all - len(shown); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// Compact compacts a session. If no model is chosen, the one that last answered
// in it is used, or else the default one.
func (e *tuiEngine) Compact(ctx context.Context, id lathe.SessionID, model lathe.ModelRef) (err error) {
	if model.IsZero() {
		if model, err = e.answering(ctx, id); err != nil {
			return err
		}
	}
	return e.c.Summarize(ctx, id, model)
}

// answering returns the model that answers in a session.
func (e *tuiEngine) answering(ctx context.Context, id lathe.SessionID) (lathe.ModelRef, error) {
	s, err := e.c.Get(ctx, id)
	if err != nil || !s.Model.IsZero() {
		return s.Model, err
	}
	list, err := e.Models(ctx)
	for _, m := range list {
		if m.Default {
			return m.Ref(), err
		}
	}
	if err == nil {
		err = lathe.Errorf(lathe.CodeInvalid, "choose one: /models in the screen, or -m", "no model is chosen to compact with")
	}
	return lathe.ModelRef{}, err
}

func (e *tuiEngine) Fork(ctx context.Context, id lathe.SessionID, upTo lathe.MessageID) (lathe.Session, error) {
	sess, _, err := e.c.Fork(ctx, id, api.Fork{MessageID: upTo})
	return sess, err
}

// Providers lists the whole catalogue.
func (e *tuiEngine) Providers(ctx context.Context) ([]api.Provider, error) {
	return e.c.Providers(ctx)
}

// Connect stores a key where the engine runs, and makes it take effect.
func (e *tuiEngine) Connect(ctx context.Context, provider, key string) error {
	if err := keyOf(provider, key); err != nil {
		return err
	}
	return e.c.SetKey(ctx, provider, key)
}

// keyOf says what cannot be a key of a provider.
func keyOf(provider, key string) error {
	if !auth.ValidID(provider) {
		return lathe.Errorf(lathe.CodeInvalid, "", "provider %q is not a name of small letters, digits and hyphens", provider)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= 0x20 || r > 0x7e }) {
		return lathe.Errorf(lathe.CodeInvalid, "nothing was stored", "that is not a key: it holds spaces or characters that no header can carry")
	}
	return nil
}
