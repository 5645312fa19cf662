package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/store/local"
)

// TestOutputsOfOtherSessions keeps the whole of what one session's tools printed
// from the tools of others, and lets a session read its own.
func TestOutputsOfOtherSessions(t *testing.T) {
	r := newRig(t)
	r.outputs = "ses_own"
	all := filepath.Join(r.env.DataDir, local.OutputsDir)
	for name, text := range map[string]string{"ses_own/tool_a": "mine\n", "ses_other/tool_b": "theirs\n", "tool_c": "older\n"} {
		path := filepath.Join(all, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own, other := filepath.Join(all, "ses_own"), filepath.Join(all, "ses_other")
	for _, ask := range []struct {
		tool  string
		input m
	}{
		{"read", m{"filePath": filepath.Join(own, "tool_a")}}, {"grep", m{"pattern": "mine", "path": own}},
		{"bash", m{"command": "cat " + own + "/tool_a", "description": "reads"}}, {"bash", m{"command": "grep -r mine " + own, "description": "reads"}},
	} {
		if res, err := r.run(ask.tool, ask.input); err != nil || !strings.Contains(res.Output, "mine") {
			t.Errorf("%s %v: %q, %v", ask.tool, ask.input, res.Output, err)
		}
	}
	for _, path := range []string{filepath.Join(other, "tool_b"), filepath.Join(all, "tool_c"), filepath.Join(own, "..", "ses_other", "tool_b")} {
		r.fails("read", m{"filePath": path}, "belongs to lathe itself")
		r.fails("bash", m{"command": "head " + path, "description": "reads"}, "belongs to lathe itself")
	}
	link := filepath.Join(r.dir, "innocent")
	if err := os.Symlink(filepath.Join(other, "tool_b"), link); err != nil {
		t.Fatal(err)
	}
	r.fails("read", m{"filePath": link}, "belongs to lathe itself")
	for _, dir := range []string{other, all} {
		r.fails("grep", m{"pattern": "e", "path": dir}, "belongs to lathe itself")
		r.fails("bash", m{"command": "grep -r e " + dir, "description": "reads"}, "belongs to lathe itself")
		r.fails("bash", m{"command": "cat " + dir + "/*", "description": "reads"}, "belongs to lathe itself")
	}

	// What is too long to be shown goes to the own one.
	res, err := r.run("bash", m{"command": "seq 1 100000", "description": "counts"})
	if path, _ := res.Metadata["outputPath"].(string); err != nil || filepath.Dir(path) != own {
		t.Errorf("the whole is in %q, %v", path, err)
	}
}
