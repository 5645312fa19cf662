package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/importer"
)

// imports answers requests to import sessions from files on this machine.
type imports struct{ *call }

func importRoutes() []route {
	return []route{
		{http.MethodPost, "/lathe/import", on(imports.run), ""},
		{http.MethodGet, "/lathe/elsewhere", on(imports.elsewhere), ""},
	}
}

// lookTime bounds the look at what other programs have.
const lookTime = 3 * time.Second

// elsewhere answers what other programs have on this machine.
func (c imports) elsewhere() (any, error) {
	if err := c.needAnywhere(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx(), lookTime)
	defer cancel()
	found, err := c.machine().Look(ctx)
	if found == nil {
		found = []api.Elsewhere{}
	}
	return found, err
}

// machine says where other programs keep what they have.
func (c imports) machine() importer.Machine {
	has := func(ctx context.Context, id lathe.SessionID) bool {
		_, err := c.s.opts.Service.Get(ctx, id)
		return err == nil
	}
	return importer.Machine{Paths: c.s.opts.Paths, Getenv: c.s.opts.Getenv, Has: has}
}

// run imports what a path names, or what was made for a program, and answers with a line of
// JSON for each thing that happens. A client that leaves ends it.
func (c imports) run() (any, error) {
	dir, err := c.dir()
	if err == nil {
		err = c.needAnywhere()
	}
	var in api.Import
	if err == nil {
		err = c.need(&in)
	}
	if err != nil {
		return nil, err
	}
	rc := http.NewResponseController(c.w)
	_ = rc.SetReadDeadline(time.Time{})
	c.w.Header().Set("Content-Type", "application/x-ndjson")
	lines, begun := json.NewEncoder(c.w), false
	tell := func(n api.ImportNews) error {
		begun = true
		_ = rc.SetWriteDeadline(time.Now().Add(c.s.patience.Stall))
		return errors.Join(lines.Encode(n), rc.Flush())
	}
	if in.Program != "" {
		err = c.machine().Adopt(c.ctx(), in, func(n api.ImportNews) error {
			if n.Sum != nil && !in.DryRun && len(c.s.opts.Service.Statuses(dir)) == 0 {
				// Who asks for the commands now gets the new ones, too.
				if err := c.s.opts.Service.Dispose(context.WithoutCancel(c.ctx()), dir); err != nil {
					return err
				}
			}
			return tell(n)
		})
	} else {
		err = importer.Importer{Service: c.s.opts.Service, OpenCode: c.s.opts.Paths.OpenCodeData}.Run(c.ctx(), dir, in, tell)
	}
	if err == nil || !begun {
		return done{}, err
	}
	why := api.ImportFailure{Code: lathe.CodeOf(err), Message: err.Error()}
	if e, ok := errors.AsType[*lathe.Error](err); ok {
		why.Message, why.Hint = e.Msg, e.Hint
	}
	_ = tell(api.ImportNews{Failed: &why})
	return done{}, nil
}
