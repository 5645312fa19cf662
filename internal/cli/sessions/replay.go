package sessions

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

// NewDebug is lathe debug.
func NewDebug(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{Use: "debug", Short: "Inspect what lathe does: what a model was sent"}
	cmd.AddCommand(newReplay(env))
	return cmd
}

func newReplay(env *console.Env) *cobra.Command {
	var format string
	var step int
	cmd := &cobra.Command{
		Use: "replay [SESSION]", Short: "Show each request of a session as the model saw it",
		Long: `Replay rebuilds the requests of a session from what is stored, with the code
that made them: the system prompt, the tools and the messages, word for word. The
session is the newest of this directory unless one is named.

The first request is shown in full, each later one only as far as it adds to the one
before. A request should begin with all of the one before, which the provider has
cached; if it does not, replay names the first piece that differs, and says why.
--step N shows all of request N.

What is not stored cannot be shown as it was: tools, agents and settings are the
current ones, and replay says where that may matter. Requests for titles are left out,
and so are headers; for attached files only the kind, size and checksum are shown. A
request that was repeated is shown once.`,
		Example: `  lathe debug replay | less
  lathe debug replay ses_… --step 3
  lathe debug replay --format json | jq '.steps[] | {number, change}'`,
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
			if step < 1 && cmd.Flags().Changed("step") {
				return console.Usagef("--step %d: requests are numbered from 1", step)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				sess, err := f.Session(cmd.Context(), args)
				if err != nil {
					return err
				}
				r, err := f.Replay(cmd.Context(), sess.ID, step)
				if err != nil {
					return err
				}
				if format == "json" {
					return console.PrintJSON(env, r)
				}
				replayPrinter{env.Stdout, console.NewStyle(env.StdoutTTY, env.Getenv), step != 0}.print(r)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().IntVar(&step, "step", 0, "show all of this request, by its number")
	return cmd
}

// replayPrinter writes requests for people to read.
type replayPrinter struct {
	out   io.Writer
	style console.Style
	whole bool
}

func (p replayPrinter) print(r api.Replay) {
	fmt.Fprintf(p.out, "%s\n%s  %s\n", p.style.Bold(console.OneLine(r.Title, 200)), r.SessionID, say.Plural(r.Count, "request"))
	for _, n := range r.Notes {
		p.note(n)
	}
	for _, s := range r.Steps {
		p.step(s)
	}
}

func (p replayPrinter) note(text string) {
	fmt.Fprintf(p.out, "%s\n", p.style.Dim("note: "+console.Clean(text)))
}

func (p replayPrinter) step(s api.ReplayStep) {
	fmt.Fprintf(p.out, "\n%s\n", p.style.Bold(fmt.Sprintf("━━ request %d · %s · %s · %s · answered by %s", s.Number, s.Kind, console.Clean(s.Agent), console.Clean(s.Model), s.Answer)))
	for _, n := range s.Notes {
		p.note(n)
	}
	if s.Change != nil {
		fmt.Fprintln(p.out, changeText(*s.Change))
	}
	if s.Request == nil {
		return
	}
	p.settings(s.Request, s.Change == nil || s.Change.Settings || p.whole)
	for i, text := range s.Request.System {
		p.piece(fmt.Sprintf("system %d", i+1), text)
	}
	for _, t := range s.Request.Tools {
		p.piece("tool definition "+t.Name, t.Description+"\n"+string(t.Schema))
	}
	first := 1
	if s.Change != nil && !p.whole {
		first += s.Change.Kept
	}
	for i, m := range s.Request.Messages {
		for _, c := range m.Content {
			p.content(fmt.Sprintf("message %d (%s)", first+i, m.Role), c)
		}
	}
}

// changeText says how a request differs from the one before.
func changeText(c api.Change) string {
	if c.Differs == "" {
		text := fmt.Sprintf("begins with all of the request before; %s added", say.Plural(c.Added, "message"))
		if c.Settings {
			text += "; other settings"
		}
		return text
	}
	text := "the beginning is another than before: first at " + console.Clean(c.Differs)
	if c.Because != "" {
		text += " (" + console.Clean(c.Because) + ")"
	}
	text += fmt.Sprintf("; %s kept, %d gone, %d added", say.Plural(c.Kept, "message"), c.Gone, c.Added)
	if c.System {
		text += "; another system prompt"
	}
	if c.Tools {
		text += "; other tools"
	}
	if c.Settings {
		text += "; other settings"
	}
	return text
}

func (p replayPrinter) settings(r *api.Request, show bool) {
	if !show {
		return
	}
	text := "model " + r.Model
	if r.Choice != "" {
		text += ", tool choice " + r.Choice
	}
	if r.MaxTokens > 0 {
		text += fmt.Sprintf(", at most %d tokens", r.MaxTokens)
	}
	if r.Temperature != nil {
		text += fmt.Sprintf(", temperature %v", *r.Temperature)
	}
	if r.TopP != nil {
		text += fmt.Sprintf(", top p %v", *r.TopP)
	}
	if r.TopK != nil {
		text += fmt.Sprintf(", top k %d", *r.TopK)
	}
	if len(r.Options) > 0 {
		text += fmt.Sprintf(", options %v", r.Options)
	}
	fmt.Fprintln(p.out, console.Clean(text))
}

func (p replayPrinter) content(of string, c api.RequestContent) {
	switch c.Type {
	case "call":
		p.piece(of+" · call "+c.Name+" "+c.ID, string(c.Input))
	case "result":
		head := of + " · result " + c.Name + " " + c.ID
		if c.Failed {
			head += " · failed"
		}
		p.piece(head, c.Text)
		for _, f := range c.Files {
			p.content(of, f)
		}
	case "file":
		p.piece(of+" · file", strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", c.MIME, c.Name, c.URL, say.Plural(c.Size, "byte"), c.SHA256)))
	case "reasoning":
		p.piece(of+" · reasoning", cmp.Or(c.Text, "(only "+strings.Join(c.Meta, ", ")+")"))
	default:
		p.piece(of, c.Text)
	}
}

func (p replayPrinter) piece(head, text string) {
	fmt.Fprintf(p.out, "\n%s\n%s\n", p.style.Dim("── "+console.Clean(head)), console.CleanLines(text))
}
