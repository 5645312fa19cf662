package config

import (
	"strings"
	"testing"

	"lathe/internal/jsonc"
)

// TestManyIssues has a file of one line in which a million values are wrong: only
// those that are told are quoted.
func TestManyIssues(t *testing.T) {
	src := jsonc.NewSource("f", []byte(`{"instructions":[`+strings.Repeat("1,", 1_000_000)+`]}`))
	root, err := src.Parse()
	if err != nil {
		t.Fatal(err)
	}
	d := &decoder{}
	for _, e := range root.Get("instructions").Items {
		d.want(e, "instructions", "a string")
	}
	if len(d.issues) != 1_000_000 || len(d.excerpts) != maxShown {
		t.Errorf("%d issues, %d lines quoted", len(d.issues), len(d.excerpts))
	}
	if msg := d.err().Error(); !strings.HasSuffix(msg, "and 999990 more") || strings.Count(msg, "^") != maxShown {
		t.Errorf("told: %s", msg)
	}
}
