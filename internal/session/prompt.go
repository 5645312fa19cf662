package session

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/commit"
	"lathe/internal/instance"
	"lathe/internal/lsp"
	"lathe/internal/people"
	"lathe/internal/prompt"
	"lathe/internal/store"
	"lathe/internal/tool"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

// maxMedia bounds an attachment that is sent as it is.
const maxMedia = 20 << 20

// Prompt is what a person, or a program on their behalf, asks of a session.
type Prompt struct {
	MessageID lathe.MessageID // chosen by the client; empty means a new one
	Parts     []lathe.PartBody
	PartIDs   []lathe.PartID // chosen by the client, for the parts in order; empty ones get one from us
	Agent     string         // empty: the session's, then the default
	Model     lathe.ModelRef // zero: the agent's, the session's, then the default
	System    string
	Tools     map[string]bool
	NoReply   bool // store the message, run no turn
	Refs      bool // attach what the texts name with "@"
	Limits    turn.Limits
	Rules     []lathe.Rule // for the turn that this prompt starts, after the session's

	by       string         // who asked; empty: the person that the context names
	spent    *turn.Spent    // shared with the parent's turn
	purse    *purse         // likewise
	ceilings [][]lathe.Rule // no agent of the turn may go beyond them
}

// Prompt stores a user message and starts a turn to answer it, or hands it to the
// running turn. It returns when the message is durable; the run is nil for
// NoReply. Nothing is stored if the prompt cannot be answered (an unknown agent or
// model, a session that another process owns). A prompt that was sent before with
// the same MessageID is not stored again: the stored one counts, and the run is
// the one that answers it.
func (s *Service) Prompt(ctx context.Context, id lathe.SessionID, p Prompt) (*lathe.Message, *Run, error) {
	ctx = store.Hasty(ctx) // the session's lock is held meanwhile
	r, err := s.runner(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	switch m, run, err := r.again(ctx, p.MessageID); {
	case m != nil && !p.NoReply && err == nil:
		run, err = r.goOn(ctx, m, run, p)
		return m, run, err
	case m != nil || err != nil:
		return m, run, err
	}
	m, err := r.userMessage(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	run, err := r.submit(ctx, m, p, func(m *lathe.Message) error { return r.storeUser(ctx, m, p) })
	if err != nil {
		return r.twice(ctx, p.MessageID, err)
	}
	return m, run, nil
}

// userMessage turns a prompt into the message to be stored.
func (r *runner) userMessage(ctx context.Context, p Prompt) (*lathe.Message, error) {
	sess, err := r.s.Get(ctx, r.current().ID)
	if err != nil {
		return nil, err
	}
	agent, err := r.inst.Agents.Pick(p.Agent, sess.Agent)
	if err != nil {
		return nil, err
	}
	by := cmp.Or(p.by, people.From(ctx))
	ctx = people.With(ctx, by)
	models, err := r.inst.Models.For(ctx)
	if err != nil {
		return nil, err
	}
	model, err := models.Pick(ctx, p.Model, agent, sess.Model)
	if err != nil {
		return nil, err
	}
	m := &lathe.Message{
		ID: p.MessageID, SessionID: sess.ID, Created: r.s.opts.Now(),
		Info: &lathe.User{Agent: agent.Name, Model: model, System: p.System, Tools: p.Tools, By: by},
	}
	if m.ID == "" {
		m.ID = r.ids.Load().Message()
	} else if err := lathe.CheckID(string(m.ID), lathe.PrefixMessage); err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "%v", err)
	}
	r.after(m.ID) // the client's clock may be ahead
	if p.Refs {
		p.Parts = resolve(r.inst, p.Parts, nil)
	}
	in := &intake{inst: r.inst, store: r.s.opts.Store, m: m}
	bodies, ids, err := in.expandAll(ctx, p)
	if err != nil {
		return nil, err
	}
	if bodies, err = in.chatMessage(ctx, bodies); err != nil {
		return nil, err
	}
	for _, b := range bodies {
		id, chosen := ids[b]
		if !chosen {
			id = r.ids.Load().Part()
		}
		m.Parts = append(m.Parts, lathe.Part{ID: id, MessageID: m.ID, SessionID: sess.ID, Body: b})
	}
	if len(m.Parts) == 0 {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "the prompt is empty")
	}
	return m, nil
}

