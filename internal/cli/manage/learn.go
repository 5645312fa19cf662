package manage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/learn"
	"lathe/internal/say"
	"lathe/internal/workspace"
)

// maxInstructionFile bounds the file that a line is added to; more of it is not read as instructions.
const maxInstructionFile = 256 << 10

type learnOptions struct {
	model, format string
	list          bool
}

// NewLearn is lathe learn.
func NewLearn(env *console.Env) *cobra.Command {
	var o learnOptions
	cmd := &cobra.Command{
		Use: "learn", Short: "Propose lines for AGENTS.md from where you corrected the agent", Args: console.NoArgs,
		Long: `Learn looks through the newest sessions of this project for places where you corrected the
agent: a short prompt that corrects an answer, a call that you refused with words, a request that
you undid and gave in other words. It shows them to the small model, which proposes at most five
lines for the project's instructions. Each is shown with where it comes from, and written only
when you say yes to it. Without a terminal, and with --format json, the lines are only printed.

Nothing is sent where there is no correction. --list shows the corrections and asks no model.`,
		Example: "  lathe learn\n  lathe learn --list\n  lathe learn -m anthropic/claude-haiku-4-5",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.format != "text" && o.format != "json" {
				return console.Usagef("--format %q is neither text nor json", o.format)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, dir string) error {
				if o.list {
					return listCorrections(cmd.Context(), env, f, o)
				}
				return propose(cmd.Context(), env, f, dir, o)
			})
		},
	}
	cmd.Flags().StringVarP(&o.model, "model", "m", "", "model to ask, as provider/model (default: the small one of your newest session)")
	cmd.Flags().BoolVar(&o.list, "list", false, "show the corrections, and ask no model")
	cmd.Flags().StringVar(&o.format, "format", "text", "text or json; json only prints")
	return cmd
}

func listCorrections(ctx context.Context, env *console.Env, f *face.Face, o learnOptions) error {
	got, err := f.Corrections(ctx)
	if err != nil {
		return err
	}
	if o.format == "json" {
		return console.PrintJSON(env, got)
	}
	if len(got.Found) == 0 {
		tellNoCorrection(env)
	}
	for _, c := range got.Found {
		fmt.Fprintln(env.Stdout, correctionLine(c))
	}
	return nil
}

func tellNoCorrection(env *console.Env) {
	fmt.Fprintln(env.Stderr, "lathe: no correction was found in the sessions of this project, so no model was asked")
}

// correctionLine says on one line where a correction is and what it says.
func correctionLine(c api.Correction) string {
	return fmt.Sprintf("%s  %s  %s %s: %s", c.Session, time.UnixMilli(c.Time).Format("2006-01-02"), console.OneLine(c.Title, 40), c.Kind, console.OneLine(c.Text, 120))
}

// propose asks a model and goes through what it proposes.
func propose(ctx context.Context, env *console.Env, f *face.Face, dir string, o learnOptions) error {
	got, err := f.Corrections(ctx)
	if err != nil {
		return err
	}
	if len(got.Found) > 0 {
		fmt.Fprintf(env.Stderr, "lathe: %s found; asking a model what is to be learned\n", say.Plural(len(got.Found), "correction"))
	}
	out, err := f.Lessons(ctx, api.LessonRequest{Model: o.model})
	if err != nil {
		if ctx.Err() != nil {
			return console.ExitError{Code: console.ExitAborted}
		}
		return err
	}
	if o.format == "json" {
		return console.PrintJSON(env, out)
	}
	if out.Model == "" {
		tellNoCorrection(env)
		return nil
	}
	cost := out.Cost.String()
	if out.Unpriced {
		cost = "not known"
	}
	fmt.Fprintf(env.Stderr, "lathe: %s was asked; cost: %s\n", console.Clean(out.Model), cost)
	if len(out.Lessons) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: it proposes nothing")
		return nil
	}
	file := console.Clean(shortPath(dir, out.File))
	if !env.StdinTTY || !env.StderrTTY {
		for _, l := range out.Lessons {
			printLesson(env, l)
		}
		fmt.Fprintf(env.Stderr, "lathe: nothing was written; on a terminal you are asked for each line whether it goes into %s\n", file)
		return nil
	}
	return offer(ctx, env, out, file)
}

func printLesson(env *console.Env, l api.Lesson) {
	fmt.Fprintln(env.Stdout, console.NewStyle(env.StdoutTTY, env.Getenv).Bold(console.Clean(l.Line)))
	for _, c := range l.From {
		fmt.Fprintf(env.Stdout, "  from %s\n", correctionLine(c))
	}
}

// offer asks for each line, and writes those that the person says yes to.
func offer(ctx context.Context, env *console.Env, out api.Lessons, file string) error {
	var person console.Typed
	for _, l := range out.Lessons {
		printLesson(env, l)
		since := env.Fresh()
		fmt.Fprintf(env.Stderr, "  write it to %s? [y]es  [N]o  [q]uit: ", file)
		answer, ok := person.ReadLine(ctx, env, since)
		switch answer = strings.ToLower(answer); {
		case ctx.Err() != nil:
			fmt.Fprintln(env.Stderr)
			return console.ExitError{Code: console.ExitAborted}
		case !ok, answer == "q", answer == "quit":
			return nil
		case answer != "y" && answer != "yes":
			continue
		}
		if err := addLine(out.File, l.Line); err != nil {
			return err
		}
		fmt.Fprintf(env.Stderr, "lathe: written to %s\n", file)
	}
	return nil
}

// addLine adds a line to the instructions as they are now.
func addLine(path, line string) error {
	have, err := workspace.ReadFile(path, maxInstructionFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return lathe.Errorf(lathe.CodeInvalid, "the line is: "+line, "nothing was written: %v", err)
	}
	if learn.Has(string(have), line) {
		return nil
	}
	return workspace.WriteFile(path, []byte(learn.Add(string(have), line)), 0o644)
}

// shortPath names a file from a directory where it is below it.
func shortPath(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
