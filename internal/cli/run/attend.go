package run

import (
	"context"
	"io"
	"time"

	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/jsonc"
	"lathe/internal/tui/attend"
)

// watched is how long a person is taken to watch what they started or answered.
const watched = 10 * time.Second

// attention tells a person who looks elsewhere that the run waits for them or has ended, with the
// means of their terminal. The zero value tells nobody.
type attention struct {
	env      *console.Env
	about    string // what the run was asked for
	quiet    bool   // nothing but the answer is wanted
	settings func() *jsonc.Value
	here     time.Time // when the person was last there
}

// watch begins to take note of when the person is there; without a terminal nobody is.
func watch(ctx context.Context, env *console.Env, f *face.Face, o Options, message string) attention {
	if !env.StderrTTY || o.shown().JSON {
		return attention{}
	}
	return attention{env: env, about: message, quiet: o.quiet, here: env.Now(), settings: func() *jsonc.Value { return terminalSettings(ctx, f) }}
}

// seen notes that the person is there.
func (a *attention) seen() {
	if a.env != nil {
		a.here = a.env.Now()
	}
}

// tell says what happened if the person was not there for a while. Nothing is read before that.
func (a *attention) tell(what string) {
	if a.env == nil || a.env.Now().Sub(a.here) < watched {
		return
	}
	t := attend.Configured(a.settings())
	t.Getenv, t.Unseen = a.env.Getenv, true
	_, _ = io.WriteString(console.Raw(a.env.Stderr), t.Notification(a.env.Language().Text(what), a.about))
}

// ended tells how the run ended, unless the person ended it or wants to see the answer alone.
func (a *attention) ended(err error) {
	switch code := console.ExitCode(err); {
	case a.quiet || code == console.ExitAborted:
	case code == console.ExitDone:
		a.tell("done")
	default:
		a.tell("failed")
	}
}

// terminalSettings returns what the configuration says of the person's terminal, nil for nothing.
func terminalSettings(ctx context.Context, f *face.Face) *jsonc.Value {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	raw, err := f.Settings(ctx)
	if err != nil {
		return nil
	}
	v, err := jsonc.Parse("the configuration", raw)
	if err != nil {
		return nil
	}
	return v.Get("tui")
}
