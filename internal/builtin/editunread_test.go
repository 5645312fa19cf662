package builtin

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/reading"
)

// An edit of a text that occurs once needs no read, and tells what changed since there
// was one.
func TestEditWithoutRead(t *testing.T) {
	r := newRig(t)
	r.put("a", "1\n2\n3\n4\n5\n")
	if got := r.ok("edit", m{"filePath": "a", "oldString": "1", "newString": "one"}).Output; got != "Edit applied successfully." {
		t.Errorf("an edit of a file that was never read: %q", got)
	}
	tests := []struct{ name, now, want string }{
		{"some lines", "one\n2\nthree\nfour\n5\n", "\nSince you read it, lines 3 to 4 changed."},
		{"one line", "one\n2\n3\nfour\n5\n", "\nSince you read it, line 4 changed."},
		{"lines gone", "one\n2\n5\n", "\nSince you read it, lines were removed before line 3."},
		{"nothing", "one\n2\n3\n4\n5\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.put("a", "one\n2\n3\n4\n5\n")
			r.seen("a")
			r.put("a", tt.now)
			res := r.ok("edit", m{"filePath": "a", "oldString": "one\n2", "newString": "1\n2"})
			if d := cmp.Diff("Edit applied successfully."+tt.want, res.Output); d != "" {
				t.Errorf("told (-want +got):\n%s", d)
			}
		})
	}
	r.put("b", "x\n")
	r.ok("multiedit", m{"filePath": "b", "edits": []m{{"oldString": "x", "newString": "y"}}})
}

// What an edit finds or does not find would tell what is in a file that must not be
// read, so such a file has to be read first, which asks.
func TestEditIsNoWayToRead(t *testing.T) {
	for name, patch := range map[string]bool{"edit": false, "apply_patch": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(e *Env) { e.Patch = patch })
			r.reading = reading.New(r.env.Root, permission.Policy{Rules: []lathe.Rule{{Permission: "read", Pattern: "*", Action: lathe.Allow}, {Permission: "read", Pattern: "*.env", Action: lathe.AskMe}}}, nil, nil)
			r.put(".env", "TOKEN=abc\n")
			in := m{"filePath": ".env", "oldString": "TOKEN=xyz", "newString": ""}
			if patch {
				in = m{"patchText": "*** Begin Patch\n*** Update File: .env\n@@\n-TOKEN=xyz\n+\n*** End Patch"}
			}
			r.fails(name, in, "has not been read in this session")
			r.seen(".env")
			r.fails(name, in, "1: TOKEN=abc")
		})
	}
}
