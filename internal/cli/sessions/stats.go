package sessions

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/order"
	"lathe/internal/say"
)

// NewStats is lathe stats.
func NewStats(env *console.Env) *cobra.Command {
	var days, top int
	var format, project string
	cmd := &cobra.Command{
		Use: "stats", Short: "Show tokens, cost, cache hits and tools: by day, model and project", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "json" {
				return console.Usagef("--format %q is neither text nor json", format)
			}
			filter := api.StatsFilter{Directory: project}
			if days > 0 {
				y, m, d := env.Now().Local().AddDate(0, 0, 1-days).Date()
				filter.Since = time.Date(y, m, d, 0, 0, 0, 0, time.Local)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				st, err := f.Stats(cmd.Context(), filter)
				if err != nil {
					return err
				}
				if format == "json" {
					return console.PrintJSON(env, st)
				}
				printStats(env, st, top)
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

// money converts an amount in dollars.
func money(usd float64) lathe.Money { return lathe.Money(math.Round(usd * 1e12)) }

// hits is the share of what was sent that came from a cache, in percent.
func hits(t lathe.Tokens) float64 {
	if t.Prompt() == 0 {
		return 0
	}
	return 100 * float64(t.CacheRead) / float64(t.Prompt())
}

func printStats(env *console.Env, st *api.Stats, top int) {
	s := console.NewStyle(env.StdoutTTY, env.Getenv)
	fmt.Fprintf(env.Stdout, "%s, %s, %s\n", say.Plural(st.Sessions, "session"), say.Plural(st.Total.Answers, "answer"), money(st.Total.USD))
	t := st.Total.Tokens.Counted()
	fmt.Fprintf(env.Stdout, "tokens: %d in, %d out, %d reasoning, %d from cache, %d into cache (%.0f%% of the input came from a cache)\n",
		t.Input, t.Output, t.Reasoning, t.CacheRead, t.CacheWrite, hits(t))
	days := slices.Sorted(maps.Keys(st.Days))
	slices.Reverse(days)
	printTallies(env, s.Bold("days"), st.Days, days, top)
	printTallies(env, s.Bold("models"), st.Models, byCost(st.Models), top)
	printTallies(env, s.Bold("projects"), st.Projects, byCost(st.Projects), top)
	printBeside(env, s, st.Beside, top)
	printWindows(env, s, st.Windows)
	printToolUse(env, s, st.Tools, top)
	printHooks(env, s, st.Hooks, top)
}

// printBeside tells what models were asked beside the answers; the sums above have it, too.
func printBeside(env *console.Env, s console.Style, m map[string]*api.Tally, top int) {
	if len(m) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", s.Bold("beside the answers"))
	for _, k := range atMost(byCost(m), top) {
		t := m[k]
		fmt.Fprintf(env.Stdout, "%8d %-8s %11d %-6s %10s  %s\n", t.Answers, say.Noun(t.Answers, "request"), t.Tokens.Counted().Total(), say.Noun(t.Tokens.Counted().Total(), "token"), money(t.USD), console.Clean(k))
	}
}

func printToolUse(env *console.Env, s console.Style, tools map[string]*api.ToolTally, top int) {
	if len(tools) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", s.Bold("tools"))
	names := slices.SortedFunc(maps.Keys(tools), func(a, b string) int {
		return cmp.Or(cmp.Compare(tools[b].Calls, tools[a].Calls), cmp.Compare(a, b))
	})
	for _, n := range atMost(names, top) {
		u := tools[n]
		fmt.Fprintf(env.Stdout, "%8d %-5s %6d failed %10s  %s\n", u.Calls, say.Noun(u.Calls, "call"), u.Failed, time.Duration(u.Millis)*time.Millisecond, console.Clean(n))
	}
}

// printHooks lists the hooks that cost most time.
func printHooks(env *console.Env, s console.Style, hooks []api.PluginAccount, top int) {
	if len(hooks) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", s.Bold("hooks"))
	hooks = slices.Clone(hooks)
	order.Stable(hooks, func(a, b api.PluginAccount) int { return cmp.Compare(b.Millis, a.Millis) })
	for _, h := range atMost(hooks, top) {
		fmt.Fprintf(env.Stdout, "%8d %-5s %6d failed %10s  %s %s\n", h.Calls, say.Noun(h.Calls, "call"), h.Failed, console.Millis(h.Millis), console.Clean(h.Plugin), console.Clean(h.Hook))
	}
}

func byCost(m map[string]*api.Tally) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b].USD, m[a].USD), cmp.Compare(m[b].Tokens.Counted().Total(), m[a].Tokens.Counted().Total()), cmp.Compare(a, b))
	})
}

func printTallies(env *console.Env, title string, m map[string]*api.Tally, keys []string, top int) {
	if len(keys) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", title)
	for _, k := range atMost(keys, top) {
		t := m[k]
		fmt.Fprintf(env.Stdout, "%8d %-7s %12d %-6s %3.0f%% cached %10s  %s\n", t.Answers, say.Noun(t.Answers, "answer"), t.Tokens.Counted().Total(), say.Noun(t.Tokens.Counted().Total(), "token"), hits(t.Tokens.Counted()), money(t.USD), console.Clean(k))
	}
}

func atMost[T any](s []T, n int) []T {
	if n <= 0 || n > len(s) {
		return s
	}
	return s[:n]
}

func printWindows(env *console.Env, s console.Style, w api.WindowTally) {
	if w.Requests == 0 && w.Compactions == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", s.Bold("windows"))
	fmt.Fprintf(env.Stdout, "%8d %s, %s that freed %s\n", w.Compactions, say.Noun(w.Compactions, "compaction"), say.Plural(w.Prunes, "prune"), say.Plural(w.Pruned, "token"))
	fmt.Fprintf(env.Stdout, "%8d %s after another: %s shared with it, %d read from a cache; %d sent anew cost %s more\n",
		w.Requests, say.Noun(w.Requests, "request"), say.Plural(w.Expected, "token"), w.Read, w.Missed, money(w.MissedUSD))
	fmt.Fprintf(env.Stdout, "         prefixes broken: %d by pruning and compaction, %d by lathe; %d missing at the provider\n",
		w.Announced, w.Ours, w.Theirs)
}
