package session

import (
	"context"
	"strings"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/prompt"
	"lathe/internal/tool"
)

// JobOwner returns the session that owns the jobs of a session's calls: a
// subagent's jobs belong to the session it works for.
func (s sessions) JobOwner(ctx context.Context, id lathe.SessionID) lathe.SessionID {
	sess, err := s.opts.Store.Session(ctx, id)
	if err != nil {
		return id
	}
	return top(ctx, s.opts.Store, sess).ID
}

func (s *Service) endJobs(id lathe.SessionID) {
	if s.opts.Jobs != nil {
		s.opts.Jobs.End(id)
	}
}

// jobNews returns what the model has to be told about the session's jobs and about
// errors that language servers found late, or "". A subagent is told nothing, because
// the session it works for is.
func (r *runner) jobNews() string {
	var news []string
	if r.s.opts.Jobs != nil {
		news = r.s.opts.Jobs.News(r.current().ID)
	}
	if late := builtin.LateReport(r.inst.Languages.News()); late != "" {
		news = append(news, late)
	}
	if len(news) == 0 {
		return ""
	}
	return prompt.Reminder(strings.Join(news, "\n"))
}

// withNews adds to a result what has happened to jobs and to the mode of approval in the
// meantime, so that the model learns of it in its next step.
func (r *runner) withNews(cut func(tool.Result) tool.Result) func(tool.Result) tool.Result {
	return func(res tool.Result) tool.Result {
		res = cut(res)
		for _, news := range []string{r.jobNews(), r.modeNews()} {
			if news != "" {
				res.Output += "\n\n" + news
			}
		}
		return res
	}
}
