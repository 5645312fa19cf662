package linear

import (
	"context"
	"testing"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/engine"
)

// reviewed is an engine with changes.
type reviewed struct{ *fake }

func (r reviewed) Can() engine.Capabilities { return engine.Capabilities{Review: r} }

func (r reviewed) Review(context.Context, lathe.SessionID) ([]api.Reviewed, error) {
	return []api.Reviewed{
		{Message: "msg_1", Text: "make it louder", Files: []api.ReviewedFile{{File: "a.txt", Before: "one\ntwo\n", After: "one\nTWO\nthree\n", Additions: 2, Deletions: 1, Status: "modified"}}},
		{Message: "msg_3", Text: "and a picture", Files: []api.ReviewedFile{{File: "p.png", Status: "added"}}},
	}, nil
}

func (r reviewed) Between(context.Context, lathe.SessionID, lathe.MessageID, lathe.MessageID) ([]api.ReviewedFile, error) {
	return nil, nil
}

func (r reviewed) PreviewRevert(context.Context, lathe.SessionID, lathe.MessageID) (api.Reverted, error) {
	return api.Reverted{}, nil
}

func (r reviewed) TakeBack(_ context.Context, id lathe.SessionID, in api.TakeBack) (api.Reverted, error) {
	out := api.Reverted{Changed: []string{"/proj/a.txt"}, Kept: []api.Kept{{Path: "/proj/b.txt", Reason: "it was changed since"}}}
	return out, r.note("take back %s %s %s dry=%t", id, in.Message, in.File, in.DryRun)
}

func (r reviewed) Stage(_ context.Context, id lathe.SessionID, in api.Stage) (api.Staged, error) {
	return api.Staged{Files: in.Files}, r.note("stage %s %s %s", id, in.Message, in.Files)
}

// TestReview holds that changes are looked through, staged and taken back with numbers alone, and that
// taking back asks, with what it would do.
func TestReview(t *testing.T) {
	e := &fake{events: make(chan lathe.Envelope)}
	p := met(t, e, Options{Engine: reviewed{e}, Session: "ses_1", Review: true})
	p.hears("1. p.png, added, 0 lines added, 0 lines removed, and a picture\n2. a.txt, modified, 2 lines added, 1 line removed, make it louder\nType a number and press enter.\n")
	p.says("1")
	p.hears("File: p.png\nIts text is not known")
	p.says("3")
	p.hears("1. p.png")
	p.says("2")
	p.hears("File: a.txt\nremoved line 2: two\nadded line 2: TWO\nadded line 3: three\n1. take this change back\n2. stage the file for a commit\n3. back to the list\n4. done\n")
	p.says("2")
	p.hears("Staged as it is now: a.txt")
	p.says("/diff")
	p.hears("1. p.png")
	p.says("2")
	p.hears("1. take this change back")
	p.says("1")
	p.hears("This would be changed: /proj/a.txt\nKept as it is: /proj/b.txt, it was changed since\n1. leave it\n2. take it back\n")
	p.says("2")
	p.hears("Taken back: /proj/a.txt")
	p.says("/diff")
	p.hears("1. p.png")
	p.leaves("stage ses_1 msg_1 [a.txt]", "take back ses_1 msg_1 a.txt dry=true", "take back ses_1 msg_1 a.txt dry=false")
}
