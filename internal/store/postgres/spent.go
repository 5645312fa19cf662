package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// A removed answer leaves its cost behind, so that statistics still count it. A
// copy leaves nothing: it is counted where it was made.

// spending keeps what answers cost.
type spending struct{ *tx }

// keep records the cost of answers that are about to be removed from a
// session: one of them, or all if message is empty.
func (tx spending) keep(session lathe.SessionID, message lathe.MessageID) error {
	gone, err := tx.answers(session, message)
	if err != nil {
		return err
	}
	for _, a := range gone {
		a.Session = session
		if err := tx.count(a.id, a.Answer); err != nil {
			return err
		}
	}
	return nil
}

// AddSpent counts what a model was asked beside the messages.
func (tx *tx) AddSpent(id lathe.MessageID, a store.Answer) error {
	info := *a.Assistant
	info.Completed = time.Time{} // which tells it from an answer
	a.Assistant = &info
	return spending{tx}.count(id, a)
}

func (tx spending) count(id lathe.MessageID, a store.Answer) error {
	var e codec.Encoder
	_, doc, err := e.Info(&lathe.Assistant{Agent: a.Agent, Model: a.Model, Completed: a.Completed, Cost: a.Cost, Tokens: a.Tokens})
	if err == nil {
		_, err = tx.exec(`INSERT INTO spent (message, session, project, directory, created, data) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (message, session) DO UPDATE SET created = excluded.created, data = excluded.data`,
			string(id), string(a.Session), a.Project, a.Directory, codec.Millis(a.Created), tx.db.pack(doc))
	}
	if err != nil {
		return fmt.Errorf("keep what answer %s cost: %w", id, err)
	}
	return nil
}

type paidAnswer struct {
	id lathe.MessageID
	store.Answer
}

func (tx spending) answers(session lathe.SessionID, message lathe.MessageID) (out []paidAnswer, err error) {
	err = tx.rows(func(row pgx.Row) error {
		var a paidAnswer
		var r messageRead
		if err := r.scan(row, &a.Project, &a.Directory); err != nil {
			return err
		}
		m, err := tx.decodeMessage(&r, nil)
		info, ok := m.Info.(*lathe.Assistant)
		if err != nil || !ok || info.Cost == 0 && info.Tokens == (lathe.Tokens{}) {
			return err
		}
		a.id, a.Created, a.Assistant = m.ID, m.Created, info
		out = append(out, a)
		return nil
	}, `SELECT s.project, s.directory, `+messageColumns+` FROM session s JOIN message m ON m.session = s.n
		WHERE s.id = $1 AND m.role = '`+codec.RoleAssistant+`' AND (m.id = $2 OR $2 = '')`+own, string(session), string(message))
	return out, err
}