// storeUser stores a user message, with what the model has to be told since the
// last one, and publishes it.
func (r *runner) storeUser(ctx context.Context, m *lathe.Message, p Prompt) error {
	if err := r.acceptable(ctx); err != nil {
		return err
	}
	if err := r.changes.DropReverted(ctx); err != nil {
		return err
	}
	info := m.Info.(*lathe.User)
	notes := r.reminders(ctx, info.Agent, p)
	back, err := r.changes.Untold(ctx)
	if err != nil {
		return err
	}
	if back != "" {
		notes = append(notes, prompt.Reminder(back))
	}
	for _, note := range notes {
		m.Parts = append(m.Parts, lathe.Part{
			ID: r.ids.Load().Part(), MessageID: m.ID, SessionID: m.SessionID,
			Body: &lathe.Text{Text: note, Synthetic: true, Time: lathe.Span{Start: m.Created, End: m.Created}},
		})
	}
	err = r.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) (err error) {
		if err = accept(ctx, tx); err != nil {
			return err
		}
		if err = tx.AddMessage(m); err != nil {
			return err
		}
		if back != "" {
			if err = r.changes.Told(ctx, tx); err != nil {
				return err
			}
		}
		if err = r.window.SaveFrozen(tx); err != nil {
			return err
		}
		sess, err := tx.UpdateSession(m.SessionID, func(s *lathe.Session) error {
			s.Updated, s.Agent, s.Model = m.Created, info.Agent, info.Model
			if p.Tools != nil {
				s.Rules = toolRules(p.Tools)
			}
			return nil
		})
		tx.Then(func() { r.sess.Store(&sess) })
		tx.Tell(sess.Directory, added(m)...)
		tx.Tell(sess.Directory, lathe.SessionUpdated{Session: sess})
		return err
	})
	if err != nil {
		return fmt.Errorf("store the prompt: %w", err)
	}
	return nil
}

// toolRules turns a prompt's tool switches into the session's rules.
func toolRules(tools map[string]bool) []lathe.Rule {
	rules := make([]lathe.Rule, 0, len(tools))
	for _, name := range sortedKeys(tools) {
		action := lathe.Deny
		if tools[name] {
			action = lathe.Allow
		}
		rules = append(rules, lathe.Rule{Permission: name, Pattern: "*", Action: action})
	}
	return rules
}

// intake turns the parts of a prompt into those of the stored message:
// attachments are read, and what is named is explained.
type intake struct {
	inst  *instance.Instance
	store *store.Store
	m     *lathe.Message // agent and model are settled; it has no parts yet
}

// expand resolves the parts of a prompt: a file becomes what the read tool
// shows of it, an image or PDF becomes its content.
func (i *intake) expand(ctx context.Context, parts []lathe.PartBody) ([]lathe.PartBody, error) {
	var out []lathe.PartBody
	for _, p := range parts {
		switch b := p.(type) {
		case *lathe.File:
			bodies, err := i.expandFile(ctx, b)
			if err != nil {
				return nil, err
			}
			out = append(out, bodies...)
		case *lathe.Text:
			text := *b
			if text.Time.Start.IsZero() {
				text.Time = lathe.Span{Start: i.m.Created, End: i.m.Created}
			}
			out = append(out, &text)
		case *lathe.AgentMention:
			bodies, err := i.expandMention(b)
			if err != nil {
				return nil, err
			}
			out = append(out, bodies...)
		default:
			out = append(out, p)
		}
	}
	return out, nil
}

