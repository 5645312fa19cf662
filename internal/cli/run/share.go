package run

import (
	"context"
	"errors"

	"lathe"
	"lathe/internal/cli/console"
)

// share publishes the session of a run that asked for it. A failure is reported
// and does not stop the run.
func (v *view) share(ctx context.Context) {
	if v.opts.share {
		sess, err := v.c.Share(ctx, v.root.ID)
		if err != nil {
			text := err.Error()
			if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
				text += "; " + e.Hint
			}
			v.out.Warning(text)
		}
		v.tellShared(sess)
	}
}

// tellShared prints, once, where the run's session is shared.
func (v *view) tellShared(sess lathe.Session) {
	if sess.ID == v.root.ID && sess.Share != nil && !v.shared {
		v.shared = true
		v.out.Notice("shared: " + console.Clean(sess.Share.URL))
	}
}
