package jobs

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
)

// What is typed while the last of it is on its way waits, and goes together, in its order.
func TestTypedInOrder(t *testing.T) {
	o := &output{job: api.Job{ID: "job_1", Terminal: true}, sending: true}
	key := func(k tea.KeyPressMsg, stroke string) {
		t.Helper()
		if msg := o.typed(k, stroke); msg != nil {
			t.Errorf("%s is sent beside the one before it", stroke)
		}
	}
	for _, letter := range "ls -l" {
		key(tea.KeyPressMsg{Text: string(letter), Code: letter}, string(letter))
	}
	key(tea.KeyPressMsg{Code: tea.KeyEnter}, "enter")
	key(tea.KeyPressMsg{Code: tea.KeyUp}, "up")
	key(tea.KeyPressMsg{Text: "q", Code: 'q'}, "q")
	want := []api.JobInput{{Data: "ls -l", Keys: []string{"enter", "up"}}, {Data: "q"}}
	if diff := cmp.Diff(want, o.waiting); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
