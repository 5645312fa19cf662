package undo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/commit"
	"lathe/internal/snapshot"
	"lathe/internal/store"
	"lathe/internal/workspace"
)

// taken lists the parts that record what a person took back, so that [Changes.Review] does not
// count them as changes made by the prompt before.
const taken store.Document[takenDoc] = "taken_back"

type takenDoc struct {
	Parts []lathe.PartID `json:"parts"`
	// Untold are files of which something was taken back since the model was told last.
	Untold []string `json:"untold,omitempty"`
}

// segment is a prompt and what followed it, up to the next one.
type segment struct {
	user     lathe.Message
	doc      changedDoc   // of its steps
	taken    []changedDoc // of what was taken back after them
	messages []lathe.Message
}

// Review returns what each prompt of a session changed, and what was taken back, oldest first.
// What a revert hides is left out. Prompts that changed nothing are there, too.
func (u *Changes) Review(ctx context.Context, sess lathe.Session) ([]api.Reviewed, error) {
	segments, err := u.segments(ctx, sess)
	if err != nil {
		return nil, err
	}
	out := []api.Reviewed{}
	for _, s := range segments {
		r := api.Reviewed{Message: s.user.ID, Text: promptText(s.user), Created: s.user.Created.UnixMilli()}
		if r.Files, err = u.reviewed(ctx, s.doc); err != nil {
			return nil, err
		}
		out = append(out, r)
		for _, doc := range s.taken {
			back := api.Reviewed{Message: s.user.ID, Created: r.Created, Taken: true}
			if back.Files, err = u.reviewed(ctx, doc); err != nil {
				return nil, err
			}
			out = append(out, back)
		}
	}
	return out, nil
}

// Between returns what a session changed from one of its prompts on, until before another one;
// empty stands for its beginning and, as [api.Now], for its end.
func (u *Changes) Between(ctx context.Context, sess lathe.Session, from, to lathe.MessageID) ([]api.ReviewedFile, error) {
	segments, err := u.segments(ctx, sess)
	if err != nil {
		return nil, err
	}
	var all []lathe.Message
	on := from == ""
	for _, s := range segments {
		on = on || s.user.ID == from
		if s.user.ID == to {
			break
		}
		if on {
			all = append(all, s.messages...)
		}
	}
	return u.reviewed(ctx, gather(all))
}

// segments splits a session's messages at its prompts.
func (u *Changes) segments(ctx context.Context, sess lathe.Session) ([]segment, error) {
	messages, err := u.sessions.Messages(ctx, sess.ID, 0)
	if err != nil {
		return nil, err
	}
	messages, _ = sess.Revert.Standing(messages)
	doc, _, err := taken.Get(ctx, u.store, sess.ID)
	if err != nil {
		return nil, err
	}
	var out []segment
	for _, m := range messages {
		if info, ok := m.Info.(*lathe.User); ok && !info.Steers && (len(out) == 0 || promptText(m) != "") {
			out = append(out, segment{user: m})
		}
		if len(out) == 0 {
			continue
		}
		s := &out[len(out)-1]
		s.messages = append(s.messages, m)
		own, backs := split(m.Parts, doc)
		for _, c := range changesOf(own) {
			s.doc.add(c)
		}
		for _, c := range backs {
			var back changedDoc
			back.add(c)
			s.taken = append(s.taken, back)
		}
	}
	return out, nil
}

// split separates the parts of steps from what the person took back.
func split(parts []lathe.Part, doc takenDoc) (own []lathe.Part, backs []stepChange) {
	for i := 0; i < len(parts); i++ {
		if !slices.Contains(doc.Parts, parts[i].ID) {
			own = append(own, parts[i])
			continue
		}
		n := min(i+2, len(parts)) // the patch, and the tree that it left
		backs = append(backs, changesOf(parts[i:n])...)
		i = n - 1
	}
	return own, backs
}

// promptText is what the person wrote.
func promptText(m lathe.Message) string {
	var words []string
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Synthetic && strings.TrimSpace(t.Text) != "" {
			words = append(words, strings.TrimSpace(t.Text))
		}
	}
	return strings.Join(words, "\n")
}

