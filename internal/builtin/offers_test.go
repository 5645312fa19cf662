package builtin

import (
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/permission"
	"lathe/internal/tool"
)

// TestOffersAreLiteral holds that what an "always" remembers is the directory that
// was asked about, whatever it is called, and never everything.
func TestOffersAreLiteral(t *testing.T) {
	r := newRig(t)
	r.deny = func(req tool.Request) error {
		if req.Permission == "external_directory" {
			return errDenied
		}
		return nil
	}
	base := r.env.Home
	for _, name := range []string{"*", "*/*", "a?", "[*]", "a *"} {
		file := filepath.Join(base, name, "x.txt")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		for tool, input := range map[string]m{
			"read": {"filePath": file}, "glob": {"pattern": "*", "path": filepath.Dir(file)}, "write": {"filePath": file, "content": "y"},
			"bash": {"command": "cat '" + file + "'", "description": "d"},
		} {
			r.asked()
			_, _ = r.run(tool, input)
			found := false
			for _, ask := range r.asks {
				if ask.Permission != "external_directory" {
					continue
				}
				found = true
				for _, pattern := range ask.Always {
					if !permission.Match(pattern, ask.Patterns[0]) || permission.Match(pattern, filepath.Join(base, "other", "*")) || permission.Match(pattern, "/etc/*") {
						t.Errorf("%s in %q: asked for %q, offers %q", tool, name, ask.Patterns, pattern)
					}
				}
				if len(ask.Always) != 1 {
					t.Errorf("%s in %q offers %q", tool, name, ask.Always)
				}
			}
			if !found {
				t.Errorf("%s in %q was not asked about", tool, name)
			}
		}
	}
	r.asked()
	_, _ = r.run("bash", m{"command": "cat /x.txt", "description": "d"})
	for _, ask := range r.asks {
		if ask.Permission == "external_directory" && len(ask.Always) > 0 {
			t.Errorf("for the root of the file system it offers %q", ask.Always)
		}
	}
}
