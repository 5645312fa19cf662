package sessions

import (
	"context"
	"fmt"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

// programs are those whose commands and agents can be copied, as they are called here.
var programs = map[string]string{"claude": api.ClaudeCode, "codex": api.Codex}

// importFiles prints what becomes of the commands and agents that were made for a program.
func importFiles(ctx context.Context, env *console.Env, f *face.Face, in api.Import) error {
	for n, err := range f.Import(ctx, in) {
		switch {
		case err != nil:
			return err
		case n.File != nil:
			if err := showFile(env, *n.File); err != nil {
				return err
			}
		case n.Sum != nil:
			return filesDone(env, in, *n.Sum)
		}
	}
	return nil
}

func showFile(env *console.Env, f api.ImportedFile) error {
	words := map[string]string{
		api.ImportAdded: "copied", api.ImportSame: "here already", api.ImportKept: "not copied: you have another one",
		api.ImportRead: "would be copied", api.ImportFailed: "left out",
	}[f.Outcome]
	line := fmt.Sprintf("%s %s: %s", f.Kind, f.Name, words)
	if f.To != "" {
		line += "  " + f.To
	}
	if _, err := fmt.Fprintln(env.Stdout, console.Clean(line)); err != nil {
		return err
	}
	for _, note := range f.Notes {
		if _, err := fmt.Fprintf(env.Stdout, "  %s\n", console.Clean(note)); err != nil {
			return err
		}
	}
	return nil
}

// filesDone says how many there were, and what else the program may have.
func filesDone(env *console.Env, in api.Import, sum api.ImportSum) error {
	all := 0
	for _, n := range sum.Outcomes {
		all += n
	}
	if all == 0 {
		fmt.Fprintf(env.Stderr, "lathe: %s has no commands and agents of yours on this machine\n", in.Program)
	}
	fmt.Fprintln(env.Stderr, "lathe: its MCP servers, if it has any: lathe mcp import")
	if n := sum.Outcomes[api.ImportFailed]; n > 0 {
		return fmt.Errorf("left out: %s; see above for the reasons", say.Plural(n, "file"))
	}
	return nil
}
