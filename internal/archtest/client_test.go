package archtest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// light is all of lathe that the client may bring along. Every face links it, so an
// engine below it would be in every face.
var light = []string{"lathe", "lathe/internal/api", "lathe/internal/client", "lathe/internal/opencode/wire", "lathe/internal/sse"}

// modules are what the client may bring along of other people's code.
var modules = []string{"golang.org/x/sys/unix"}

// TestClientLinksNoEngine holds that whoever links the client links no database, shell,
// provider or session with it.
func TestClientLinksNoEngine(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "lathe/internal/client").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if !slices.Contains(light, dep) && !slices.Contains(modules, dep) {
			t.Errorf("lathe/internal/client links %s", dep)
		}
	}
}

// TestVocabularyImportsNothing holds that the words of the faces and their wire form
// stand on the root package alone.
func TestVocabularyImportsNothing(t *testing.T) {
	may := map[string][]string{
		"lathe/internal/api":           {"lathe"},
		"lathe/internal/opencode/wire": {"lathe", "lathe/internal/api"},
	}
	for _, p := range packages(t) {
		allowed, ok := may[p.ImportPath]
		for _, imp := range p.Imports {
			if ok && (imp == "lathe" || strings.HasPrefix(imp, "lathe/")) && !slices.Contains(allowed, imp) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}
