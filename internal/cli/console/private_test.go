package console

import (
	"io/fs"
	"testing"
)

// A secret is taken that its owner alone can read, or that root handed to a group, and no other.
func TestPrivate(t *testing.T) {
	for _, tt := range []struct {
		mode        fs.FileMode
		owner, self int
		want        bool
	}{
		{0o600, 1000, 1000, true}, {0o400, 0, 0, true},
		{0o640, 1000, 1000, false}, {0o604, 1000, 1000, false}, {0o440, 1001, 1000, false},
		{0o440, 0, 1000, true}, {0o640, 0, 1000, true}, // Kubernetes, systemd
		{0o440, 0, 0, false}, {0o460, 0, 1000, false}, {0o444, 0, 1000, false}, {0o644, 0, 1000, false},
	} {
		if got := private(tt.mode, tt.owner, tt.self); got != tt.want {
			t.Errorf("%04o of %d for %d: %v", tt.mode, tt.owner, tt.self, got)
		}
	}
}
