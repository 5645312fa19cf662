package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tool"
)

// remembering is a rig in which agents may suggest instructions.
func remembering(t *testing.T) (*rig, string) {
	file := ""
	r := newRig(t, func(e *Env) { e.Notes = func() (string, error) { return file, nil } })
	file = filepath.Join(r.dir, "AGENTS.md")
	return r, file
}

// A suggested line is written only after a yes for this line, whatever is allowed, and once.
func TestRemember(t *testing.T) {
	r, file := remembering(t)
	res, err := r.run("remember", m{"line": "- 用 make test 跑测试"})
	if err != nil || !strings.Contains(res.Output, "Written to AGENTS.md") {
		t.Fatalf("result %+v, %v", res, err)
	}
	if len(r.asks) != 1 || r.asks[0].Permission != "edit" || r.asks[0].Metadata[tool.MetaProtected] != true || len(r.asks[0].Always) != 0 ||
		!strings.Contains(r.asks[0].Metadata["diff"].(string), "+- 用 make test 跑测试") {
		t.Errorf("asked %+v", r.asks)
	}
	r.asked()
	const want = "## Learned from corrections\n\n- 用 make test 跑测试\n"
	if text, err := os.ReadFile(file); err != nil || string(text) != want {
		t.Errorf("the file is %q, %v", text, err)
	}
	if res, err = r.run("remember", m{"line": "用 make test 跑测试"}); err != nil || !strings.Contains(res.Output, "already") || len(r.asks) != 0 {
		t.Errorf("again: %+v, %v, asked %+v", res, err, r.asks)
	}
	r.deny = func(tool.Request) error { return errDenied }
	if res, err = r.run("remember", m{"line": "Another rule"}); err == nil && !res.Failed {
		t.Errorf("without a yes: %+v", res)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != want {
		t.Errorf("after a no the file is %q, %v", text, err)
	}
}

// What is no line is told to the model, and nobody is asked.
func TestRememberNoLine(t *testing.T) {
	r, file := remembering(t)
	for line, want := range map[string]string{
		" - ": "line is required", "one\ntwo": "give one line", strings.Repeat("x", 300): "make it shorter",
		"Use the key sk-ant-api03-" + strings.Repeat("a1B2", 24): "credential",
	} {
		if res, err := r.run("remember", m{"line": line}); err != nil || !res.Failed || !strings.Contains(res.Output, want) {
			t.Errorf("%.20q: %+v, %v, want %q", line, res, err, want)
		}
	}
	if len(r.asks) != 0 {
		t.Errorf("asked %+v", r.asks)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("there is a file")
	}
}

// The tool is not there, and costs nothing, unless it is switched on.
func TestRememberIsOff(t *testing.T) {
	r := newRig(t)
	for _, one := range New(r.env) {
		if one.Spec().Name == "remember" {
			t.Error("it is offered")
		}
	}
}
