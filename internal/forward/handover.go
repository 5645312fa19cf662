package forward

import (
	"context"
	"encoding/json"
	"net/http"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/store"
)

// Continue has another server go on with the turn of a prompt that this one leaves, unless
// what was queued for the session says so already.
func (f *Forwarder) Continue(ctx context.Context, sess lathe.Session, prompt lathe.MessageID) error {
	open, err := f.o.Store.Queue.Open(ctx, sess.ID)
	if err != nil || open {
		return err
	}
	body, err := json.Marshal(map[string]lathe.MessageID{"messageID": prompt})
	if err != nil {
		return err
	}
	w := store.Work{Session: sess.ID, Directory: sess.Directory}
	if w.Person, err = f.o.Store.Belongings.Claimant(ctx, sess.ID); err != nil {
		return err
	}
	if w.Root, _, err = f.o.Store.Queue.Offers(ctx, sess.Directory); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(people.With(ctx, w.Person), http.MethodPost, "http://lathe/lathe/session/"+string(sess.ID)+"/continue", http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if w.Body, err = json.Marshal(letter(r, body)); err != nil {
		return err
	}
	_, err = f.o.Store.Queue.Add(ctx, w)
	return err
}
