package cli

import (
	"strings"
	"testing"
)

// Settings of OpenCode that lathe does not act on are told when a server starts.
func TestServeTellsUnusedSettings(t *testing.T) {
	s := start(t, t.TempDir(), map[string]string{"USER_CONFIG": `{"references":{"some-reference":{"path":"/nowhere"}}}`}, "--port", "0").ready()
	s.stop()
	if told := s.stderr.String(); !strings.Contains(told, "warning: this build of lathe does not use references: some-reference") {
		t.Errorf("told: %q", told)
	}
}
