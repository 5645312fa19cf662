package server

import (
	"context"
	"errors"
	"net/http"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/store"
)

// mayHave says what is wrong when a person reads, or changes, a session. About one that
// there is not it says nothing: the route does.
func mayHave(ctx context.Context, st *store.Store, g store.Grant, id lathe.SessionID, change bool) error {
	sess, err := st.Session(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := mayWorkIn(g, sess.Directory); err != nil || !change || g.Role == people.Owner {
		return err
	}
	whose, err := st.Belongings.Claimant(ctx, id)
	if err == nil && whose != "" && whose != g.Name {
		err = lathe.Errorf(lathe.CodePermission, "fork it, or ask for it: lathe user give "+string(id)+" "+g.Name, "session %s belongs to %s", id, whose)
	}
	return err
}

// mayChange says what is wrong when the caller changes a session that the path of the request
// does not name. It also holds for what another server passed on, which comes with the name of
// the person alone.
func (c *call) mayChange(id lathe.SessionID) error {
	g, ok := c.granted()
	st := c.s.opts.Store
	if !ok {
		name := people.From(c.ctx())
		if name == "" || st == nil || st.People == nil {
			return nil // nobody has a name here, or it is the server's own password
		}
		p, err := st.People.Person(c.ctx(), name)
		if err != nil {
			return err
		}
		g.Person = p
	}
	if id == "" || g.Role == people.Owner && len(g.Projects) == 0 {
		return nil
	}
	return mayHave(c.ctx(), st, g, id, true)
}

// sessionOfThing returns the session of a job, an ask or a question that a route of that kind
// names; "" if this process has none of that name.
func (s *Server) sessionOfThing(r *http.Request, kind, id string) lathe.SessionID {
	switch kind {
	case "job":
		return s.sessionOfJob(id)
	case "permission":
		return s.sessionOfAsk(r.Context(), lathe.AskID(id))
	case "question":
		q, _ := s.question(lathe.AskID(id))
		return q.SessionID
	}
	return ""
}

// sessionOfJob says nothing of a job of another server, which checks it itself.
func (s *Server) sessionOfJob(id string) lathe.SessionID {
	if s.opts.Jobs == nil {
		return ""
	}
	j, err := s.opts.Jobs.Get("", id)
	if err != nil {
		return ""
	}
	return j.Info().Session
}

func (s *Server) sessionOfAsk(ctx context.Context, id lathe.AskID) lathe.SessionID {
	for _, dir := range s.opts.Service.Instances.Directories() {
		for _, ask := range s.opts.Service.Instances.Asks(ctx, dir) {
			if ask.ID == id {
				return ask.SessionID
			}
		}
	}
	return ""
}

// question returns questions that wait in this process.
func (s *Server) question(id lathe.AskID) (q lathe.QuestionAsk, ok bool) {
	for _, q := range s.opts.Service.Questions.List("") {
		if q.ID == id {
			return q, true
		}
	}
	return q, false
}
