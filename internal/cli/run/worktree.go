package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// sideOptions say that a run works beside the files of the directory.
type sideOptions struct {
	worktree bool
	models   []string
	check    string
}

func (s *sideOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.worktree, "worktree", false, "work in a git worktree of its own; see: lathe worktree")
	f.StringSliceVar(&s.models, "models", nil, "give the request to several models side by side, each in a worktree, and compare: a,b,c")
	f.StringVar(&s.check, "check", "", "with --models: command that says by its exit code whether the work is good, such as \"go test ./...\"")
}

// checkSide validates what can be validated before anything is opened.
func (o *Options) checkSide() error {
	s := o.side
	if s.check != "" && len(s.models) == 0 {
		return console.Usagef("--check is for --models")
	}
	if !s.worktree && len(s.models) == 0 {
		return nil
	}
	if o.Cont || o.Session != "" {
		return console.Usagef("--worktree and --models begin a session of their own; leave --continue and --session out")
	}
	if len(s.models) == 0 {
		return nil
	}
	if o.Model != "" || o.shell || o.share || o.keepJobs || o.command != "" {
		return console.Usagef("--models goes with none of --model, --shell, --share, --keep-jobs and --command")
	}
	if o.permission == "ask" {
		o.permission = "deny" // several would ask at once
	}
	return nil
}

// inWorktree runs the request in a worktree of its own, and says what it changed there.
func inWorktree(ctx context.Context, env *console.Env, f *face.Face, o Options, message string, files []lathe.PartBody, limits api.Limits) error {
	w, err := f.CreateWorktree(ctx, shortName(message))
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: working in %s, branch %s\n", console.Clean(w.Directory), console.Clean(w.Branch))
	side := *f
	side.Client = f.In(f.PlaceIn(ctx, w))
	ran := runIn(ctx, env, &side, o, message, files, limits)
	return errors.Join(ran, f.TellWork(context.WithoutCancel(ctx), env, w.Name, false))
}

// shortName makes the name of a worktree from the first words of a request.
func shortName(message string) string {
	words := strings.FieldsFunc(message, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == filepath.Separator })
	name := ""
	for _, word := range words {
		if len(name)+len(word) > 30 {
			break
		}
		name += word + " "
	}
	if strings.IndexFunc(name, func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 0x7f
	}) < 0 {
		return ""
	}
	return name
}
