package forward

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"lathe"
)

// What reads only what is stored, any server answers; everything else is done where the
// files are, and what starts a turn waits for its turn there.
func TestWhatNeedsFiles(t *testing.T) {
	for _, tt := range []struct {
		method, path        string
		needs, starts, ends bool
	}{
		{"GET", "/session/ses_1/message", false, false, false},
		{"GET", "/session/ses_1", false, false, false},
		{"GET", "/session?directory=%2Fd", false, false, false},
		{"GET", "/session", true, false, false},
		{"POST", "/session", true, false, false},
		{"PATCH", "/session/ses_1", true, false, false},
		{"DELETE", "/session/ses_1", true, false, true},
		{"DELETE", "/session/ses_1/message/msg_1", true, false, false},
		{"POST", "/session/ses_1/abort", true, false, true},
		{"POST", "/session/ses_1/message", true, true, false},
		{"POST", "/session/ses_1/prompt_async", true, true, false},
		{"POST", "/session/ses_1/command", true, true, false},
		{"POST", "/session/ses_1/shell", true, true, false},
		{"POST", "/session/ses_1/init", true, true, false},
		{"POST", "/session/ses_1/summarize", true, true, false},
		{"POST", "/session/ses_1/revert", true, false, false},
		{"POST", "/lathe/session/ses_1/prompt", true, true, false},
		{"POST", "/lathe/session/ses_1/review/stage", true, false, false},
		{"GET", "/lathe/session/ses_1/message", false, false, false},
		{"GET", "/lathe/session/ses_1/weight", true, false, false},
		{"GET", "/lathe/workers", false, false, false},
		{"GET", "/lathe/event", false, false, false},
		{"GET", "/lathe/model", true, false, false},
		{"GET", "/lathe/search", false, false, false},
		{"GET", "/pty", false, false, false},
		{"GET", "/pty/shells", true, false, false},
		{"GET", "/lathe/job", false, false, false},
		{"POST", "/lathe/job/job_1_abcdef/stop", false, false, false},
		{"GET", "/event", false, false, false},
		{"GET", "/global/health", false, false, false},
		{"GET", "/metrics", false, false, false},
		{"GET", "/permission", false, false, false},
		{"GET", "/agent", true, false, false},
		{"GET", "/config/providers", true, false, false},
		{"GET", "/file/content", true, false, false},
		{"GET", "/api/agent", true, false, false},
		{"GET", "/api/session/ses_1", false, false, false},
		{"GET", "/", false, false, false},
		{"OPTIONS", "/session", false, false, false},
	} {
		r := httptest.NewRequest(tt.method, tt.path, nil)
		if needsFiles(r) != tt.needs || starts(r) != tt.starts || ends(r) != tt.ends {
			t.Errorf("%s %s: needs files %t, starts a turn %t, ends one %t", tt.method, tt.path, needsFiles(r), starts(r), ends(r))
		}
	}
}

// A prompt has an identifier before it is queued; the client's own stays, and so does what
// is no prompt.
func TestPromptsHaveIdentifiers(t *testing.T) {
	for in, want := range map[string]lathe.MessageID{
		`{"messageID":"msg_mine","parts":[]}`: "msg_mine", `null`: "", `[1]`: "", `{`: "", ``: "",
	} {
		if got, id, err := withMessageID([]byte(in)); string(got) != in || id != want || err != nil {
			t.Errorf("%s becomes %s (%s), %v", in, got, id, err)
		}
	}
	for _, in := range []string{`{"parts":[]}`, `{"messageID":"","parts":[]}`, `{"messageID":null,"parts":[]}`} {
		got, id, err := withMessageID([]byte(in))
		var out struct {
			MessageID lathe.MessageID
			Parts     []any
		}
		if err != nil || json.Unmarshal(got, &out) != nil || out.MessageID != id || out.Parts == nil || lathe.CheckID(string(id), lathe.PrefixMessage) != nil {
			t.Errorf("%s becomes %s (%s), %v", in, got, id, err)
		}
	}
}
