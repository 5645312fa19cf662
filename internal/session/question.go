package session

import (
	"context"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/commit"
	"lathe/internal/tool"
)

// maxAnswer bounds one typed answer.
const maxAnswer = 64 << 10

// Questions holds the questions from tools that are waiting for the user's answer.
// It is safe for concurrent use.
type Questions struct {
	writer *commit.Writer
	ids    *lathe.IDs

	mu      sync.Mutex
	waiting []*question // oldest first
}

type question struct {
	ask    lathe.QuestionAsk
	dir    string
	answer chan [][]string // holds one; nil means dismissed
}

// ask puts the questions of a tool call to the user and waits. A dismissed
// question returns a *[builtin.Dismissed]; the end of the context withdraws the
// questions.
func (s *Questions) ask(ctx context.Context, dir string, call *tool.Call, list []lathe.Question) ([][]string, error) {
	q := &question{
		ask: lathe.QuestionAsk{
			ID: lathe.AskID(s.ids.New(lathe.PrefixQuestion)), SessionID: call.SessionID, Questions: list,
			Tool: &lathe.ToolRef{MessageID: call.MessageID, CallID: call.CallID},
		},
		dir: dir, answer: make(chan [][]string, 1),
	}
	s.mu.Lock()
	s.waiting = append(s.waiting, q)
	s.writer.Tell(q.dir, lathe.QuestionAsked{Ask: q.ask})
	s.mu.Unlock()
	select {
	case answers := <-q.answer:
		if answers == nil {
			return nil, &builtin.Dismissed{}
		}
		return answers, nil
	case <-ctx.Done():
		_ = s.settle(q.ask.ID, nil) // an answer that came just before is lost with the turn
		return nil, context.Cause(ctx)
	}
}

// List returns the questions that wait in a directory, oldest first; an
// empty directory means all.
func (s *Questions) List(dir string) []lathe.QuestionAsk {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []lathe.QuestionAsk{}
	for _, q := range s.waiting {
		if dir == "" || dir == q.dir {
			out = append(out, q.ask)
		}
	}
	return out
}

// Answer answers a set of questions: for each one, the labels that were chosen
// or the text that was typed; an empty list means unanswered.
func (s *Questions) Answer(_ context.Context, id lathe.AskID, answers [][]string) error {
	q := s.find(id)
	if q == nil {
		return noQuestion(id)
	}
	answers, err := checkAnswers(q.ask.Questions, answers)
	if err != nil {
		return err
	}
	return s.settle(id, answers)
}

// Reject dismisses a question; the turn that asked stops.
func (s *Questions) Reject(_ context.Context, id lathe.AskID) error {
	return s.settle(id, nil)
}

func (s *Questions) find(id lathe.AskID) *question {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.waiting {
		if q.ask.ID == id {
			return q
		}
	}
	return nil
}

// settle ends the wait for an answer; nil answers dismiss the questions.
func (s *Questions) settle(id lathe.AskID, answers [][]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.waiting, func(q *question) bool { return q.ask.ID == id })
	if i < 0 {
		return noQuestion(id)
	}
	q := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	if answers == nil {
		s.writer.Tell(q.dir, lathe.QuestionRejected{SessionID: q.ask.SessionID, AskID: id})
	} else {
		s.writer.Tell(q.dir, lathe.QuestionReplied{SessionID: q.ask.SessionID, AskID: id, Answers: answers})
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
		return nil, lathe.Errorf(lathe.CodeInvalid, "give one list for each question", "questions: %d, answers: %d", len(list), len(answers))
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
