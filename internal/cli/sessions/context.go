package sessions

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/readable"
	"lathe/internal/say"
)

// NewContext is lathe context.
func NewContext(env *console.Env) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "context [session]", Short: "Show what occupies a session's window, and what it costs",
		Long: `Context shows the size of what a session's next request would send, by kind and by
part, with prices; the session is the newest of this directory unless one is named. It
also shows what has happened to the window so far: compactions, prunes and the
provider's cache.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return console.Usagef("expected one session id at most, got %s", say.Plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return console.Usagef("--format %q is neither text nor json", format)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				sess, err := f.Session(cmd.Context(), args)
				if err != nil {
					return err
				}
				w, err := f.Window(cmd.Context(), sess.ID)
				if err != nil {
					return err
				}
				if format == "json" {
					fields, err := windowJSON(w)
					return errors.Join(err, console.PrintJSON(env, fields))
				}
				printWindow(env, w)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

func percent(n, of int64) string {
	if of <= 0 {
		return ""
	}
	return fmt.Sprintf("%3d %%", n*100/of)
}

func printWindow(env *console.Env, w api.Window) {
	out := env.Stdout
	st := console.NewStyle(env.StdoutTTY, env.Getenv)
	fmt.Fprintf(out, "%s\n%s  %s\n\n", st.Bold(console.OneLine(w.Title, 200)), w.SessionID, w.Model)
	fmt.Fprintf(out, "%9d %s in the next request", w.Used, say.Noun(w.Used, "token"))
	if w.Limit > 0 {
		fmt.Fprintf(out, ", %d %% of a window of %d; compacted at %d", w.Used*100/w.Limit, w.Limit, w.Usable)
	}
	fmt.Fprintf(out, "\n%9s without a cache, %s with all of it cached\n", w.Fresh, w.Cached)
	if w.Counted > 0 {
		fmt.Fprintf(out, "%9d counted by the provider for the newest answer; estimates are corrected by %.2f\n", w.Counted, w.Factor)
	}
	fmt.Fprintf(out, "\n%s\n", st.Bold("By kind"))
	for _, k := range w.Kinds {
		fmt.Fprintf(out, "%9d %6s %10s  %s (%d)\n", k.Tokens, percent(k.Tokens, w.Used), k.Cost, console.Clean(k.Name), k.Count)
	}
	if len(w.Parts) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.Bold("Largest parts"))
	}
	for _, p := range w.Parts {
		fmt.Fprintf(out, "%9d %6s %10s  %s, part %s\n", p.Tokens, percent(p.Tokens, w.Used), p.Cost, console.Clean(p.Name), p.Part)
	}
	notes := readable.WindowNotes(w)
	if len(notes) > 0 || len(w.Budget) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.Bold("Budget"))
	}
	for _, b := range w.Budget {
		fmt.Fprintf(out, "%7d %%  %s\n", b.Percent, b)
	}
	for _, n := range notes {
		fmt.Fprintf(out, "%9s  %s\n", "", console.Clean(n))
	}
	printWindowStats(env, w.Stats)
}

func printWindowStats(env *console.Env, s api.WindowStats) {
	out := env.Stdout
	st := console.NewStyle(env.StdoutTTY, env.Getenv)
	fmt.Fprintf(out, "\n%s\n", st.Bold("So far"))
	fmt.Fprintf(out, "%9d %s, %s that freed %s\n", s.Compactions, say.Noun(s.Compactions, "compaction"), say.Plural(s.Prunes, "prune"), say.Plural(s.Pruned, "token"))
	c := s.Cache
	fmt.Fprintf(out, "%9d %s read from the cache (%d expected), %d written to it, %d sent fresh\n", c.Read, say.Noun(c.Read, "token"), c.Expected, c.Written, c.Fresh)
	fmt.Fprintf(out, "%9d %s after another: prefix broken %d times by pruning and compaction, %d times by lathe; missing at the provider %d times\n",
		c.Requests, say.Noun(c.Requests, "request"), c.Announced, c.Ours, c.Theirs)
	for _, step := range c.Steps {
		if step.Reason != "" {
			fmt.Fprintf(out, "          miss (%s): expected %d, read %d", step.Reason, step.Expected, step.Read)
			if step.Differs != "" {
				fmt.Fprintf(out, ", first difference: %s", console.Clean(step.Differs))
			}
			fmt.Fprintln(out)
		}
	}
}

// otherNames are fields of [api.Window] that lathe context prints under names of its own,
// or not at all: the words of costs, which it prints as numbers.
var otherNames = map[string]string{
	"used": "tokens", "window": "context", "title": "", "fresh": "", "cached": "",
}

// windowJSON returns all fields of a window, by the names that scripts know.
func windowJSON(w api.Window) (map[string]any, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	for from, to := range otherNames {
		if to != "" {
			fields[to] = fields[from]
		}
		delete(fields, from)
	}
	portions := func(list []api.Portion) []map[string]any {
		out := []map[string]any{}
		for _, e := range list {
			m := map[string]any{"name": e.Name, "count": e.Count, "tokens": e.Tokens, "cost": e.Cost.USD()}
			if e.Part != "" {
				m["part"] = e.Part
			}
			out = append(out, m)
		}
		return out
	}
	fields["cost"], fields["costCached"] = w.Cost.USD(), w.CostCached.USD()
	fields["kinds"], fields["parts"] = portions(w.Kinds), portions(w.Parts)
	fields["budget"], fields["unpriced"] = append([]api.BudgetUse{}, w.Budget...), w.Unpriced
	return fields, nil
}
