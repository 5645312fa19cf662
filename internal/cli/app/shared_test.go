package app

import (
	"strings"
	"testing"

	"lathe"
	"lathe/internal/provider"
)

// TestEncodeShared holds that no secret leaves with what is shared.
func TestEncodeShared(t *testing.T) {
	const key = "sk-abcdefghijklmnopqrstuvwx"
	for _, object := range []any{
		lathe.Session{ID: "ses_1", Title: "use " + key, Share: &lathe.Share{ID: "p", URL: "https://s.example.com/p", Secret: key, Service: "https://s.example.com"}},
		lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.User{System: key}},
		lathe.Part{ID: "prt_1", Body: &lathe.Text{Text: key}},
		lathe.Part{ID: "prt_2", Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: []byte(`{"command":"echo ` + key + `"}`), Output: key}}},
		[]lathe.FileDiff{{File: "a", After: key, Patch: key}},
		[]*provider.Model{{Ref: lathe.ModelRef{Provider: "p", Model: "m"}, Name: "M", URL: "https://u:" + key + "@example.com"}},
	} {
		raw, err := encodeShared(object)
		if err != nil || strings.Contains(string(raw), key) {
			t.Errorf("%T: %v\n%s", object, err, raw)
		}
	}
	if _, err := encodeShared(1); err == nil {
		t.Error("a number was shared")
	}
}
