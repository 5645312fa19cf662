package run

import (
	"testing"
	"time"

	"lathe"
)

// TestAnswerIsReadWhenItIsComplete: a run that waits for a subagent's report does not end while
// the answer to it is still being told.
func TestAnswerIsReadWhenItIsComplete(t *testing.T) {
	var b beside
	answer := &lathe.Assistant{}
	for _, step := range []struct {
		m    lathe.Message
		want lathe.MessageID
	}{
		{lathe.Message{ID: "msg_1", Info: &lathe.User{}}, "msg_1"},
		{lathe.Message{ID: "msg_2", Info: answer}, "msg_1"},
		{lathe.Message{ID: "msg_2", Info: &lathe.Assistant{Completed: time.Unix(1, 0)}}, "msg_2"},
		{lathe.Message{ID: "msg_1", Info: &lathe.User{}}, "msg_2"},
		{lathe.Message{ID: "msg_3", Info: &lathe.Assistant{Error: &lathe.AbortedFailure{}}}, "msg_3"},
	} {
		if b.read(step.m); b.seen != step.want {
			t.Errorf("after %s the newest is %s, want %s", step.m.ID, b.seen, step.want)
		}
	}
}
