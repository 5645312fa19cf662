package lsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestComplaints holds what is told of a server's standard error: its last lines whole, and
// nothing that would steer a terminal.
func TestComplaints(t *testing.T) {
	var c complaints
	if got := c.lines(); got != nil {
		t.Errorf("of nothing: %q", got)
	}
	c.add([]byte("one\n\x1b[31mtwo\x1b[m 漢"))
	c.add([]byte("字\n\n"))
	if diff := cmp.Diff([]string{"one", "two 漢字"}, c.lines()); diff != "" {
		t.Errorf("few (-want +got):\n%s", diff)
	}
	for i := range 500 {
		c.add(fmt.Appendf(nil, "line %03d %s\n", i, strings.Repeat("x", 70)))
	}
	got := c.lines()
	if len(got) != logLines || !strings.HasPrefix(got[0], "line 480 x") || !strings.HasPrefix(got[logLines-1], "line 499 x") {
		t.Errorf("many: %d, %q to %q", len(got), got[0], got[len(got)-1])
	}
	c.add([]byte(strings.Repeat("y", 2*maxStderr) + "\nlast"))
	if diff := cmp.Diff([]string{"last"}, c.lines()); diff != "" {
		t.Errorf("a long one (-want +got):\n%s", diff)
	}
}
