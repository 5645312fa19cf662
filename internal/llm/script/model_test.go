package script_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	"lathe/internal/llm/script"
)

func play(t *testing.T, m *script.Model, answers int, tools bool) (text string, calls []string, err error) {
	t.Helper()
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "go"}}}}}
	for range answers {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: []llm.Content{llm.Text{Text: "a"}}})
	}
	if tools {
		req.Tools = []llm.Tool{{Name: "x"}}
	}
	for ev, e := range m.Stream(t.Context(), req) {
		if e != nil {
			return text, calls, e
		}
		switch ev := ev.(type) {
		case llm.TextDelta:
			text += ev.Text
		case llm.ToolEnd:
			calls = append(calls, ev.CallID+" "+ev.Name+" "+ev.Input)
		}
	}
	return text, calls, nil
}

func TestModelAnswersByPlace(t *testing.T) {
	m := script.New(func() ([]byte, error) {
		return []byte("text one\ntool x {\"a\":1}\n---\nstatus 429 slow\n---\ntext two\ntimes 2\n---\nside\ntext named"), nil
	})
	text, calls, err := play(t, m, 0, true)
	if err != nil || text != "one" {
		t.Errorf("first answer %q, %v", text, err)
	}
	if diff := cmp.Diff([]string{`call_0_1 x {"a":1}`}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	_, _, err = play(t, m, 1, true)
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindRateLimit || !e.Retryable {
		t.Errorf("second answer fails with %v", err)
	}
	if text, _, err = play(t, m, 1, true); err != nil || text != "two" {
		t.Errorf("repeated second answer %q, %v", text, err)
	}
	if text, _, err = play(t, m, 0, false); err != nil || text != "named" {
		t.Errorf("side answer %q, %v", text, err)
	}
	if _, _, err = play(t, m, 9, true); err == nil {
		t.Error("an answer past the end of the script")
	}
}

func TestModelWithoutScript(t *testing.T) {
	m := script.New(func() ([]byte, error) { return nil, errors.New("no such file") })
	if _, _, err := play(t, m, 0, true); err == nil {
		t.Error("no error without a script")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("text a\ntool x {}\n---\nstatus 429 retry-after=1 x\nusage in=1 out=2")
	f.Fuzz(func(t *testing.T, data string) {
		s, err := script.Parse([]byte(data))
		if err == nil && len(s) == 0 {
			t.Error("no step and no error")
		}
	})
}

// TestStatus holds that a scripted refusal is told as a provider's would be.
func TestStatus(t *testing.T) {
	for words, want := range map[string]llm.Kind{
		"status 400 no such parameter":                   llm.KindInvalid,
		"status 400 Prompt is too long: 9 tokens > 8":    llm.KindOverflow,
		"status 413 large":                               llm.KindOverflow,
		"status 401 bad key":                             llm.KindAuth,
		"status 429 the prompt is too long, too often":   llm.KindRateLimit,
		"status 503 maximum context length is 5, or not": llm.KindServer,
	} {
		m := script.New(func() ([]byte, error) { return []byte(words), nil })
		_, _, err := play(t, m, 0, true)
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != want {
			t.Errorf("%s: %v, want %q", words, err, want)
		}
	}
}
