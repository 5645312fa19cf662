package builtin

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A pipeline has the exit code of its last part, so the model is told of the others
// that failed; nothing else about the command changes.
func TestFailedPartsOfPipelines(t *testing.T) {
	for _, name := range []string{"bash", "zsh"} {
		t.Run(name, func(t *testing.T) {
			sh, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed", name)
			}
			testFailedParts(t, newRig(t, func(e *Env) { e.Shell = sh }), name)
		})
	}
}

func testFailedParts(t *testing.T, r *rig, name string) {
	const last = ". The exit code of the command is that of its last part."
	tests := []struct {
		command, want string // want is what the notes say
	}{
		{"sh -c 'exit 3' | tail", "A part of the pipeline failed: sh -c 'exit 3': exit code 3" + last},
		{"echo a | grep b | wc -l", "A part of the pipeline failed: grep b: exit code 1" + last},
		{"cd . && false | cat", "A part of the pipeline failed: false: exit code 1" + last},
		{"false | true | sh -c 'exit 2'", "exit code 2\nA part of the pipeline failed: false: exit code 1" + last},
		{"{ false | cat; }", "A part of the pipeline failed: false: exit code 1" + last},
		{"false | cat || true | cat", "A part of the pipeline failed: part 1: exit code 1" + last},
		{"set -o pipefail; false | cat", "exit code 1\nA part of the pipeline failed: false: exit code 1" + last},
		{"true | false", "exit code 1"},
		{"yes | head -1", ""},
		{"echo a | cat", ""},
		{"false | cat; echo after", ""},
		{"trap 'echo own' EXIT; false | cat", ""},
		{"exec 41>/dev/null; echo a | cat", ""},
		{"exec 41>&-; false | cat", ""},
	}
	for _, tt := range tests {
		if name == "zsh" && strings.HasPrefix(tt.command, "exec 41") {
			continue // zsh opens files by one digit only
		}
		t.Run(tt.command, func(t *testing.T) {
			out := r.ok("bash", m{"command": tt.command}).Output
			_, notes, _ := strings.Cut(out, "<bash_metadata>\n")
			if d := cmp.Diff(tt.want, strings.TrimSuffix(notes, "\n</bash_metadata>")); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
			if strings.Contains(out, "trap") || strings.Contains(out, "Bad file") {
				t.Errorf("output %q", out)
			}
		})
	}
	if name != "bash" {
		return
	}
	if got := r.ok("bash", m{"command": "echo $LINENO; false | cat; echo \"$BASH_COMMAND\" | cat"}).Output; !strings.HasPrefix(got, "1\n") {
		t.Errorf("lines are counted otherwise: %q", got)
	}
}
