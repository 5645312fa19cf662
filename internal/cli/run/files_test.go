package run

import "testing"

func TestCutLines(t *testing.T) {
	for _, tt := range []struct {
		in, name, query string
		ok              bool
	}{
		{"a.go:5", "a.go", "end=5&start=5", true},
		{"a.go:5-20", "a.go", "end=20&start=5", true},
		{"dir/a:b:7-7", "dir/a:b", "end=7&start=7", true},
		{"a.go", "", "", false}, {"a.go:", "", "", false}, {":5", "", "", false},
		{"a.go:0", "", "", false}, {"a.go:9-5", "", "", false}, {"a.go:5-", "", "", false}, {"a.go:x", "", "", false},
	} {
		name, query, ok := cutLines(tt.in)
		if name != tt.name || query.Encode() != tt.query || ok != tt.ok {
			t.Errorf("%q: %q %q %v", tt.in, name, query.Encode(), ok)
		}
	}
}
