package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"lathe"
	"lathe/internal/store/local"
)

// overlay adds the streamed text to the open parts that were loaded. It runs
// after the snapshot is released: it may need a connection of its own.
func (s messages) overlay(ctx context.Context, l *loader) error {
	for _, o := range l.open {
		p := &l.messages[o.message].Parts[o.part]
		err := s.texts.add(p, o.text)
		if errors.Is(err, fs.ErrNotExist) {
			err = s.reload(ctx, p, o.text)
		}
		if err != nil {
			return fmt.Errorf("text of part %s: %w", p.ID, err)
		}
	}
	return nil
}

// reload finds out why there is no file: nothing was streamed yet, or the row
// took the text over since it was read.
func (s messages) reload(ctx context.Context, p *lathe.Part, was local.Text) error {
	var r partRow
	err := s.read(ctx, func(v *view) error {
		err := v.row(`SELECT `+partColumns+` FROM part WHERE n = ?`, was.Row).Scan(r.dest()...)
		if err != nil || r.rev == was.Revision {
			return err
		}
		now, err := v.part(&r, p.SessionID, p.MessageID)
		if err == nil && now.Body != nil {
			*p = now
		}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil // removed in the meantime: what was read was true then
	}
	if err != nil || r.rev == was.Revision || !r.streams() {
		return err
	}
	if err = s.texts.add(p, r.text()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
