package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestRealThousandEdits makes a thousand changes in a row, each with an error that the
// one before had not, and tells what they cost. See .ci/languages and docs/benchmarks.md.
func TestRealThousandEdits(t *testing.T) {
	path := os.Getenv("LATHE_LANGUAGES")
	if path == "" || testing.Short() {
		t.Skip("LATHE_LANGUAGES names no directories with language servers")
	}
	tests := []struct {
		server, file, good, bad string
		files                   map[string]string
	}{
		{"gopls", "a.go", "package x\n\nfunc A() int { return 1 }\n", "package x\n\nfunc A() int { return \"\" }\n", map[string]string{"go.mod": "module x\n\ngo 1.25\n"}},
		{"typescript", "a.ts", "export function a(): number { return 1 }\n", "export function a(): number { return '' }\n", map[string]string{"package-lock.json": "{}", "tsconfig.json": "{}"}},
	}
	for _, tt := range tests {
		t.Run(tt.server, func(t *testing.T) {
			d := realDesk(t, path)
			for name, text := range tt.files {
				if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if len(d.servers.serving(filepath.Join(d.dir, tt.file))) == 0 {
				t.Skipf("%s is not there", tt.server)
			}
			begin := time.Now()
			d.change(tt.file, tt.good, tt.good+"\n")
			start, before := time.Since(begin), d.servers.Status()[0].Memory
			var took []time.Duration
			seen := 0
			for i := range 1000 {
				from, to := tt.good, tt.bad
				if i%2 == 1 {
					from, to = to, from
				}
				begin := time.Now()
				r := d.change(tt.file, from, to)
				took = append(took, time.Since(begin))
				if len(r.New)+len(r.Fixed) > 0 {
					seen++
				}
			}
			slices.Sort(took)
			t.Logf("first change %v, then median %v, 99 of 100 below %v; memory %s, then %s; %d of 1000 told at once",
				start.Round(time.Millisecond), took[500].Round(time.Millisecond), took[990].Round(time.Millisecond), size(before), size(d.servers.Status()[0].Memory), seen)
			if seen < 900 {
				t.Errorf("%d of 1000 changes were told of", seen)
			}
		})
	}
}
