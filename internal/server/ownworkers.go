package server

import (
	"net/http"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/store"
)

// workers answers who works for the servers that share the store.
type workers struct{ *call }

func workerRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/workers", on(workers.list), ""},
	}
}

func (c workers) list() (any, error) {
	out := api.Workers{Workers: []api.Worker{}, Work: []api.QueuedWork{}}
	q := c.s.opts.Store.Queue
	if q == nil {
		return out, nil
	}
	if c.s.asks() { // without one, what workers offer may be worked in
		if err := c.needAnywhere(); err != nil {
			return nil, err
		}
	}
	state, err := q.State(c.ctx())
	if err != nil {
		return nil, err
	}
	out.Shared = true
	for _, w := range state.Workers {
		out.Workers = append(out.Workers, tellWorker(w, state.Open))
	}
	now := c.s.opts.Now()
	for _, w := range state.Open {
		work := api.QueuedWork{SessionID: w.Session, Directory: w.Directory, Person: w.Person, Added: w.Added.UnixMilli(), Waited: max(0, now.Sub(w.Added).Milliseconds())}
		if w.By.ID != "" {
			work.Worker, work.Taken, work.Waited = w.By.Name, w.Taken.UnixMilli(), w.Taken.Sub(w.Added).Milliseconds()
		}
		out.Work = append(out.Work, work)
	}
	return out, nil
}

func tellWorker(w store.Worker, open []store.Work) api.Worker {
	out := api.Worker{Name: w.Name, Directories: w.Directories, Remotes: w.Remotes, Turns: w.Turns, State: "ready", Since: w.Since.UnixMilli()}
	switch {
	case !w.Living:
		out.State = "gone"
	case w.Turns == 0:
		out.State = "stopping"
	}
	sessions := map[lathe.SessionID]bool{}
	for _, work := range open {
		if work.By.ID == w.ID && !sessions[work.Session] {
			sessions[work.Session] = true
			out.Running++
		}
	}
	return out
}
