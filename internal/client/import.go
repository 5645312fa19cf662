package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"lathe"
	"lathe/internal/api"
)

// Import imports sessions from files on the engine's machine, and yields what
// happens. If the caller stops reading, the import ends; what has been stored stays.
func (c sessions) Import(ctx context.Context, in api.Import) iter.Seq2[api.ImportNews, error] {
	return func(yield func(api.ImportNews, error) bool) {
		resp, err := c.request(ctx, http.MethodPost, "/lathe/import", nil, in)
		if err != nil {
			yield(api.ImportNews{}, err)
			return
		}
		defer resp.Body.Close()
		for lines := json.NewDecoder(resp.Body); ; {
			var n api.ImportNews
			err := lines.Decode(&n)
			switch {
			case err != nil && ctx.Err() != nil:
				err = context.Cause(ctx)
			case errors.Is(err, io.EOF):
				err = c.unreachable(errors.New("the import broke off"))
			case err != nil:
				err = c.unreachable(fmt.Errorf("read the server's answer: %w", err))
			case n.Failed != nil:
				err = &lathe.Error{Code: n.Failed.Code, Msg: n.Failed.Message, Hint: n.Failed.Hint}
			}
			if !yield(n, err) || err != nil || n.Sum != nil {
				return
			}
		}
	}
}

// Elsewhere tells what other programs have on the engine's machine.
func (c sessions) Elsewhere(ctx context.Context) ([]api.Elsewhere, error) {
	return get(ctx, c.conn, "/lathe/elsewhere", nil, plain[[]api.Elsewhere])
}
