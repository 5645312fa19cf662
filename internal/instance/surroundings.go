package instance

import (
	"context"
	"strings"

	"lathe/internal/prompt"
	"lathe/internal/surroundings"
	"lathe/internal/worktree"
)

// Surroundings are what a session is told of the place where it starts.
type Surroundings struct {
	place       *place
	shell       *Shell
	uncommitted *uncommitted
}

func newSurroundings(p *place, s *Shell) *Surroundings {
	return &Surroundings{p, s, newUncommitted(func(ctx context.Context) string { return dirty(ctx, p, s.Env) })}
}

// Expect says that a session is about to start in the directory: git begins to look at
// what is not committed while that session is stored and its first prompt comes.
func (s *Surroundings) Expect() { s.uncommitted.expect() }

// Facts begins to look at the surroundings of a session that starts in the directory; the
// returned function waits for the result.
func (s *Surroundings) Facts(ctx context.Context) func() []prompt.Fact {
	dirty := s.uncommitted.take()
	return func() (facts []prompt.Fact) {
		add := func(name, text string) {
			if text != "" {
				facts = append(facts, prompt.Fact{Name: name, Text: text})
			}
		}
		add("Operating system", surroundings.System())
		if s.place.Root.VCS == "git" {
			add("Branch", orText(worktree.Branch(s.place.Root), "none (detached)"))
		}
		add("Top level", surroundings.Top(s.place.Root.Dir))
		add("Toolchains", surroundings.Toolchains(s.place.Root.Dir, searchPath(s.shell.Env)))
		add("Not committed at the start", dirty.wait(ctx))
		return facts
	}
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// searchPath is where commands find programs.
func searchPath(env []string) (path string) {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	return path
}
