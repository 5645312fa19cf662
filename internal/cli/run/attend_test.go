package run

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/cli/console"
	"lathe/internal/jsonc"
)

// TestAttention: a person hears of a run that waits or ends when they were not there for a while.
func TestAttention(t *testing.T) {
	const done, asks = "\x1b]9;lathe: done: fix it\a\a", "\x1b]9;lathe: needs your permission: fix it\a\a"
	for name, test := range map[string]struct {
		quiet    bool
		settings string
		language string
		answered time.Duration // when they answered an ask; 0: nothing was asked
		ended    time.Duration
		err      error
		want     string
	}{
		"short":           {ended: 9 * time.Second},
		"long":            {ended: 10 * time.Second, want: done},
		"asks late":       {answered: 20 * time.Second, ended: 29 * time.Second, want: asks},
		"asks and ends":   {answered: 20 * time.Second, ended: 60 * time.Second, want: asks + done},
		"asks early":      {answered: time.Second, ended: 5 * time.Second},
		"failed":          {ended: time.Minute, err: console.ExitError{Code: console.ExitLimit}, want: "\x1b]9;lathe: failed: fix it\a\a"},
		"broke":           {ended: time.Minute, err: errors.New("x"), want: "\x1b]9;lathe: failed: fix it\a\a"},
		"interrupted":     {ended: time.Minute, err: console.ExitError{Code: console.ExitAborted}},
		"quiet":           {quiet: true, answered: 20 * time.Second, ended: time.Minute, want: asks},
		"switched off":    {settings: `{"notify": "off"}`, ended: time.Minute},
		"off":             {settings: `{"notify": false}`, ended: time.Minute},
		"bell":            {settings: `{"notify": "bell"}`, ended: time.Minute, want: "\a"},
		"kitty decides":   {settings: `{"notify": "osc99"}`, ended: time.Minute, want: "\x1b]99;i=lathe:d=0:o=unfocused;lathe\x1b\\\x1b]99;i=lathe:d=1:o=unfocused:p=body;done: fix it\x1b\\\a"},
		"in the language": {language: "zh_CN.UTF-8", ended: time.Minute, want: "\x1b]9;lathe: 完成: fix it\a\a"},
	} {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		env := &console.Env{Stderr: &out, StderrTTY: true, Now: func() time.Time { return now }, Getenv: func(name string) string { return map[string]string{"LANG": test.language}[name] }}
		a := watch(t.Context(), env, nil, Options{quiet: test.quiet}, "fix it")
		a.settings = func() *jsonc.Value {
			v, err := jsonc.Parse("x", []byte(test.settings))
			if err != nil {
				return nil
			}
			return v
		}
		if test.answered > 0 {
			now = time.Unix(0, 0).Add(test.answered)
			a.tell("needs your permission")
			a.seen()
		}
		now = time.Unix(0, 0).Add(test.ended)
		a.ended(test.err)
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAttentionNeedsATerminal: a file, a pipe and a reader of JSON receive nothing.
func TestAttentionNeedsATerminal(t *testing.T) {
	for name, test := range map[string]struct {
		tty    bool
		format string
	}{"a file": {false, "default"}, "JSON": {true, "json"}} {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		env := &console.Env{Stderr: &out, StderrTTY: test.tty, Now: func() time.Time { return now }, Getenv: func(string) string { return "" }}
		a := watch(t.Context(), env, nil, Options{Format: test.format}, "fix it")
		now = now.Add(time.Hour)
		a.tell("has a question")
		a.seen()
		a.ended(nil)
		if out.Len() > 0 {
			t.Errorf("%s received %q", name, out.String())
		}
	}
}
