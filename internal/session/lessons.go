package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/instance"
	"lathe/internal/learn"
	"lathe/internal/llm"
	"lathe/internal/order"
	"lathe/internal/provider"
	"lathe/internal/store"
	"lathe/internal/undo"
)

const (
	lessonTime    = 2 * time.Minute
	maxLessonText = 64 << 10 // bytes of the model's answer that are read
)

// Lessons proposes lines for a project's instructions from how the person corrected what was
// done in its sessions. It writes nothing.
type Lessons struct{ s *Service }

// Corrections returns what there is to learn from in the project of a directory. Nothing is
// sent to anybody.
func (l *Lessons) Corrections(ctx context.Context, dir string) (api.Corrections, error) {
	inst, err := l.s.Instance(ctx, dir)
	if err != nil {
		return api.Corrections{}, err
	}
	found, _, err := l.find(ctx, inst)
	if err != nil {
		return api.Corrections{}, err
	}
	file, err := inst.Instructions.Notes()
	return api.Corrections{File: file, Found: found}, err
}

// Propose asks a model for lessons. It asks nobody where there is no correction. The error
// says so if there is no model to ask, or the budget is used up.
func (l *Lessons) Propose(ctx context.Context, dir string, in api.LessonRequest) (api.Lessons, error) {
	out := api.Lessons{Lessons: []api.Lesson{}}
	inst, err := l.s.Instance(ctx, dir)
	if err != nil {
		return out, err
	}
	if out.File, err = inst.Instructions.Notes(); err != nil {
		return out, err
	}
	found, newest, err := l.find(ctx, inst)
	if err != nil || len(found) == 0 {
		return out, err
	}
	m, err := lessonModel(ctx, inst, in.Model, newest)
	if err != nil {
		return out, err
	}
	if f := affordsBeside(ctx, l.s, inst, m); f != nil {
		return out, f
	}
	known := knownInstructions(inst)
	answer, used, err := askLessons(ctx, m, learn.Request(found, known))
	keepSpent(ctx, l.s.opts, lathe.Session{ProjectID: inst.Project.ID, Directory: inst.Root.Dir}, forLessons, m, m.Cost(used), used)
	if err != nil {
		return out, &lathe.Error{Code: lathe.CodeProvider, Msg: m.Ref.String() + " did not answer", Cause: err}
	}
	out.Model, out.Looked, out.Cost, out.Unpriced = m.Ref.String(), len(found), m.Cost(used), !m.Priced()
	out.Lessons = learn.Parse(answer, found, known)
	return out, nil
}

// find returns the newest corrections, and the model that was used last.
func (l *Lessons) find(ctx context.Context, inst *instance.Instance) (found []api.Correction, newest lathe.ModelRef, err error) {
	f := store.SessionFilter{ProjectID: inst.Project.ID, Roots: true, ByUse: true, Limit: learn.MaxSessions}
	if inst.Root.VCS == "" { // all such directories share a project
		f.Directory = inst.Root.Dir
	}
	list, err := l.s.opts.Store.Sessions(ctx, f)
	if err != nil {
		return nil, newest, err
	}
	found = []api.Correction{}
	for _, sess := range list {
		if newest.IsZero() {
			newest = sess.Model
		}
		some, err := l.findIn(ctx, sess)
		if err != nil {
			return nil, newest, err
		}
		for _, c := range some { // a fork has copies
			if !slices.ContainsFunc(found, func(o api.Correction) bool { return o.Text == c.Text && o.Before == c.Before }) {
				found = append(found, c)
			}
		}
	}
	order.Stable(found, func(a, b api.Correction) int { return int(b.Time - a.Time) })
	return found[:min(len(found), learn.MaxCorrections)], newest, nil
}

func (l *Lessons) findIn(ctx context.Context, sess lathe.Session) ([]api.Correction, error) {
	var messages []lathe.Message
	for m, err := range l.s.opts.Store.Messages(ctx, sess.ID, store.MessageFilter{Limit: learn.MaxMessages}) {
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	slices.Reverse(messages)
	messages, _ = sess.Revert.Standing(messages)
	undone, _, err := undo.Replaced.Get(ctx, l.s.opts.Store, sess.ID)
	if err != nil {
		return nil, err
	}
	return learn.Find(sess, messages, undone), nil
}

// lessonModel returns the model to ask: the one that was named, or the small one that goes with
// the model used last.
func lessonModel(ctx context.Context, inst *instance.Instance, name string, last lathe.ModelRef) (*provider.Model, error) {
	models, err := inst.Models.For(ctx)
	if err != nil {
		return nil, err
	}
	var asked lathe.ModelRef
	if name != "" {
		ref, err := models.ParseRef(name)
		if err != nil {
			return nil, err
		}
		asked = ref
	}
	ref, err := models.Pick(ctx, asked, instance.Agent{}, last)
	if err != nil {
		return nil, err
	}
	if name == "" {
		ref = inst.SmallModel(ctx, ref)
	}
	if ref.Provider == "offline" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "connect one with: lathe auth login, or name one with: lathe learn -m provider/model",
			"this needs a language model, and the offline guide is none")
	}
	return models.Get(ref)
}

// knownInstructions returns the instructions that the model of a session sees anyway.
func knownInstructions(inst *instance.Instance) string {
	var b strings.Builder
	for _, in := range inst.Instructions.Read() {
		b.WriteString(in.Content)
		b.WriteString("\n")
	}
	return b.String()
}

func askLessons(ctx context.Context, m *provider.Model, text string) (answer string, used lathe.Tokens, err error) {
	ctx, cancel := context.WithTimeout(ctx, lessonTime)
	defer cancel()
	req := &llm.Request{
		System:   []string{learn.System},
		Messages: m.Normalize([]llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: text}}}}),
	}
	m.Prepare(req, provider.Params{Small: true})
	var b strings.Builder
	for ev, err := range m.LLM.Stream(ctx, req) {
		if err != nil {
			return "", used, err
		}
		switch ev := ev.(type) {
		case llm.TextDelta:
			if b.Len() < maxLessonText {
				b.WriteString(ev.Text)
			}
		case llm.Finish:
			used = m.Tokens(ev.Usage)
		}
	}
	return withoutThoughts(b.String()), used, nil
}