func (u *Changes) reviewed(ctx context.Context, doc changedDoc) ([]api.ReviewedFile, error) {
	diffs, err := u.diff(ctx, doc)
	out := []api.ReviewedFile{}
	for _, d := range diffs {
		out = append(out, api.ReviewedFile{File: d.File, Before: d.Before, After: d.After, Additions: d.Additions, Deletions: d.Deletions, Status: d.Status})
	}
	return out, err
}

// TakeBack takes changes of one prompt back and keeps what came after them. Where the same lines
// were changed since, nothing is changed and the file is told as a conflict. What it does
// belongs to the session and can be undone like its steps. No turn of the session may run
// in the meantime.
func (u *Changes) TakeBack(ctx context.Context, sess lathe.Session, in api.TakeBack) (out Result, err error) {
	out.Session = sess
	if sess.Revert != nil {
		return out, lathe.Errorf(lathe.CodeInvalid, "redo it (/redo, lathe session unrevert), or go on with a prompt", "part of the session is undone at the moment")
	}
	segments, err := u.segments(ctx, sess)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(segments, func(s segment) bool { return s.user.ID == in.Message })
	if i < 0 {
		return out, lathe.Errorf(lathe.CodeNotFound, "list them with: lathe review", "the session has no prompt %q", in.Message)
	}
	doc := segments[i].doc
	trees, err := u.inst.Snapshots()
	if err != nil {
		return out, fmt.Errorf("take changes back: %w", err)
	}
	files, err := u.reviewed(ctx, doc)
	if err != nil {
		return out, err
	}
	if in.File != "" {
		files = slices.DeleteFunc(files, func(f api.ReviewedFile) bool { return f.File != in.File })
	}
	if len(files) == 0 {
		return out, lathe.Errorf(lathe.CodeNotFound, "", "the prompt changed nothing in %q", in.File)
	}
	t := taking{changes: u, trees: trees, doc: doc, hunk: in.Hunk}
	for _, s := range segments[i:] {
		for _, back := range s.taken {
			t.left = append(t.left, back.To)
		}
	}
	if err := t.plan(files, &out); err != nil || in.DryRun || len(t.texts)+len(t.whole) == 0 {
		return out, err
	}
	return out, t.carryOut(ctx, segments, &out)
}

// taking is a take back: which files get which text, and which are restored whole.
type taking struct {
	changes *Changes
	trees   *snapshot.Store
	doc     changedDoc
	left    []string // the trees that taking back left since
	hunk    int
	texts   map[string]string // by path below the top; the file stands there
	whole   []snapshot.Target
}

// plan finds out what becomes of each file.
func (t *taking) plan(files []api.ReviewedFile, out *Result) error {
	t.texts = map[string]string{}
	for _, f := range files {
		path := filepath.Join(t.trees.Top(), filepath.FromSlash(f.File))
		raw, err := workspace.ReadFile(path, 0)
		missing := os.IsNotExist(err)
		if err != nil && !missing {
			out.Conflicts = append(out.Conflicts, snapshot.Conflict{Path: path, Reason: err.Error()})
			continue
		}
		now := string(raw)
		back, ok := unpatch(now, f.Before, f.After, t.hunk)
		untouched := now == f.After && missing == (f.Status == "deleted")
		switch {
		case t.hunk == 0 && (untouched || !f.Readable()):
			t.whole = append(t.whole, snapshot.Target{Path: path, To: t.doc.From, Expect: []string{t.doc.To}})
		case t.hunk == 0 && f.Status == "added" && !missing && now == "": // its text was taken back before
			t.whole = append(t.whole, snapshot.Target{Path: path, To: t.doc.From, Expect: t.left})
		case f.Readable() && !missing && ok && (f.Status == "modified" || t.hunk > 0):
			t.texts[f.File] = back
		case f.Readable() && (!missing || f.Status == "added") && undone(now, f.Before, f.After, t.hunk):
			out.Conflicts = append(out.Conflicts, snapshot.Conflict{Path: path, Reason: "this is already as it was before"})
			continue
		default:
			out.Conflicts = append(out.Conflicts, snapshot.Conflict{Path: path, Reason: "the same lines were changed again since"})
			continue
		}
		out.Files = append(out.Files, path)
		switch text, ok := t.texts[f.File]; {
		case !ok:
			out.tell(path, f.Status)
		case text == "":
			out.Emptied = append(out.Emptied, path)
		}
	}
	return nil
}

