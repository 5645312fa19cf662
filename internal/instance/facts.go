package instance

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lathe/internal/prompt"
	"lathe/internal/surroundings"
	"lathe/internal/worktree"
)

const (
	factsWait = 50 * time.Millisecond // for git, which in most projects answers in five
	maxDirty  = 8                     // changed files that are named
)

// Facts begins to look at the surroundings of a session that starts in the
// directory; the returned function gives what was found. It waits for git a moment
// only: in a huge project what is not committed stays untold.
func (i *Instance) Facts(ctx context.Context) func() []prompt.Fact {
	dirty := make(chan string, 1)
	go func() { dirty <- i.dirty(ctx) }()
	return func() (facts []prompt.Fact) {
		add := func(name, text string) {
			if text != "" {
				facts = append(facts, prompt.Fact{Name: name, Text: text})
			}
		}
		add("Operating system", surroundings.System())
		if i.Root.VCS == "git" {
			add("Branch", orText(worktree.Branch(i.Root), "none (detached)"))
		}
		add("Top level", surroundings.Top(i.Root.Dir))
		add("Toolchains", surroundings.Toolchains(i.Root.Dir, searchPath(i.Shell.Env)))
		wait := time.NewTimer(factsWait)
		defer wait.Stop()
		select {
		case text := <-dirty:
			add("Not committed at the start", text)
		case <-wait.C:
		case <-ctx.Done():
		}
		return facts
	}
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// dirty tells which files are changed and not committed; nothing outside git, and
// where git does not say.
func (i *Instance) dirty(ctx context.Context) string {
	repo, err := worktree.Open(worktree.Options{Root: i.Root, Environ: i.Shell.Env, Trusted: i.Trust.Given})
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	files, all, err := repo.Dirty(ctx, maxDirty)
	switch {
	case err != nil:
		return ""
	case all == 0:
		return "nothing"
	}
	for n, f := range files {
		files[n] = surroundings.Shown(f)
	}
	text := strings.Join(files, ", ")
	if more := all - len(files); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
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