func (i *intake) expandFile(ctx context.Context, f *lathe.File) ([]lathe.PartBody, error) {
	if f.Source != nil && f.Source.Kind == "resource" {
		return i.expandResource(ctx, f), nil
	}
	u, err := url.Parse(f.URL)
	if err != nil || u.Scheme != "file" {
		return i.expandData(f)
	}
	path := u.Path
	info, err := os.Stat(path)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "attach %s: %v", path, err)
	}
	file := *f
	if file.Filename == "" {
		file.Filename = filepath.Base(path)
	}
	file.MIME = mediaType(path, info, file.MIME)
	switch {
	case info.IsDir():
		file.MIME = "application/x-directory"
	case isMedia(file.MIME):
		return i.expandMedia(path, &file)
	default:
		file.MIME = "text/plain"
	}
	return i.expandText(ctx, path, u.Query(), &file), nil
}

func isMedia(mime string) bool {
	return (strings.HasPrefix(mime, "image/") && mime != "image/svg+xml") || mime == "application/pdf"
}

func (i *intake) expandMedia(path string, file *lathe.File) ([]lathe.PartBody, error) {
	data, err := workspace.ReadFile(path, maxMedia)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "attach a smaller file", "attach %s: %v", path, err)
	}
	file.URL = "data:" + file.MIME + ";base64," + base64.StdEncoding.EncodeToString(data)
	if err := fitPicture(i.inst, file, data); err != nil {
		return nil, err
	}
	return []lathe.PartBody{synthetic(readNote(map[string]any{"filePath": path})), file}, nil
}

// expandText shows a file or directory as the read tool does. If that fails,
// the model sees the error in its place.
func (i *intake) expandText(ctx context.Context, path string, q url.Values, file *lathe.File) []lathe.PartBody {
	args := map[string]any{"filePath": path}
	if start, err := strconv.Atoi(q.Get("start")); err == nil && start > 0 {
		args["offset"] = start
		if end, err := strconv.Atoi(q.Get("end")); err == nil && end >= start {
			first, last := i.symbol(ctx, path, start, end)
			args["offset"], args["limit"] = first, last-first+1
		} else {
			args["limit"] = 1
		}
	}
	out := []lathe.PartBody{synthetic(readNote(args))}
	res, err := i.readFor(ctx, args)
	if err != nil {
		res = tool.Failf("%v", err)
	}
	if res.Failed {
		text := fmt.Sprintf("Read tool failed to read %s with the following error: %s", path, res.Output)
		return append(out, synthetic(text))
	}
	return append(out, synthetic(res.Output), file)
}

// symbol returns the first and the last line of what begins in a line, where that alone
// is named: clients name symbols so. Without a language server it is the line itself.
func (i *intake) symbol(ctx context.Context, path string, start, end int) (first, last int) {
	if start != end {
		return start, end
	}
	real, err := workspace.Resolve(path)
	if err != nil {
		return start, end
	}
	data, err := workspace.ReadFile(real, maxMedia)
	if err != nil {
		return start, end
	}
	r, ok := i.inst.Languages.SymbolAt(ctx, lsp.File{Path: real, Text: builtin.LanguageText(data)}, start-1)
	if !ok || r.End.Line < r.Start.Line {
		return start, end
	}
	last = r.End.Line + 1
	if r.End.Character == 0 && r.End.Line > r.Start.Line {
		last--
	}
	return r.Start.Line + 1, last
}

// readFor runs the read tool for the user, who needs no permission.
func (i *intake) readFor(ctx context.Context, args map[string]any) (tool.Result, error) {
	read, ok := i.inst.Tools.Lookup("read")
	if !ok {
		return tool.Failf("there is no read tool"), nil
	}
	input, err := json.Marshal(args)
	if err != nil {
		return tool.Result{}, err
	}
	return read.Run(ctx, &tool.Call{
		SessionID: i.m.SessionID, MessageID: i.m.ID, Input: input, UserAsked: true,
		Ask:      func(context.Context, tool.Request) error { return nil },
		Progress: func(string, map[string]any) {},
	})
}

func readNote(args map[string]any) string {
	input, err := json.Marshal(args)
	if err != nil { // strings and numbers always encode
		panic(err)
	}
	return "Called the Read tool with the following input: " + string(input)
}

func synthetic(text string) *lathe.Text { return &lathe.Text{Text: text, Synthetic: true} }
