package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathsOfACall(t *testing.T) {
	long := strings.Repeat("x", maxPath+1)
	for input, want := range map[string][]string{
		`{"filePath":"a.txt","content":"one\ntwo\n"}`:                                                         {"a.txt"},
		`{"patchText":"*** Begin Patch\n*** Update File: a/b c.go\n*** Move to: d.go\n+x: y\n*** End Patch"}`: {"a/b c.go", "d.go"},
		`{"tool_calls":[{"tool":"write","parameters":{"filePath":"/x/y"}},{"tool":"edit"}]}`:                  {"/x/y", "write", "edit"},
		`{"filePath":"` + long + `","n":3,"deep":[null,true]}`:                                                nil,
		`{"filePath":`: nil,
		``:             nil,
	} {
		if diff := cmp.Diff(want, pathsIn([]byte(input))); diff != "" {
			t.Errorf("%.60s (-want +got):\n%s", input, diff)
		}
	}
}
