//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The profile for macOS says what the policy does, in an order in which the last rule that
// matches is the one that the policy means, and no path gets out of its quotes.
func TestSeatbelt(t *testing.T) {
	dir := t.TempDir()
	hook := filepath.Join(dir, "hook")
	if err := os.WriteFile(hook, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	policy := Policy{
		Write: []string{dir}, Protect: func() []string { return []string{hook, filepath.Join(dir, "absent"), "/given"} }, Given: []string{"/given"},
		Hide: []string{"/keys", `/a "quoted") (allow default) \`}, Show: []string{"/keys/shown"},
	}
	want := `(version 1)
(allow default)
(deny file-write*)
(allow file-write*
  (subpath "` + dir + `")
  (subpath "/given")
  (subpath "/dev/null")
  (subpath "/dev/zero")
  (subpath "/dev/tty")
  (subpath "/dev/ptmx")
  (subpath "/dev/fd"))
(allow file-write* (regex #"^/dev/ttys[0-9]+$"))
(deny file-write*
  (subpath "` + hook + `"))
(deny file-read* file-write*
  (subpath "/keys")
  (subpath "/a \"quoted\") (allow default) \\"))
(allow file-read*
  (subpath "/keys/shown")
  (subpath "/given"))
(allow file-write*
  (subpath "/given"))
(deny process-info* (target others))
(allow process-info* (target same-sandbox))
(deny signal (target others))
(allow signal (target same-sandbox))
`
	if diff := cmp.Diff(want, policy.Seatbelt()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
