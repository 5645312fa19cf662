package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/store"
	"lathe/internal/undo"
)

// timelines answers what each prompt of a session changed, and what undoing would do.
type timelines struct{ *call }

func timelineRoutes() []route {
	const session = "/lathe/session/{sessionID}"
	return []route{
		{http.MethodGet, session + "/timeline", on(timelines.list), ""},
		{http.MethodPost, session + "/revert/preview", on(timelines.preview), ""},
	}
}

const (
	timelinePage = 50
	timelineText = 300 // bytes of a prompt
)

// list answers the newest prompts, or those before a sequence number, oldest first.
func (c timelines) list() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	before, err := c.number("before")
	if err != nil {
		return nil, err
	}
	limit, err := c.limit(timelinePage)
	if err != nil {
		return nil, err
	}
	return timeline(c.ctx(), c.s.opts.Store, sess.ID, before, int(limit))
}

// timeline reads backwards until it has limit prompts and what came of them.
func timeline(ctx context.Context, kept *store.Store, id lathe.SessionID, before int64, limit int) (api.Timeline, error) {
	out := api.Timeline{Prompts: []api.Prompted{}}
	files, steps := []string{}, 0
	for m, err := range kept.Messages(ctx, id, store.MessageFilter{Before: before}) {
		if err != nil {
			return out, err
		}
		if _, ok := m.Info.(*lathe.User); !ok {
			steps++
			for _, f := range changedFiles(m.Parts) {
				if i, found := slices.BinarySearch(files, f); !found {
					files = slices.Insert(files, i, f)
				}
			}
			continue
		}
		if len(out.Prompts) == limit {
			out.More = true
			break
		}
		out.Prompts = append(out.Prompts, api.Prompted{
			MessageID: m.ID, Seq: m.Seq, Created: m.Created.UnixMilli(), Text: promptText(m.Parts), Steps: steps, Files: files,
		})
		files, steps = []string{}, 0
	}
	slices.Reverse(out.Prompts)
	return out, nil
}

func changedFiles(parts []lathe.Part) (files []string) {
	for _, p := range parts {
		if patch, ok := p.Body.(*lathe.Patch); ok {
			files = append(files, patch.Files...)
		}
	}
	return files
}

// promptText returns the beginning of what a person wrote.
func promptText(parts []lathe.Part) string {
	var out strings.Builder
	for _, p := range parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Synthetic && out.Len() < timelineText {
			out.WriteString(t.Text)
		}
	}
	return clip(out.String(), timelineText)
}

// preview answers what undoing from a message on would change, and what it would leave
// as it is because somebody else changed it.
func (c timelines) preview() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.Revert
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := lathe.CheckID(string(in.MessageID), lathe.PrefixMessage); err != nil {
		return nil, badPayload("%v", err)
	}
	out, err := c.s.opts.Service.Undo.Preview(context.WithoutCancel(c.ctx()), sess.ID, undo.Input{MessageID: in.MessageID, PartID: in.PartID, Force: in.Force})
	return encodeReverted(out), err
}
