package builtin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An edit that does not match shows the lines that it may have meant.
func TestEditShowsNearestLines(t *testing.T) {
	r := newRig(t)
	r.put("a.go", "package a\n\nfunc sum(list []int) int {\n\ttotal := 0\n\tfor _, n := range list {\n\t\ttotal += n\n\t}\n\treturn total\n}\n\nfunc other() {}\n")
	tests := []struct{ name, old, want string }{
		{"one word is wrong", "\ttotal := 0\n\tfor _, v := range list {",
			"The nearest lines are (line 2 of oldString is the first that differs):\n3: func sum(list []int) int {\n4: \ttotal := 0\n5: \tfor _, n := range list {\n6: \t\ttotal += n"},
		{"a single line", "\treturn totals, nil", "The nearest lines are:\n7: \t}\n8: \treturn total\n9: }"},
		{"more lines than are shown", "func sum(list []int) int {\n\ttotal := 0\n\tfor _, n := range list {\n\t\ttotal += n\n\t}\n\tif total < 0 {\n\t\tpanic(1)\n\t}\n\treturn total\n}",
			"The nearest lines are (line 6 of oldString is the first that differs):\n6: \t\ttotal += n\n7: \t}\n8: \treturn total\n9: }\n10: \n11: func other() {}"},
		{"nothing like it", "SELECT * FROM users WHERE id = ?", "No line of the file is like it: it may be in another file, or gone; look for it with grep."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := r.run("edit", m{"filePath": "a.go", "oldString": tt.old, "newString": "x"})
			if err != nil || !res.Failed {
				t.Fatalf("%v %s", err, res.Output)
			}
			if d := cmp.Diff(notFound+" "+tt.want, res.Output); d != "" {
				t.Errorf("told (-want +got):\n%s", d)
			}
		})
	}
}

func TestPatchShowsNearestLines(t *testing.T) {
	r := newRig(t, func(e *Env) { e.Patch = true })
	r.put("a", "one\ntwo lines\nthree\n")
	r.fails("apply_patch", m{"patchText": "*** Begin Patch\n*** Update File: a\n@@\n one\n-two line\n+2\n*** End Patch"},
		"Failed to find expected lines in a:\none\ntwo line\nThe nearest lines of the file are:\n1: one\n2: two lines\n3: three")
}

// A match that overlooked something shows what came of it; one of every occurrence
// says how many there were.
func TestEditTellsWhatBecameOfIt(t *testing.T) {
	r := newRig(t)
	r.put("a.go", "func f() {\n\tg()\n}\n")
	res := r.ok("edit", m{"filePath": "a.go", "oldString": "    g()  ", "newString": "    if x {\n        g()\n    }"})
	want := "Edit applied successfully. The file has other white space at the ends of lines than oldString said; it now reads:\n2: \tif x {\n3: \t\tg()\n4: \t}"
	if d := cmp.Diff(want, res.Output); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
	res = r.ok("edit", m{"filePath": "a.go", "oldString": "3: \t\tg()", "newString": "3: \t\th()"})
	want = "Edit applied successfully. The file has no line numbers, so these were left out; it now reads:\n3: \t\th()"
	if d := cmp.Diff(want, res.Output); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
	r.seen("a.go")
	res = r.ok("edit", m{"filePath": "a.go", "oldString": "{", "newString": "{ //", "replaceAll": true})
	if d := cmp.Diff("Edit applied successfully. 2 replacements.", res.Output); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
}

func TestNearestIsBounded(t *testing.T) {
	lines := strings.Split(strings.Repeat("some := line(of, code)\n", 100_000), "\n")
	shown, _ := nearest(lines, lines[:5000])
	if n := strings.Count(shown, "\n") + 1; n != nearestLines {
		t.Errorf("%d lines are shown", n)
	}
	shown, _ = nearest([]string{strings.Repeat("é", 5000)}, []string{strings.Repeat("é", 4000)})
	if len(shown) > nearestWidth+20 {
		t.Errorf("a line of %d bytes is shown", len(shown))
	}
}

// A path that does not exist is answered with those that it may have meant.
func TestMissingPaths(t *testing.T) {
	r := newRig(t)
	for _, f := range []string{"cli/cli.go", "cli/run.go", "internal/deep/down/store.go", "secret/keys.txt"} {
		r.put(f, "x\n")
	}
	mean := func(path ...string) string {
		for i := range path {
			path[i] = r.path(path[i])
		}
		return "\n\nDid you mean one of these?\n" + strings.Join(path, "\n")
	}
	tests := []struct {
		tool string
		in   m
		want string
	}{
		{"read", m{"filePath": "cli/clii.go"}, "File not found: " + r.path("cli/clii.go") + mean("cli/cli.go")},
		{"read", m{"filePath": "clii/run.go"}, "File not found: " + r.path("clii/run.go") + mean("cli/run.go")},
		{"read", m{"filePath": "src/store.go"}, "File not found: " + r.path("src/store.go") + mean("internal/deep/down/store.go")},
		{"read", m{"filePath": "nothing/like/that.xyz"}, "File not found: " + r.path("nothing/like/that.xyz")},
		{"edit", m{"filePath": "cli/clii.go", "oldString": "x", "newString": "y"}, "File " + r.path("cli/clii.go") + " not found" + mean("cli/cli.go")},
		{"grep", m{"pattern": "x", "path": "internal/deap"}, "File not found: " + r.path("internal/deap") + mean("internal/deep")},
		{"list", m{"path": "clii"}, "File not found: " + r.path("clii") + mean("cli")},
		{"bash", m{"command": "true", "workdir": "clii"}, "The working directory " + r.path("clii") + " does not exist or is not a directory." + mean("cli")},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.tool, tt.in), func(t *testing.T) {
			res, err := r.run(tt.tool, tt.in)
			if err != nil || !res.Failed {
				t.Fatalf("%v %s", err, res.Output)
			}
			if d := cmp.Diff(tt.want, res.Output); d != "" {
				t.Errorf("told (-want +got):\n%s", d)
			}
		})
	}
}
