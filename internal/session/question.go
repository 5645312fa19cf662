package session

import (
	"context"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/instance"
	"lathe/internal/tool"
)

// maxAnswer bounds one typed answer.
const maxAnswer = 64 << 10

// questions are those that wait for an answer. The zero value is ready.
type questions struct {
	mu      sync.Mutex
	waiting []*question // oldest first
}

type question struct {
	ask    lathe.QuestionAsk
	dir    string
	answer chan [][]string // holds one; nil means dismissed
}

// Ask puts the questions of a tool call to the user and waits. A dismissed
// question is a *[builtin.Dismissed]; the end of the context withdraws it.
func (s sessions) Ask(ctx context.Context, i *instance.Instance, call *tool.Call, list []lathe.Question) ([][]string, error) {
	q := &question{
		ask: lathe.QuestionAsk{
			ID: lathe.AskID(s.opts.IDs.New(lathe.PrefixQuestion)), SessionID: call.SessionID, Questions: list,
			Tool: &lathe.ToolRef{MessageID: call.MessageID, CallID: call.CallID},
		},
		dir: i.Root.Dir, answer: make(chan [][]string, 1),
	}
	s.questions.mu.Lock()
	s.questions.waiting = append(s.questions.waiting, q)
	s.opts.Writer.Tell(q.dir, lathe.QuestionAsked{Ask: q.ask})
	s.questions.mu.Unlock()
	select {
	case answers := <-q.answer:
		if answers == nil {
			return nil, &builtin.Dismissed{}
		}
		return answers, nil
	case <-ctx.Done():
		_ = s.settleQuestion(q.ask.ID, nil) // an answer that came first is lost with the turn
		return nil, context.Cause(ctx)
	}
}

// Questions returns the questions that wait in a directory, oldest first; an
// empty directory means all.
func (s *Service) Questions(dir string) []lathe.QuestionAsk {
	s.questions.mu.Lock()
	defer s.questions.mu.Unlock()
	out := []lathe.QuestionAsk{}
	for _, q := range s.questions.waiting {
		if dir == "" || dir == q.dir {
			out = append(out, q.ask)
		}
	}
	return out
}

// Answer answers a question: for each of its questions the labels that were
// chosen or what was typed; nothing means unanswered.
func (s *Service) Answer(_ context.Context, id lathe.AskID, answers [][]string) error {
	q := s.question(id)
	if q == nil {
		return noQuestion(id)
	}
	answers, err := checkAnswers(q.ask.Questions, answers)
	if err != nil {
		return err
	}
	return s.settleQuestion(id, answers)
}

// RejectQuestion dismisses a question; the turn that asked stops.
func (s *Service) RejectQuestion(_ context.Context, id lathe.AskID) error {
	return s.settleQuestion(id, nil)
}

func (s *Service) question(id lathe.AskID) *question {
	s.questions.mu.Lock()
	defer s.questions.mu.Unlock()
	for _, q := range s.questions.waiting {
		if q.ask.ID == id {
			return q
		}
	}
	return nil
}

// settleQuestion ends a waiting question; nil answers dismiss it.
func (s *Service) settleQuestion(id lathe.AskID, answers [][]string) error {
	s.questions.mu.Lock()
	defer s.questions.mu.Unlock()
	i := slices.IndexFunc(s.questions.waiting, func(q *question) bool { return q.ask.ID == id })
	if i < 0 {
		return noQuestion(id)
	}
	q := s.questions.waiting[i]
	s.questions.waiting = slices.Delete(s.questions.waiting, i, i+1)
	if answers == nil {
		s.opts.Writer.Tell(q.dir, lathe.QuestionRejected{SessionID: q.ask.SessionID, AskID: id})
	} else {
		s.opts.Writer.Tell(q.dir, lathe.QuestionReplied{SessionID: q.ask.SessionID, AskID: id, Answers: answers})
	}
	q.answer <- answers
	return nil
}

func noQuestion(id lathe.AskID) error {
	return lathe.Errorf(lathe.CodeNotFound, "it may have been answered or withdrawn", "no question %q is waiting", id)
}

// checkAnswers returns one list of answers for each question, never nil.
func checkAnswers(list []lathe.Question, answers [][]string) ([][]string, error) {
	if len(answers) > len(list) {
		return nil, lathe.Errorf(lathe.CodeInvalid, "give one list for each question", "%d answers to %d questions", len(answers), len(list))
	}
	out := make([][]string, len(list))
	for i, q := range list {
		out[i] = []string{}
		if i < len(answers) {
			out[i] = slices.Clone(answers[i])
		}
		if len(out[i]) > 1 && !q.Multiple {
			return nil, lathe.Errorf(lathe.CodeInvalid, "give one", "%q takes one answer", q.Text)
		}
		for _, a := range out[i] {
			offered := slices.ContainsFunc(q.Options, func(o lathe.QuestionOption) bool { return o.Label == a })
			if !offered && !q.Custom {
				return nil, lathe.Errorf(lathe.CodeInvalid, "choose one of the options", "%q is not an answer to %q", a, q.Text)
			}
			if len(a) > maxAnswer {
				return nil, lathe.Errorf(lathe.CodeInvalid, "shorten it", "an answer of %d bytes is longer than %d", len(a), maxAnswer)
			}
		}
	}
	return out, nil
}
