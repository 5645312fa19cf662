package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"lathe"
)

// The text of an open part is the text in its row followed by what is in its
// file. What a running tool call shows is in its file alone, or in its row if
// there is no file. The file's name holds the row's revision: every write of the
// row takes over what the file says and so leaves it behind, whether or not the
// process lives to remove it.

// texts remembers how long the texts being streamed are.
type texts struct {
	mu sync.Mutex
	m  map[lathe.PartID]*openText
}

// maxTexts bounds what is remembered; what is forgotten is looked up again.
const maxTexts = 1024

type openText struct {
	mu     sync.Mutex
	n, rev int64
	base   int64 // bytes in the row
	size   int64 // bytes in the file
	tool   bool
	shown  *shownState // of a tool call: what the file says; nil: not known
}

func (s *DB) openDir() string { return filepath.Join(s.dir, "open") }

func textName(n, rev int64) string {
	return strconv.FormatInt(n, 10) + "-" + strconv.FormatInt(rev, 10)
}

func (s *DB) textPath(n, rev int64) string { return filepath.Join(s.openDir(), textName(n, rev)) }

// AppendText appends to the text of an open text or reasoning part, of which
// offset bytes are there already. Text that was stored before is not stored
// again, so a call may be repeated; a gap is an error. One goroutine at a time
// writes to a part. The text survives the process, and like the database the
// last moments of it may be lost with the machine.
func (s *DB) AppendText(ctx context.Context, part lathe.PartID, offset int64, text string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t, err := s.openText(ctx, part, false)
	if err == nil {
		err = s.appendText(t, offset, text)
	}
	if err != nil {
		return s.explain(fmt.Errorf("append text to part %s: %w", part, err))
	}
	return nil
}

func (s *DB) appendText(t *openText, offset int64, text string) error {
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
	f, err := os.OpenFile(s.textPath(t.n, t.rev), os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	if _, err = f.Seek(t.size, io.SeekStart); err == nil {
		_, err = f.WriteString(text[skip:])
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	t.size += int64(len(text)) - skip
	return nil
}

// openText returns the file of an open text, or of a tool call.
func (s *DB) openText(ctx context.Context, part lathe.PartID, tool bool) (*openText, error) {
	s.texts.mu.Lock()
	t := s.texts.m[part]
	s.texts.mu.Unlock()
	if t == nil {
		var err error
		if t, err = s.findText(ctx, part); err != nil {
			return nil, err
		}
	}
	if t.tool != tool {
		return nil, errors.New("a text shows no progress, and a tool call takes no text")
	}
	s.texts.mu.Lock()
	defer s.texts.mu.Unlock()
	if s.texts.m == nil || len(s.texts.m) >= maxTexts {
		s.texts.m = map[lathe.PartID]*openText{}
	}
	s.texts.m[part] = t
	return t, nil
}

func (s *DB) findText(ctx context.Context, part lathe.PartID) (*openText, error) {
	r := partRow{id: part}
	err := s.reader.QueryRowContext(context.WithoutCancel(ctx),
		`SELECT n, kind, open, rev, size FROM part WHERE id = ?`, part).Scan(&r.n, &r.kind, &r.open, &r.rev, &r.size)
	if err != nil {
		return nil, missing(err)
	}
	if !r.streams() {
		return nil, fmt.Errorf("a closed part or one of kind %s takes no text", r.kind)
	}
	if err := os.MkdirAll(s.openDir(), dirMode); err != nil {
		return nil, err
	}
	t := &openText{n: r.n, rev: r.rev, tool: r.kind == kindTool, base: r.size}
	fi, err := os.Stat(s.textPath(r.n, r.rev))
	if err == nil {
		t.size = fi.Size()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return t, nil
}

// dropText forgets a text that the row took over.
func (s *DB) dropText(part lathe.PartID, n, rev int64) {
	s.texts.mu.Lock()
	delete(s.texts.m, part)
	s.texts.mu.Unlock()
	os.Remove(s.textPath(n, rev)) // usually there is none; a sweep gets what stays
}

// overlay adds the streamed text to the open parts that were loaded. It runs
// after the snapshot is released: it may need a connection of its own.
func (s *DB) overlay(ctx context.Context, l *loader) error {
	for _, o := range l.open {
		p := &l.messages[o.message].Parts[o.part]
		err := s.addText(p, o.n, o.rev)
		if errors.Is(err, fs.ErrNotExist) {
			err = s.reload(ctx, p, o)
		}
		if err != nil {
			return fmt.Errorf("text of part %s: %w", p.ID, err)
		}
	}
	return nil
}

func (s *DB) addText(p *lathe.Part, n, rev int64) error {
	more, err := os.ReadFile(s.textPath(n, rev))
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
			addProgress(run, more)
		}
	}
	return nil
}

// reload looks why there is no file: nothing was streamed yet, or the row took
// the text over since it was read.
func (s *DB) reload(ctx context.Context, p *lathe.Part, o openPart) error {
	var r partRow
	err := s.read(ctx, func(v *view) error {
		err := v.row(`SELECT `+partColumns+` FROM part WHERE n = ?`, o.n).Scan(r.dest()...)
		if err != nil || r.rev == o.rev {
			return err
		}
		now, err := v.part(&r, p.SessionID, p.MessageID)
		if err == nil && now.Body != nil {
			*p = now
		}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil // removed meanwhile: what was read was true then
	}
	if err != nil || r.rev == o.rev || !r.streams() {
		return err
	}
	if err = s.addText(p, r.n, r.rev); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
