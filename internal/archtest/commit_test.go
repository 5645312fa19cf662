package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// engine are the packages that change what is stored of sessions and tell of it.
var engine = []string{"session", "undo", "window", "share", "project", "instance", "turn", "builtin", "permission", "compact", "job"}

// TestChangesGoThroughCommit holds that the engine writes to its store, and tells its
// bus, through [lathe/internal/commit] alone: nothing is published that is not stored,
// and all events have the order in which things were stored.
func TestChangesGoThroughCommit(t *testing.T) {
	for _, pkg := range engine {
		for _, call := range calls(t, filepath.Join("..", pkg)) {
			if why := goesAround(call.path); why != "" {
				t.Errorf("%s: %s %s", call.at, strings.Join(call.path, "."), why)
			}
		}
	}
}

// goesAround says what is wrong with a call, which is told by its names: s.opts.Bus.Publish
// is s, opts, Bus, Publish.
func goesAround(call []string) string {
	if len(call) < 2 {
		return ""
	}
	on, name := call[len(call)-2], call[len(call)-1]
	switch {
	case name == "Batch":
		return "writes to the store: use commit.Writer.Commit"
	case (name == "AppendText" || name == "SaveProgress") && on != "writer":
		return "writes to the store: use commit.Writer"
	case name == "Publish" && strings.EqualFold(on, "bus"):
		return "publishes: use commit.Tx.Tell, or commit.Writer.Tell for what is not stored"
	}
	return ""
}

// Every way around commit that there was is seen.
func TestWaysAroundCommitAreSeen(t *testing.T) {
	for call, bad := range map[string]bool{
		"s.opts.Store.Batch": true, "u.store.Batch": true, "k.Batch": true, "r.store.AppendText": true, "r.store.SaveProgress": true,
		"s.opts.Bus.Publish": true, "u.bus.Publish": true, "r.writer.AppendText": false, "u.writer.Commit": false, "t.Log.Publish": false,
		"e.Publish": false, "s.opts.Bus.Subscribe": false, "Batch": false,
	} {
		if got := goesAround(strings.Split(call, ".")) != ""; got != bad {
			t.Errorf("%s: %v, want %v", call, got, bad)
		}
	}
}

type called struct {
	at   string
	path []string
}

// calls lists the calls of a package's own files, tests left out.
func calls(t *testing.T, dir string) (all []called) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				all = append(all, called{set.Position(c.Pos()).String(), names(c.Fun)})
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Errorf("%s makes no calls", dir)
	}
	return all
}

func names(e ast.Expr) (out []string) {
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			out, e = append(out, x.Sel.Name), x.X
			continue
		case *ast.Ident:
			out = append(out, x.Name)
		}
		slices.Reverse(out)
		return out
	}
}
