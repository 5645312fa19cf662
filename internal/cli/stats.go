package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/store"
)

// tally is what some answers used.
type tally struct {
	Answers int          `json:"answers"`
	Tokens  lathe.Tokens `json:"tokens"`
	Cost    lathe.Money  `json:"-"`
	USD     float64      `json:"cost"`
}

func (t *tally) add(a store.Answer) {
	t.Answers++
	t.Tokens = t.Tokens.Add(a.Tokens)
	t.Cost += a.Cost
	t.USD = t.Cost.USD()
}

// hits is the share of what was sent that came from a cache, in percent.
func (t *tally) hits() float64 {
	if t.Tokens.Prompt() == 0 {
		return 0
	}
	return 100 * float64(t.Tokens.CacheRead) / float64(t.Tokens.Prompt())
}

type toolTally struct {
	Calls  int           `json:"calls"`
	Failed int           `json:"failed"`
	Time   time.Duration `json:"-"`
	Millis int64         `json:"ms"`
}

type statistics struct {
	Sessions int                   `json:"sessions"`
	Total    tally                 `json:"total"`
	Days     map[string]*tally     `json:"days"`
	Models   map[string]*tally     `json:"models"`
	Projects map[string]*tally     `json:"projects"`
	Tools    map[string]*toolTally `json:"tools"`
	Windows  windowTally           `json:"windows"`

	seen map[lathe.SessionID]bool
}

func newStats(env *Env) *cobra.Command {
	var days, top int
	var format, project string
	cmd := &cobra.Command{
		Use: "stats", Short: "Show tokens, cost, cache hits and tools: by day, model and project", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "json" {
				return usageError{fmt.Errorf("--format %q is neither text nor json", format)}
			}
			return withApp(cmd.Context(), env, func(a *app, _ string) error {
				var since time.Time
				if days > 0 {
					y, m, d := env.Now().Local().AddDate(0, 0, 1-days).Date()
					since = time.Date(y, m, d, 0, 0, 0, 0, time.Local)
				}
				st, err := gatherStats(cmd.Context(), a.store, since, project)
				if err != nil {
					return err
				}
				if err := st.addWindows(cmd.Context(), a); err != nil {
					return err
				}
				if format == "json" {
					return printJSON(env, st)
				}
				st.print(env, top)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&days, "days", 0, "only the last n days, today included; 0 for all")
	cmd.Flags().IntVar(&top, "top", 10, "how many lines of each table; 0 for all")
	cmd.Flags().StringVar(&project, "project", "", "only one project, by directory")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

func gatherStats(ctx context.Context, kept store.Stats, since time.Time, dir string) (*statistics, error) {
	st := &statistics{Days: map[string]*tally{}, Models: map[string]*tally{}, Projects: map[string]*tally{}, Tools: map[string]*toolTally{}}
	sessions := map[lathe.SessionID]bool{}
	err := kept.Answers(ctx, since, func(a store.Answer) error {
		if dir != "" && a.Directory != dir {
			return nil
		}
		sessions[a.Session] = true
		st.Total.add(a)
		at(st.Days, a.Created.Local().Format("2006-01-02")).add(a)
		at(st.Models, a.Model.String()).add(a)
		at(st.Projects, a.Directory).add(a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	st.Sessions, st.seen = len(sessions), sessions
	return st, kept.ToolUses(ctx, since, func(u store.ToolUse) error {
		if dir == "" || sessions[u.Session] {
			at(st.Tools, u.Tool).add(u.State)
		}
		return nil
	})
}

func at[T any](m map[string]*T, key string) *T {
	if m[key] == nil {
		m[key] = new(T)
	}
	return m[key]
}

func (t *toolTally) add(state lathe.ToolState) {
	t.Calls++
	var span lathe.Span
	switch s := state.(type) {
	case *lathe.ToolDone:
		span = s.Time
	case *lathe.ToolFailed:
		t.Failed++
		span = s.Time
	}
	if !span.End.IsZero() {
		t.Time += span.End.Sub(span.Start)
		t.Millis = t.Time.Milliseconds()
	}
}

func (st *statistics) print(env *Env, top int) {
	s := newStyle(env.StdoutTTY, env.Getenv)
	fmt.Fprintf(env.Stdout, "%d sessions, %d answers, %s\n", st.Sessions, st.Total.Answers, st.Total.Cost)
	t := st.Total.Tokens
	fmt.Fprintf(env.Stdout, "tokens: %d in, %d out, %d reasoning, %d from cache, %d into cache (%.0f%% of the input came from a cache)\n",
		t.Input, t.Output, t.Reasoning, t.CacheRead, t.CacheWrite, st.Total.hits())
	days := slices.Sorted(maps.Keys(st.Days))
	slices.Reverse(days)
	printTallies(env, s.bold("days"), st.Days, days, top)
	printTallies(env, s.bold("models"), st.Models, byCost(st.Models), top)
	printTallies(env, s.bold("projects"), st.Projects, byCost(st.Projects), top)
	st.Windows.print(env, s)
	if len(st.Tools) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", s.bold("tools"))
	names := slices.SortedFunc(maps.Keys(st.Tools), func(a, b string) int {
		return cmp.Or(cmp.Compare(st.Tools[b].Calls, st.Tools[a].Calls), cmp.Compare(a, b))
	})
	for _, n := range atMost(names, top) {
		u := st.Tools[n]
		fmt.Fprintf(env.Stdout, "%8d calls %6d failed %10s  %s\n", u.Calls, u.Failed, u.Time.Round(time.Millisecond), clean(n))
	}
}

func byCost(m map[string]*tally) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b].Cost, m[a].Cost), cmp.Compare(m[b].Tokens.Total(), m[a].Tokens.Total()), cmp.Compare(a, b))
	})
}

func printTallies(env *Env, title string, m map[string]*tally, keys []string, top int) {
	if len(keys) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", title)
	for _, k := range atMost(keys, top) {
		t := m[k]
		fmt.Fprintf(env.Stdout, "%8d answers %12d tokens %3.0f%% cached %10s  %s\n", t.Answers, t.Tokens.Total(), t.hits(), t.Cost, clean(k))
	}
}

func atMost[T any](s []T, n int) []T {
	if n <= 0 || n > len(s) {
		return s
	}
	return s[:n]
}
