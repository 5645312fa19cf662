package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/store"
)

func newSearch(env *Env) *cobra.Command {
	var f store.SearchFilter
	var all bool
	var id, format string
	cmd := &cobra.Command{
		Use: "search words …", Short: "Search messages and tool output of sessions", Args: cobra.MinimumNArgs(1),
		Long: "Search finds the messages and tool outputs that hold all the words; \"words in quotes\" follow each other.\n" +
			"It looks through the sessions of this directory, --all through those of every directory.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return usageError{fmt.Errorf("--format %q is neither text nor json", format)}
			}
			return withApp(cmd.Context(), env, func(a *app, dir string) error {
				if err := bringUpToDate(cmd.Context(), env, a.store); err != nil {
					return err
				}
				f.Session = lathe.SessionID(id)
				if !all && id == "" {
					f.Directory = dir
				}
				hits, err := a.store.Search(cmd.Context(), strings.Join(args, " "), f)
				if err != nil {
					return err
				}
				return printHits(env, hits, format)
			})
		},
	}
	cmd.Flags().IntVarP(&f.Limit, "max-count", "n", 20, "how many at most")
	cmd.Flags().BoolVar(&all, "all", false, "in every directory")
	cmd.Flags().StringVar(&id, "session", "", "in one session")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

// tellIndexing is the number of messages above which taking them into the index
// takes long enough to say so.
const tellIndexing = 20_000

// bringUpToDate takes what is new into the index.
func bringUpToDate(ctx context.Context, env *Env, kept *store.Store) error {
	n, err := kept.Unindexed(ctx)
	switch {
	case err != nil || n == 0:
		return err
	case kept.ReadOnly():
		fmt.Fprintf(env.Stderr, "lathe: the newest %d messages are not in the index and cannot be found\n", n)
		return nil
	case n >= tellIndexing:
		fmt.Fprintf(env.Stderr, "lathe: indexing %d messages, once; it goes on where it stopped if you stop it\n", n)
	}
	_, err = kept.Index(ctx)
	return err
}

func printHits(env *Env, hits []store.Hit, format string) error {
	if format == "json" {
		out := make([]map[string]string, 0, len(hits))
		for _, h := range hits {
			out = append(out, map[string]string{
				"sessionID": string(h.Session.ID), "title": h.Session.Title, "messageID": string(h.Message), "partID": string(h.Part),
				"kind": h.Kind, "role": h.Role, "text": h.Snippet,
			})
		}
		return printJSON(env, out)
	}
	st := newStyle(env.StdoutTTY, env.Getenv)
	var last lathe.SessionID
	for _, h := range hits {
		if h.Session.ID != last {
			fmt.Fprintf(env.Stdout, "%s  %s  %s\n", h.Session.ID, h.Session.Updated.Local().Format("2006-01-02"), st.bold(oneLine(h.Session.Title, 80)))
			last = h.Session.ID
		}
		fmt.Fprintf(env.Stdout, "  %s %s: %s\n", h.Role, h.Kind, clean(h.Snippet))
	}
	if len(hits) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: nothing was found")
	}
	return nil
}
