package app

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLogWithoutSecrets(t *testing.T) {
	var b bytes.Buffer
	drop := func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return withoutSecrets(groups, a)
	}
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: drop}))
	log.With("url", "https://me:hunter2@host/x").Info("call", "err", errors.New("key sk-proj-0123456789abcdefghij is refused"),
		"token", "abc", "tokens", 12, slog.Group("g", "said", "Bearer abcdefghijklmnop1"), "session", "ses_1")
	want := `level=INFO msg=call url="https://me:[secret removed]@host/x" err="key [secret removed] is refused" token="[secret removed]" tokens=12 g.said="Bearer [secret removed]" session=ses_1` + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}