// tell notes what taking a file back as a whole makes of it besides changing it.
func (r *Result) tell(path, status string) {
	switch status {
	case "added":
		r.Deleted = append(r.Deleted, path)
	case "deleted":
		r.Created = append(r.Created, path)
	}
}

// settle forgets what was planned for files that were kept after all.
func (r *Result) settle() {
	kept := func(path string) bool { return !slices.Contains(r.Files, path) }
	r.Deleted, r.Created, r.Emptied = slices.DeleteFunc(r.Deleted, kept), slices.DeleteFunc(r.Created, kept), slices.DeleteFunc(r.Emptied, kept)
}

// carryOut changes the files and records that as the session's own change.
func (t *taking) carryOut(ctx context.Context, segments []segment, out *Result) error {
	before, err := t.trees.Track(ctx)
	if err != nil {
		return fmt.Errorf("take changes back: %w", err)
	}
	out.Files = nil
	if len(t.whole) > 0 {
		applied, err := t.trees.Apply(ctx, t.whole, false)
		out.Files, out.Conflicts = applied.Changed, append(out.Conflicts, applied.Conflicts...)
		if err != nil {
			return fmt.Errorf("take changes back: %w", err)
		}
	}
	for name, text := range t.texts {
		path := filepath.Join(t.trees.Top(), filepath.FromSlash(name))
		if err = t.write(name, text); err != nil {
			err = fmt.Errorf("take changes of %s back: %w", name, err)
			break
		}
		out.Files = append(out.Files, path)
	}
	slices.Sort(out.Files)
	out.settle()
	if len(out.Files) == 0 {
		return err
	}
	if recorded := t.record(ctx, before, out.Files, segments); err == nil {
		err = recorded
	}
	return err
}

// write replaces a file that stands below the top. Links on the way to it are not followed out
// of the project.
func (t *taking) write(name, text string) error {
	root, err := os.OpenRoot(t.trees.Top())
	if err != nil {
		return err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is no regular file any more")
	}
	temp := filepath.Join(filepath.Dir(name), workspace.TempName())
	if err = root.WriteFile(temp, []byte(text), info.Mode().Perm()); err == nil {
		if err = root.Chmod(temp, info.Mode().Perm()); err == nil {
			err = root.Rename(temp, name)
		}
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// record stores what was taken back with the newest answer, and what the session changed in all.
func (t *taking) record(ctx context.Context, before string, files []string, segments []segment) error {
	u := t.changes
	after, err := t.trees.Track(ctx)
	if err != nil {
		return fmt.Errorf("record what was taken back: %w", err)
	}
	last := newestAnswer(segments)
	if last == nil {
		return fmt.Errorf("record what was taken back: %w", errNoAnswer)
	}
	id := u.current().ID
	doc, _, err := taken.Get(ctx, u.store, id)
	if err != nil {
		return err
	}
	patch := lathe.Part{ID: u.newPart(), MessageID: last.ID, SessionID: id, Body: &lathe.Patch{Hash: before, Files: files}}
	mark := lathe.Part{ID: u.newPart(), MessageID: last.ID, SessionID: id, Body: &lathe.SnapshotMark{Snapshot: after}}
	doc.Parts, doc.Untold = append(doc.Parts, patch.ID), append(doc.Untold, t.untold(files)...)
	err = u.writer.Commit(ctx, func(tx *commit.Tx) error {
		for _, p := range []*lathe.Part{&patch, &mark} {
			if err := tx.PutPart(p); err != nil {
				return err
			}
			tx.Tell(u.current().Directory, lathe.PartUpdated{Part: *p, New: true})
		}
		return taken.Set(tx, id, doc)
	})
	if err != nil {
		return fmt.Errorf("record what was taken back: %w", err)
	}
	u.forgetTree()
	messages, err := u.sessions.Messages(ctx, id, 0)
	if err != nil {
		return err
	}
	u.Summarise(ctx, messages)
	return nil
}

var errNoAnswer = lathe.Errorf(lathe.CodeInvalid, "", "the session has no answer that changed anything")

func newestAnswer(segments []segment) *lathe.Message {
	for _, s := range slices.Backward(segments) {
		for _, m := range slices.Backward(s.messages) {
			if _, ok := m.Info.(*lathe.Assistant); ok {
				return &m
			}
		}
	}
	return nil
}
