package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The supervisor spares only what lathe named whole: what was cut off is ended.
func TestSupervisorHears(t *testing.T) {
	type heard struct {
		Orderly bool
		Spared  []uint64
	}
	for said, want := range map[string]heard{
		"":                               {},
		"quit":                           {true, nil},
		"spare 1f\nspare 2\nquit":        {true, []uint64{31, 2}},
		"spare 1f\nspare 2":              {false, []uint64{31}},
		"spare 0\nspare x\nspare \nquit": {true, nil},
		"quit\n":                         {},
	} {
		var got heard
		if got.Orderly, got.Spared = parseQuit([]byte(said)); !cmp.Equal(want, got) {
			t.Errorf("%q: (-want +got):\n%s", said, cmp.Diff(want, got))
		}
	}
}
