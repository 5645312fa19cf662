package builtin

import (
	"strings"
	"testing"
)

// What a model believes of commands and patches and is not so is told where it shows.
func TestSlipsOfCommands(t *testing.T) {
	r := newRig(t)
	r.put("sub/x", "")
	for command, want := range map[string]bool{
		"cd sub": true, "true && cd sub": true, "cd sub; ": true, "cd": true,
		"cd sub && ls": false, "(cd sub)": false, "echo cd sub": false, "cd nothing": false,
	} {
		res := r.ok("bash", m{"command": command})
		if told := strings.Contains(res.Output, "The next command starts in the session's directory again"); told != want {
			t.Errorf("%q: told %v: %s", command, told, res.Output)
		}
	}
	res := r.ok("bash", m{"command": "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF"})
	if !strings.Contains(res.Output, "apply_patch is no program: call the tool of that name") {
		t.Errorf("apply_patch as a program: %s", res.Output)
	}
}

// A patch is carried out for models that were not offered the tool, also without its
// last line.
func TestPatchThatIsNotOffered(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one\ntwo\n")
	for _, name := range r.tools.Names() {
		if name == "apply_patch" {
			t.Error("apply_patch is offered beside edit")
		}
	}
	r.ok("apply_patch", m{"input": "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2"})
	if got := r.get("a.txt"); got != "one\n2\n" {
		t.Errorf("a.txt holds %q", got)
	}
	r.fails("apply_patch", m{"patchText": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n"}, `begins with the line "*** Begin Patch"`)
}

// A tool that would ask a person is answered where there is none.
func TestQuestionWithNobodyThere(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"question", "AskUserQuestion", "ask_followup_question"} {
		_, tl, input := r.tools.Resolve(name, `{}`)
		call := r.call(nil)
		call.Input = input
		res, err := tl.Run(t.Context(), call)
		if err != nil || !strings.HasPrefix(res.Output, "Nobody is there to answer: decide yourself") {
			t.Errorf("%s: %q, %v", name, res.Output, err)
		}
	}
}
