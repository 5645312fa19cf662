package client

import (
	"context"

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
