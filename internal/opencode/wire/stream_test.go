package wire

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
)

// What a stream says reads back as the event it says.
func TestStreamRoundTrip(t *testing.T) {
	at := time.UnixMilli(1795182093288).UTC()
	for _, ev := range events() {
		frames := EncodeStream(ev, "evt_1", at)
		if len(frames) == 0 {
			continue
		}
		got, err := DecodeEvent(frames[0].Bytes())
		if errors.Is(err, ErrUnknownEvent) {
			continue
		}
		if err != nil {
			t.Errorf("%T: %v in %s", ev, err, frames[0].Bytes())
			continue
		}
		again := EncodeStream(got, "evt_1", at)
		if diff := cmp.Diff(string(frames[0].Bytes()), string(again[0].Bytes())); diff != "" {
			t.Errorf("%T (-first +again):\n%s", ev, diff)
		}
	}
	d := lathe.PartDelta{SessionID: "ses_1", MessageID: "msg_1", PartID: "prt_1", Delta: "x"}
	if got, err := DecodeEvent(EncodePartDelta(d, TextOf("x"), "evt_1").Bytes()); err != nil || got != d {
		t.Errorf("delta: %+v, %v", got, err)
	}
}

// A prompt that is encoded reads back as itself.
func TestPromptRoundTrip(t *testing.T) {
	want := api.Prompt{
		MessageID: "msg_1", Model: lathe.ModelRef{Provider: "p", Model: "m", Variant: "high"}, Agent: "plan", NoReply: true, System: "s",
		Tools: map[string]bool{"bash": false}, Parts: []lathe.PartBody{&lathe.Text{Text: "hello"}, &lathe.File{MIME: "text/plain", URL: "file:///x"}},
	}
	got, err := DecodePrompt(encode(t, EncodePrompt(want)))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, ev := range events() {
		for _, raw := range EncodeStream(ev, "evt_1", time.Time{}) {
			f.Add(raw.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, err := DecodeEvent(data)
		if err != nil {
			return
		}
		EncodeStream(ev, "evt_1", time.Time{})
	})
}

func FuzzDecodeRequests(f *testing.F) {
	f.Add([]byte(`{"parts":[{"type":"text","text":"x"}],"model":{"providerID":"a","modelID":"b"}}`))
	f.Add([]byte(`{"parentID":"ses_1","title":"x","permission":[{"permission":"bash","pattern":"*","action":"ask"}],"time":{"archived":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := DecodePrompt(data); err == nil && p.Parts == nil && len(data) == 0 {
			t.Error("a prompt from nothing")
		}
		_, _ = DecodeSessionRequest(data)
	})
}
