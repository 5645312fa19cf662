package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/opencode/wire"
	"lathe/internal/transcript"
	"lathe/internal/tui/engine"
)

// tuiAbilities is what the screen can do beyond what it must, over the client.
type tuiAbilities struct{ c *client.Client }

// Archive puts a session away, or brings it back.
func (t tuiAbilities) Archive(ctx context.Context, id lathe.SessionID, on bool) error {
	at := int64(0)
	if on {
		s, err := t.c.Get(ctx, id)
		if err != nil {
			return err
		}
		at = max(1, s.Updated.UnixMilli())
	}
	_, err := t.c.Archive(ctx, id, at)
	return err
}

// Archived returns the sessions that were put away.
func (t tuiAbilities) Archived(ctx context.Context) ([]lathe.Session, error) {
	all, err := t.c.List(ctx, client.Filter{Archived: true})
	return slices.DeleteFunc(all, func(s lathe.Session) bool { return s.Archived.IsZero() }), err
}

// Share publishes a session.
func (t tuiAbilities) Share(ctx context.Context, id lathe.SessionID) (string, error) {
	s, err := t.c.Share(ctx, id)
	if err != nil || s.Share == nil {
		return "", err
	}
	return s.Share.URL, nil
}

// Unshare takes a session back.
func (t tuiAbilities) Unshare(ctx context.Context, id lathe.SessionID) error {
	_, err := t.c.Unshare(ctx, id)
	return err
}

// Export writes a session down, from what the engine tells of it.
func (t tuiAbilities) Export(ctx context.Context, id lathe.SessionID, format string) ([]byte, error) {
	s, err := t.c.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	read := t.c.Shown
	if format == engine.FormatJSON { // complete, to be imported again
		read = t.c.History
	}
	var messages []lathe.Message
	for before := int64(0); ; before = messages[0].Seq {
		page, err := read(ctx, id, before, 500)
		if err != nil {
			return nil, err
		}
		messages = append(page, messages...)
		if len(page) < 500 {
			break
		}
	}
	if format == engine.FormatJSON {
		doc := map[string]any{"info": wire.EncodeSession(s)}
		list := make([]any, 0, len(messages))
		for _, m := range messages {
			list = append(list, wire.EncodeMessage(m))
		}
		doc["messages"] = list
		return json.MarshalIndent(doc, "", "  ")
	}
	diffs, err := t.c.StandingDiff(ctx, id)
	if err != nil {
		return nil, err
	}
	kept, hidden := s.Revert.Standing(messages)
	out, in := &bytes.Buffer{}, transcript.Redacted(transcript.Session{Info: s, Messages: kept, Hidden: hidden, Diffs: diffs})
	if format == engine.FormatHTML {
		err = transcript.HTML(out, in)
	} else {
		err = transcript.Markdown(out, in)
	}
	return out.Bytes(), err
}

// Found returns what can answer.
func (t tuiAbilities) Found(ctx context.Context) (engine.Found, error) {
	f, err := t.c.Found(ctx)
	out := engine.Found{Stored: f.Stored}
	for _, k := range f.Keys {
		out.Keys = append(out.Keys, engine.FoundKey(k))
	}
	for _, s := range f.Servers {
		out.Servers = append(out.Servers, engine.FoundServer(s))
	}
	return out, err
}

// Test tries a stored key.
func (t tuiAbilities) Test(ctx context.Context, provider string) (engine.KeyTest, error) {
	k, err := t.c.TestKey(ctx, provider)
	return engine.KeyTest(k), err
}

// Forget removes a stored key.
func (t tuiAbilities) Forget(ctx context.Context, provider string) error {
	return t.c.RemoveKey(ctx, provider)
}

// Approvals returns what was allowed from now on.
func (t tuiAbilities) Approvals(ctx context.Context) ([]engine.Approval, error) {
	list, err := t.c.Approvals(ctx)
	var out []engine.Approval
	for _, a := range list {
		out = append(out, engine.Approval(a))
	}
	return out, err
}

// Revoke takes an approval back.
func (t tuiAbilities) Revoke(ctx context.Context, a engine.Approval) error {
	return t.c.Revoke(ctx, wire.OwnApproval(a))
}

// Trust tells what the repository brings.
func (t tuiAbilities) Trust(ctx context.Context) (engine.Trust, error) {
	w, err := t.c.TrustState(ctx)
	out := engine.Trust{Dir: w.Dir, Given: w.Given, State: w.State, Files: w.Files, Digest: w.Digest}
	for _, l := range w.LeftOut {
		out.LeftOut = append(out.LeftOut, engine.LeftOut(l))
	}
	return out, err
}

// Decide trusts the repository as it was shown.
func (t tuiAbilities) Decide(ctx context.Context, shown engine.Trust, keep bool) error {
	return t.c.Decide(ctx, wire.OwnDecision{Digest: shown.Digest, Keep: keep})
}

// Distrust takes a decision back.
func (t tuiAbilities) Distrust(ctx context.Context) error { return t.c.Distrust(ctx) }

// Weigh returns what fills a session's window.
func (t tuiAbilities) Weigh(ctx context.Context, id lathe.SessionID) (engine.Weight, error) {
	w, err := t.c.Weight(ctx, id)
	out := engine.Weight{
		Used: w.Used, Window: w.Window, Usable: w.Usable, Counted: w.Counted, Fresh: w.Fresh, Cached: w.Cached,
		Compactions: w.Compactions, Prunes: w.Prunes, CacheRead: w.Read, CacheWritten: w.Written, CacheFresh: w.Sent,
	}
	for _, k := range w.Kinds {
		out.Kinds = append(out.Kinds, engine.Portion(k))
	}
	for _, p := range w.Parts {
		out.Parts = append(out.Parts, engine.Portion(p))
	}
	for _, m := range w.ByModel {
		out.ByModel = append(out.ByModel, engine.ModelCost(m))
	}
	return out, err
}

// Setup tells how lathe is set up.
func (t tuiAbilities) Setup(ctx context.Context) (engine.Setup, error) {
	w, err := t.c.Setup(ctx)
	out := engine.Setup{
		Version: w.Version, MCP: configured(w.MCP), LSP: configured(w.LSP), Formatter: configured(w.Formatters),
		Plugins: w.Plugins, Files: w.Files, Warnings: w.Warnings, Snapshots: w.Snapshots, Share: w.Share,
	}
	for _, s := range w.Skills {
		out.Skills = append(out.Skills, engine.Skill(s))
	}
	for _, c := range w.Checks {
		out.Checks = append(out.Checks, engine.Check(c))
	}
	return out, err
}

func configured(list []wire.OwnConfigured) (out []engine.Configured) {
	for _, c := range list {
		out = append(out, engine.Configured(c))
	}
	return out
}
