package client

import (
	"context"
	"net/http"

	"lathe"
	"lathe/internal/api"
)

// Notes returns what the person noted about a session.
func (c sessions) Notes(ctx context.Context, id lathe.SessionID) (api.Notes, error) {
	if err := plausible(id); err != nil {
		return api.Notes{}, err
	}
	return get(ctx, c.conn, "/lathe"+sessionPath(id)+"/notes", nil, plain[api.Notes])
}

// Note changes the notes of a session, and returns them.
func (c sessions) Note(ctx context.Context, id lathe.SessionID, in api.NotesChange) (api.Notes, error) {
	if err := plausible(id); err != nil {
		return api.Notes{}, err
	}
	return post(ctx, c.conn, "/lathe"+sessionPath(id)+"/notes", in, plain[api.Notes])
}

// Attend makes the engine tell, as events, what other processes on its machine do in a session.
func (c sessions) Attend(ctx context.Context, id lathe.SessionID) error {
	if err := plausible(id); err != nil {
		return err
	}
	_, err := c.call(ctx, http.MethodPost, "/lathe"+sessionPath(id)+"/attend", nil, struct{}{})
	return err
}
