package codec

import (
	"time"

	"lathe"
	"lathe/internal/store"
)

// Closed returns the body of an open part whose owner is gone: a text ends with what
// there is of it, and a call fails as [store.Interrupted]. It may change body.
func Closed(body lathe.PartBody, now time.Time) lathe.PartBody {
	switch b := body.(type) {
	case *lathe.Text:
		b.Time.End = now
	case *lathe.Reasoning:
		b.Time.End = now
	case *lathe.ToolCall:
		b.State = interrupted(b.State, now)
	}
	return body
}

func interrupted(st lathe.ToolState, now time.Time) lathe.ToolState {
	f := &lathe.ToolFailed{Error: store.Interrupted, Interrupted: true, Time: lathe.Span{Start: now, End: now}}
	if r, ok := st.(*lathe.ToolRunning); ok {
		f.Input, f.Metadata = r.Input, r.Metadata
		if !r.Start.IsZero() {
			f.Time.Start = r.Start
		}
	}
	return f
}
