package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/api"
)

// What lathe's own faces are told is what happened, to the millisecond.
func TestOwnRoundTrip(t *testing.T) {
	same := cmpopts.EquateEmpty()
	rapid.Check(t, func(t *rapid.T) {
		failure := failureOf(t)
		if rapid.Bool().Draw(t, "limit") {
			failure = &lathe.LimitFailure{Limit: "cost", Message: text(t)}
		}
		user := lathe.Message{ID: "msg_1", SessionID: "ses_1", Seq: rapid.Int64Range(0, 1<<40).Draw(t, "seq"), Created: when(t), Info: &lathe.User{Agent: text(t), Steers: true, By: text(t)}}
		answer := lathe.Message{ID: "msg_2", SessionID: "ses_1", Seq: 9, Created: when(t), Info: &lathe.Assistant{Agent: "a", Cost: money(t), Tokens: tokensOf(t), Error: failure}}
		for i, b := range bodies(t) {
			answer.Parts = append(answer.Parts, lathe.Part{ID: "prt_1", SessionID: "ses_1", MessageID: "msg_2", Seq: int64(i), Body: b})
		}
		h := api.History{Messages: []lathe.Message{user, answer}, Event: "e-1", More: true}
		check(t, h, EncodeOwnHistory, DecodeOwnHistory, same)
		check(t, api.Outcome{Last: &answer, Failure: failure, Blocked: true, Steps: 3, Cost: money(t), Tokens: tokensOf(t)}, EncodeOwnOutcome, DecodeOwnOutcome, same)
		events := []lathe.Event{
			lathe.PartDelta{SessionID: "ses_1", MessageID: "msg_2", PartID: "prt_1", Delta: text(t), End: rapid.IntRange(0, 1<<30).Draw(t, "end")},
			lathe.SessionFailed{SessionID: "ses_1", Failure: failure}, lathe.SessionPruned{SessionID: "ses_1", Results: 2, Tokens: 5},
			lathe.JobChanged{SessionID: "ses_1", JobID: "job_1", Running: rapid.Bool().Draw(t, "running")},
			lathe.Notice{SessionID: rapid.SampledFrom([]lathe.SessionID{"", "ses_1"}).Draw(t, "session"), Title: text(t), Text: text(t)}, lathe.LSPUpdated{}, lathe.LSPDiagnosed{Server: text(t), Path: text(t)},
			lathe.UndoOff{SessionID: "ses_1", Reason: text(t)},
			lathe.SessionMode{SessionID: "ses_1", Mode: lathe.PlanOnly},
			lathe.ClientEvent{Type: "tui.toast.show", Properties: []byte(`{"message":"x"}`)},
		}
		for _, m := range h.Messages {
			m.Parts = nil
			events = append(events, lathe.MessageUpdated{Message: m})
		}
		for _, p := range answer.Parts {
			events = append(events, lathe.PartUpdated{Part: p})
		}
		for _, ev := range events {
			sameEvent(t, lathe.Envelope{Time: when(t), Directory: text(t), Event: ev})
		}
	})
	for _, ev := range events() {
		switch ev.(type) {
		case lathe.FileWatched, lathe.ProjectUpdated, lathe.WorktreeReady, lathe.WorktreeFailed: // faces have no use for them
		default:
			sameEvent(t, lathe.Envelope{Event: ev})
		}
	}
}

func check[T any](t *rapid.T, want T, encode func(T) any, decode func([]byte) (T, error), opts ...cmp.Option) {
	data, err := Marshal(encode(want))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

func sameEvent(t interface{ Fatalf(string, ...any) }, want lathe.Envelope) {
	out, _ := EncodeOwnEvent(want)
	data := out.Bytes()
	got, err := DecodeOwnEvent(data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	secret := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Secret" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(0), secret); diff != "" {
		t.Fatalf("%T (-want +got):\n%s", want.Event, diff)
	}
}

func TestOwnPrompt(t *testing.T) {
	for _, want := range []api.Prompt{
		{Parts: []lathe.PartBody{&lathe.Text{Text: "x"}}, Agent: "plan", Refs: true},
		{Limits: api.Limits{Steps: 1, Cost: 2, Tokens: 3, Time: 4}, Rules: []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.Allow}}},
		{Command: "review", Arguments: "main"}, {Shell: "make"},
	} {
		data, err := Marshal(EncodeOwnPrompt(want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeOwnPrompt(data)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, bad := range []string{
		`{}`, `{"parts":[],"lathe":{"limits":{"steps":-1}}}`, `{"parts":[],"lathe":{"limits":{"time":9223372036854775807}}}`,
		`{"parts":[],"lathe":{"shell":"a","command":"b"}}`, `{"parts":[],"lathe":{"rules":[{"permission":"bash","pattern":"*","action":"x"}]}}`, `{"parts":[],"lathe":[]}`,
	} {
		if _, err := DecodeOwnPrompt([]byte(bad)); err == nil {
			t.Errorf("%s is a prompt", bad)
		}
	}
	if _, err := DecodeOwnEvent([]byte(`{"type":"server.heartbeat","properties":{}}`)); !errors.Is(err, ErrUnknownEvent) {
		t.Errorf("heartbeat: %v", err)
	}
}

// A server may be anybody's: what it sends is read without harm.
func FuzzDecodeOwn(f *testing.F) {
	for _, ev := range events() {
		out, _ := EncodeOwnEvent(lathe.Envelope{Event: ev})
		f.Add(out.Bytes())
	}
	_, messages, _ := samples()
	for _, v := range []any{EncodeOwnHistory(api.History{Messages: messages}), EncodeOwnOutcome(api.Outcome{Last: &messages[3]}), EncodeOwnPrompt(api.Prompt{Shell: "x"})} {
		f.Add(encode(f, v))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		env, err := DecodeOwnEvent(data)
		if _, ok := EncodeOwnEvent(env); err == nil && !ok {
			t.Errorf("%T was read and cannot be written", env.Event)
		}
		if h, err := DecodeOwnHistory(data); err == nil {
			encode(t, EncodeOwnHistory(h))
		}
		if o, err := DecodeOwnOutcome(data); err == nil {
			encode(t, EncodeOwnOutcome(o))
		}
		if p, err := DecodeOwnPrompt(data); err == nil {
			encode(t, EncodeOwnPrompt(p))
		}
		_, _ = DecodeAsks(data)
		_, _ = DecodeQuestionAsks(data)
		_, _ = DecodeStatuses(data)
	})
}
