package forward

import (
	"net/http/httptest"
	"testing"

	"lathe"
	"lathe/internal/bus"
)

// What changes a session goes where that is held; reading does not.
func TestSessionOfARequest(t *testing.T) {
	b := bus.New(bus.Options{})
	f := New(Options{Bus: b})
	defer f.Close()
	b.Publish("/d", lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_p"}})
	b.Publish("/d", lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_q"}})
	b.Publish("/d", lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_2", SessionID: "ses_p"}})
	b.Publish("/d", lathe.PermissionReplied{SessionID: "ses_p", AskID: "per_2"})
	for _, tt := range []struct {
		method, path string
		want         lathe.SessionID
	}{
		{"POST", "/session/ses_1/prompt_async?directory=%2Fd", "ses_1"},
		{"POST", "/lathe/session/ses_1/prompt", "ses_1"},
		{"DELETE", "/session/ses_1", "ses_1"},
		{"PATCH", "/session/ses_1", "ses_1"},
		{"POST", "/session/ses_1/permissions/per_9", "ses_1"},
		{"POST", "/permission/per_1/reply", "ses_p"},
		{"POST", "/question/que_1/reject", "ses_q"},
		{"POST", "/permission/per_2/reply", ""},
		{"GET", "/session/ses_1/message", ""},
		{"POST", "/session", ""},
		{"POST", "/config", ""},
		{"POST", "/", ""},
	} {
		if got := f.sessionOf(httptest.NewRequest(tt.method, tt.path, nil)); got != tt.want {
			t.Errorf("%s %s is about %q, want %q", tt.method, tt.path, got, tt.want)
		}
	}
}
