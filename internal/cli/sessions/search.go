package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

// NewSearch is lathe search.
func NewSearch(env *console.Env) *cobra.Command {
	var what api.Search
	var id, format string
	cmd := &cobra.Command{
		Use: "search words …", Short: "Search the messages and tool output of sessions", Args: cobra.MinimumNArgs(1),
		Long: "Search finds messages and tool outputs that contain all the words; \"words in quotes\" must follow each other.\n" +
			"It looks through the sessions of this directory, --all through those of every directory.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return console.Usagef("--format %q is neither text nor json", format)
			}
			what.Words, what.Session = strings.Join(args, " "), lathe.SessionID(id)
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				if err := tellIndex(cmd.Context(), env, f); err != nil {
					return err
				}
				hits, err := f.Search(cmd.Context(), what)
				if err != nil {
					return err
				}
				return printHits(env, hits, format)
			})
		},
	}
	cmd.Flags().IntVarP(&what.Limit, "max-count", "n", 20, "how many places to show at most")
	cmd.Flags().BoolVar(&what.Everywhere, "all", false, "search the sessions of every directory")
	cmd.Flags().StringVar(&id, "session", "", "search only the session with this id")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

// tellIndexing is the number of messages above which indexing them takes long
// enough to say so.
const tellIndexing = 20_000

// tellIndex says that a search will first index messages if that takes long, or that
// it cannot.
func tellIndex(ctx context.Context, env *console.Env, f *face.Face) error {
	index, err := f.SearchIndex(ctx)
	switch {
	case err != nil || index.Pending == 0:
		return err
	case index.ReadOnly:
		fmt.Fprintf(env.Stderr, "lathe: not in the index yet, and not to be found: the newest %s\n", say.Plural(index.Pending, "message"))
	case index.Pending >= tellIndexing:
		fmt.Fprintf(env.Stderr, "lathe: indexing %s, once; it goes on where it stopped if you stop it\n", say.Plural(index.Pending, "message"))
	}
	return nil
}

func printHits(env *console.Env, hits []api.Hit, format string) error {
	if format == "json" {
		out := make([]map[string]string, 0, len(hits))
		for _, h := range hits {
			out = append(out, map[string]string{
				"sessionID": string(h.Session), "title": h.Title, "messageID": string(h.Message), "partID": string(h.Part),
				"kind": h.Kind, "role": h.Role, "text": h.Text,
			})
		}
		return console.PrintJSON(env, out)
	}
	st := console.NewStyle(env.StdoutTTY, env.Getenv)
	var last lathe.SessionID
	for _, h := range hits {
		if h.Session != last {
			fmt.Fprintf(env.Stdout, "%s  %s  %s\n", h.Session, time.UnixMilli(h.Updated).Format("2006-01-02"), st.Bold(console.OneLine(h.Title, 80)))
			last = h.Session
		}
		fmt.Fprintf(env.Stdout, "  %s %s: %s\n", h.Role, h.Kind, console.Clean(h.Text))
	}
	if len(hits) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: nothing was found")
	}
	return nil
}
