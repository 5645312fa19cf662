package client

import (
	"context"

	"lathe/internal/api"
)

// Corrections returns where the person corrected what was done in the sessions of the
// directory's project. No model is asked.
func (c directory) Corrections(ctx context.Context) (api.Corrections, error) {
	return get(ctx, c.conn, "/lathe/learn", nil, plain[api.Corrections])
}

// Lessons asks a model what the project's instructions should say. Nothing is written.
func (c directory) Lessons(ctx context.Context, in api.LessonRequest) (api.Lessons, error) {
	return post(ctx, c.conn, "/lathe/learn", in, plain[api.Lessons])
}
