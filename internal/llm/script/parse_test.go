package script

import (
	"strings"
	"testing"
)

// An error says nothing of a file that is no script.
func TestForeignFile(t *testing.T) {
	_, err := Parse([]byte("root:x:0:0:root:/root:/bin/bash\n"))
	if err == nil || strings.Contains(err.Error(), "root") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse([]byte("txt hello\n")); err == nil || !strings.Contains(err.Error(), `"txt"`) {
		t.Errorf("a typing error: %v", err)
	}
}
