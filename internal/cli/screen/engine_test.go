package screen

import (
	"errors"
	"testing"

	"lathe/internal/api"
)

// TestNotTakenBack: the screen's undo claims nothing that did not happen.
func TestNotTakenBack(t *testing.T) {
	failed := errors.New("failed")
	for _, tt := range []struct {
		out  api.Reverted
		err  error
		want string
	}{
		{api.Reverted{}, nil, ""},
		{api.Reverted{}, failed, "failed"},
		{api.Reverted{Conflicts: 2}, nil, "left as it is, since somebody else changed it meanwhile: 2 of the files"},
		{api.Reverted{Unrecorded: "it is the home directory"}, nil,
			"the messages are hidden, but the files stay as they are: what was done to them was not recorded (it is the home directory)"},
	} {
		got := ""
		if err := notTakenBack(tt.out, tt.err); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.out, got, tt.want)
		}
	}
}
