package builtin

import (
	"os"
	"os/exec"
	"testing"
)

// What a command or a search showed of a file counts as read: all of it for a write,
// some of it for a replacement of every occurrence.
func TestWhatWasShownIsKnown(t *testing.T) {
	tests := []struct {
		name, tool  string
		in          m
		write, some bool
	}{
		{"cat", "bash", m{"command": "cat d/a.txt"}, true, true},
		{"cat with numbers", "bash", m{"command": "cat -n d/a.txt"}, true, true},
		{"cat of two", "bash", m{"command": "cat d/a.txt other"}, true, true},
		{"cat elsewhere", "bash", m{"command": "cat a.txt", "workdir": "d"}, true, true},
		{"head", "bash", m{"command": "head -1 d/a.txt"}, false, true},
		{"sed -n", "bash", m{"command": "sed -n 2p d/a.txt"}, false, true},
		{"grep in a tree", "bash", m{"command": "grep -rn second ."}, false, true},
		{"git grep", "bash", m{"command": "git grep --no-index second"}, false, true},
		{"the grep tool", "grep", m{"pattern": "second"}, false, true},
		{"output that is kept", "bash", m{"command": "cat d/a.txt > /dev/null"}, false, false},
		{"only counted", "bash", m{"command": "wc -l d/a.txt"}, false, false},
		{"another file", "bash", m{"command": "cat other"}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.put("d/a.txt", "first line\nsecond line\nthird line\n")
			r.put("other", "nothing else\n")
			r.ok(tt.tool, tt.in)
			write := m{"filePath": "d/a.txt", "content": "x\n"}
			every := m{"filePath": "d/a.txt", "oldString": "line", "newString": "row", "replaceAll": true}
			if tt.some {
				r.ok("edit", every)
				r.put("d/a.txt", "changed by somebody\n")
				r.ok(tt.tool, tt.in)
			}
			if tt.some && !tt.write {
				return // nothing is shown of what it is now
			}
			if tt.write {
				r.ok("write", write)
				return
			}
			r.fails("edit", every, "has not been read in this session")
			r.fails("write", write, "has not been read in this session")
		})
	}
}

func TestSomeLinesAreNotEnoughToWrite(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "first line\nsecond line\n")
	r.ok("grep", m{"pattern": "second"})
	r.fails("write", m{"filePath": "a.txt", "content": "x\n"}, "only some lines of "+r.path("a.txt")+" were shown in this session")
	r.put("a.txt", "first line\nsecond line, changed\n")
	r.fails("edit", m{"filePath": "a.txt", "oldString": "line", "newString": "row", "replaceAll": true}, "only some lines of")
	r.seen("a.txt")
	r.ok("grep", m{"pattern": "second"}) // less than what was read
	r.ok("write", m{"filePath": "a.txt", "content": "x\n"})
}

// A file that a formatter changed is known as it left it; what another command changed
// is not.
func TestFormattedFilesAreKnown(t *testing.T) {
	if _, err := exec.LookPath("gofmt"); err != nil {
		t.Skip("no gofmt")
	}
	r := newRig(t)
	r.put("a.go", "package  a\n")
	r.seen("a.go")
	r.ok("bash", m{"command": "gofmt -w a.go"})
	if got := r.get("a.go"); got != "package a\n" {
		t.Fatalf("gofmt left %q", got)
	}
	r.ok("write", m{"filePath": "a.go", "content": "package  b\n"})
	if err := os.WriteFile(r.path("a.go"), []byte("package  a // by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.ok("bash", m{"command": "gofmt -w a.go"})
	r.fails("write", m{"filePath": "a.go", "content": "package c\n"}, "changed after it was last read")
	r.seen("a.go")
	r.ok("bash", m{"command": "echo 'package d' > a.go"})
	r.fails("write", m{"filePath": "a.go", "content": "package c\n"}, "changed after it was last read")
}
