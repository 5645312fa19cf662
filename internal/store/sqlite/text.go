package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lathe"
	"lathe/internal/store/codec"
	"lathe/internal/store/local"
)

// The text of an open part is the text in its row followed by the text in its
// file. The progress of a running tool call is only in its file, or in its row
// if there is no file. A database would write whole pages for each checkpoint.

// texts are the files of open parts, and how long those being written are.
type texts struct {
	local.Texts
	mu sync.Mutex
	m  map[lathe.PartID]*openText
}

// maxTexts bounds what is remembered; anything else is looked up again.
const maxTexts = 1024

type openText struct {
	mu    sync.Mutex
	id    local.Text
	base  int64 // bytes in the row
	size  int64 // bytes in the file
	tool  bool
	shown *codec.Shown // a tool call's progress in the file; nil: not known
}

func (x *texts) known(part lathe.PartID) *openText {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.m[part]
}

func (x *texts) remember(part lathe.PartID, t *openText) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.m == nil || len(x.m) >= maxTexts {
		x.m = map[lathe.PartID]*openText{}
	}
	x.m[part] = t
}

// drop forgets a text that the row has taken over.
func (x *texts) drop(part lathe.PartID, id local.Text) {
	x.mu.Lock()
	delete(x.m, part)
	x.mu.Unlock()
	x.Remove(id) // usually there is none
}

// add adds the file's content to a part that was read. The error is
// [fs.ErrNotExist] if there is no file.
func (x *texts) add(p *lathe.Part, id local.Text) error {
	more, err := x.Read(id)
	if err != nil {
		return err
	}
	switch b := p.Body.(type) {
	case *lathe.Text:
		b.Text += string(more)
	case *lathe.Reasoning:
		b.Text += string(more)
	case *lathe.ToolCall:
		if run, ok := b.State.(*lathe.ToolRunning); ok {
			codec.AddProgress(run, more)
		}
	}
	return nil
}

// streams is a [store.Streams].
type streams struct{ *core }

// AppendText implements [store.Streams].
func (s streams) AppendText(ctx context.Context, part lathe.PartID, offset int64, text string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t, err := s.open(ctx, part, false)
	if err == nil {
		err = s.append(t, offset, text)
	}
	if err != nil {
		return s.explain(fmt.Errorf("append text to part %s: %w", part, err))
	}
	return nil
}

func (s streams) append(t *openText, offset int64, text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	have := t.base + t.size
	if offset < 0 || offset > have {
		return fmt.Errorf("offset %d is not within the %d bytes stored", offset, have)
	}
	skip := have - offset
	if skip >= int64(len(text)) {
		return nil
	}
	if err := s.texts.Write(t.id, t.size, text[skip:]); err != nil {
		return err
	}
	t.size += int64(len(text)) - skip
	return nil
}

// open returns the file of an open text, or of a tool call.
func (s streams) open(ctx context.Context, part lathe.PartID, tool bool) (*openText, error) {
	t := s.texts.known(part)
	if t == nil {
		var err error
		if t, err = s.find(ctx, part); err != nil {
			return nil, err
		}
	}
	if t.tool != tool {
		return nil, errors.New("a text shows no progress, and a tool call takes no text")
	}
	s.texts.remember(part, t)
	return t, nil
}

func (s streams) find(ctx context.Context, part lathe.PartID) (*openText, error) {
	r := partRow{id: part}
	err := s.reader.QueryRowContext(context.WithoutCancel(ctx),
		`SELECT n, kind, open, rev, size FROM part WHERE id = ?`, part).Scan(&r.n, &r.kind, &r.open, &r.rev, &r.size)
	if err != nil {
		return nil, missing(err)
	}
	if !r.streams() {
		return nil, fmt.Errorf("a closed part or one of kind %s takes no text", r.kind)
	}
	t := &openText{id: r.text(), tool: r.kind == codec.KindTool, base: r.size}
	t.size, err = s.texts.Size(t.id)
	return t, err
}

// maxProgress is the size from which a progress file is moved into the row.
const maxProgress = 512 << 10

// SaveProgress implements [store.Streams].
func (s streams) SaveProgress(ctx context.Context, p *lathe.Part) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return fmt.Errorf("save progress of part %s: it is not a tool call", p.ID)
	}
	run, ok := call.State.(*lathe.ToolRunning)
	if !ok {
		return nil
	}
	t, err := s.open(ctx, p.ID, true)
	full := false
	if err == nil {
		full, err = s.show(t, run)
	}
	if err == nil && full {
		err = s.batch(ctx, func(tx *tx) error { return tx.takeProgress(p, t) })
	}
	if err != nil {
		return s.explain(fmt.Errorf("save progress of part %s: %w", p.ID, err))
	}
	return nil
}

// show writes what changed in the progress of a call.
func (s streams) show(t *openText, run *lathe.ToolRunning) (full bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size >= maxProgress || t.shown == nil && t.size > 0 {
		return true, nil // the next file begins again
	}
	now, err := codec.Showing(run)
	if err != nil {
		return false, err
	}
	line, err := now.Line(t.shown)
	if err != nil {
		return false, err
	}
	if err := s.texts.Write(t.id, t.size, string(line)); err != nil {
		return false, err
	}
	t.size, t.shown = t.size+int64(len(line)), now
	return false, nil
}

// takeProgress moves it into the row, unless the row was written in the meantime.
func (tx *tx) takeProgress(p *lathe.Part, t *openText) error {
	var rev int64
	err := tx.row(`SELECT rev FROM part WHERE n = ?`, t.id.Row).Scan(&rev)
	if err != nil || rev != t.id.Revision {
		return missing(err)
	}
	return tx.PutPart(p)
}
