package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

func TestDecodeReply(t *testing.T) {
	for in, want := range map[string]lathe.Reply{
		`{"reply":"once","project":true,"patterns":["x"]}`:   {Kind: lathe.Once},
		`{"reply":"always","project":true}`:                  {Kind: lathe.Always, Project: true},
		`{"reply":"always","patterns":["go *"]}`:             {Kind: lathe.Always, Patterns: []string{"go *"}},
		`{"response":"reject","message":"no","patterns":[]}`: {Kind: lathe.Reject, Message: "no"},
	} {
		got, err := DecodeReply([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	for _, in := range []string{`{}`, `{"reply":"yes"}`, `{"reply":"always","patterns":"x"}`, `[`} {
		if r, err := DecodeReply([]byte(in)); err == nil {
			t.Errorf("%s: %+v", in, r)
		}
	}
}
