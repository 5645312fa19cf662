package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
	"lathe/internal/provider"
	"lathe/internal/transcript"
)

func newShare(env *Env) *cobra.Command {
	var o exportOptions
	var service bool
	cmd := &cobra.Command{
		Use: "share [id]", Short: "Write a session as one web page that opens offline, or publish it", Args: cobra.MaximumNArgs(1),
		Long: "Share writes a session, the newest of this directory unless one is named, as a single HTML file without\n" +
			"scripts, to be sent to others. With --service it is published instead, on the share service that\n" +
			"enterprise.url names in the configuration, and later messages follow; lathe unshare withdraws it.\n" +
			"Secrets are removed as far as they are recognised; look at it before you send it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if service && (o.Sanitize || o.output != "") {
				return usageError{fmt.Errorf("--service excludes --output and --sanitize")}
			}
			return withFace(cmd.Context(), env, func(f *face, _ string) error {
				sess, err := f.session(cmd.Context(), args)
				if err != nil {
					return err
				}
				if service {
					return publish(cmd.Context(), env, f, sess)
				}
				o.Format = api.FormatHTML
				if o.output == "" {
					o.output = string(sess.ID) + ".html"
				}
				return export(cmd.Context(), env, f, sess, o)
			})
		},
	}
	cmd.Flags().BoolVar(&service, "service", false, "publish it on the configured share service")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "the file to write; it must not exist (default: the session's id)")
	cmd.Flags().BoolVar(&o.Sanitize, "sanitize", false, "remove texts, names and contents")
	return cmd
}

// publish shares a session and prints where.
func publish(ctx context.Context, env *Env, f *face, sess lathe.Session) error {
	sess, err := f.Share(ctx, sess.ID)
	if sess.Share != nil {
		fmt.Fprintln(env.Stdout, clean(sess.Share.URL))
	}
	return err
}

func newUnshare(env *Env) *cobra.Command {
	var forget bool
	cmd := &cobra.Command{
		Use: "unshare [id]", Short: "Withdraw a published session", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withFace(cmd.Context(), env, func(f *face, _ string) error {
				sess, err := f.session(cmd.Context(), args)
				if err != nil {
					return err
				}
				if sess.Share == nil {
					fmt.Fprintf(env.Stderr, "lathe: session %s is not shared\n", sess.ID)
					return nil
				}
				_, err = f.Unshare(cmd.Context(), sess.ID, forget)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "even if the service cannot be reached; what is stored there stays there")
	return cmd
}

// share publishes the session of a run that asked for it. A failure is reported
// and does not stop the run.
func (v *view) share(ctx context.Context) {
	if v.opts.share {
		sess, err := v.c.Share(ctx, v.root.ID)
		if err != nil {
			text := err.Error()
			if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
				text += "; " + e.Hint
			}
			v.out.warning(text)
		}
		v.tellShared(sess)
	}
}

// tellShared prints, once, where the run's session is shared.
func (v *view) tellShared(sess lathe.Session) {
	if sess.ID == v.root.ID && sess.Share != nil && !v.shared {
		v.shared = true
		v.out.notice("shared: " + clean(sess.Share.URL))
	}
}

// sharedModel is what a shared session says about a model.
type sharedModel struct {
	ID         string `json:"id"`
	ProviderID string `json:"providerID"`
	Name       string `json:"name"`
}

// encodeShared returns an object as a share service expects it, without secrets.
func encodeShared(object any) (json.RawMessage, error) {
	switch o := object.(type) {
	case lathe.Session:
		return wire.Marshal(wire.EncodeSession(transcript.Redacted(transcript.Session{Info: o}).Info))
	case lathe.Message:
		return wire.Marshal(wire.EncodeInfo(transcript.Redacted(transcript.Session{Messages: []lathe.Message{o}}).Messages[0]))
	case lathe.Part:
		m := lathe.Message{Parts: []lathe.Part{o}}
		return wire.Marshal(wire.EncodePart(transcript.Redacted(transcript.Session{Messages: []lathe.Message{m}}).Messages[0].Parts[0]))
	case []lathe.FileDiff:
		return wire.Marshal(wire.EncodeDiffs(transcript.Redacted(transcript.Session{Diffs: o}).Diffs))
	case []*provider.Model:
		out := make([]sharedModel, 0, len(o))
		for _, m := range o {
			out = append(out, sharedModel{m.Ref.Model, m.Ref.Provider, m.Name})
		}
		return wire.Marshal(out)
	}
	return nil, fmt.Errorf("share a %T", object)
}
