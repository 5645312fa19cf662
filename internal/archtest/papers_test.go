package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// papers name functions, types and files of the source, in backquotes.
var papers = []string{"../../docs/architecture.md"}

// aName is a name of the source as papers write it: run, turn.Run, Store.Track or
// session.Service.Prompt.
var aName = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,2}$`)

// kept are files of data, which the source does not declare.
var kept = regexp.MustCompile(`^\w+\.(db|json)$`)

// TestPapersNameWhatThereIs holds that what docs/architecture.md names is in the source.
func TestPapersNameWhatThereIs(t *testing.T) {
	names, files := declared(t)
	for _, paper := range papers {
		raw, err := os.ReadFile(paper)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(raw), "\n") {
			parts := strings.Split(line, "`")
			for i := 1; i+1 < len(parts); i += 2 {
				word := strings.TrimSuffix(parts[i], "()")
				switch {
				case kept.MatchString(word):
				case strings.HasSuffix(word, ".go"):
					if !slices.ContainsFunc(files, func(f string) bool { return f == word || strings.HasSuffix(f, "/"+word) }) {
						t.Errorf("%s:%d: there is no file %s", paper, n+1, word)
					}
				case aName.MatchString(word) && !names[word]:
					t.Errorf("%s:%d: there is no %s", paper, n+1, word)
				}
			}
		}
	}
}

// declared returns all that the source declares, each by its own name, by that of its
// package or type, and by both, and its files.
func declared(t *testing.T) (names map[string]bool, files []string) {
	t.Helper()
	names = map[string]bool{}
	inside := map[string][]string{} // what a type embeds
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			names[filepath.Base(filepath.Dir(path))] = true
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files = append(files, filepath.ToSlash(path))
		names[filepath.Base(filepath.Dir(path))] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names[f.Name.Name] = true
		for _, decl := range f.Decls {
			note(names, inside, f.Name.Name, decl)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	promote(names, inside)
	return names, files
}

// promote gives types the members of what they embed.
func promote(names map[string]bool, inside map[string][]string) {
	for _, name := range slices.Collect(maps.Keys(names)) {
		of, member, ok := strings.Cut(name, ".")
		if !ok || strings.Contains(member, ".") {
			continue
		}
		for _, outer := range inside[of] {
			names[outer+"."+member] = true
		}
	}
}

func note(names map[string]bool, inside map[string][]string, pkg string, decl ast.Decl) {
	add := func(of, name string) {
		names[name], names[pkg+"."+name] = true, true
		if of != "" {
			names[of+"."+name], names[pkg+"."+of+"."+name] = true, true
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		add(receiver(d), d.Name.Name)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add("", name.Name)
				}
			case *ast.TypeSpec:
				add("", s.Name.Name)
				own, embedded := members(s.Type)
				for _, name := range own {
					add(s.Name.Name, name)
				}
				for _, name := range embedded {
					inside[name] = append(inside[name], s.Name.Name)
				}
			}
		}
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	return typeName(d.Recv.List[0].Type)
}

// typeName is the name of a type, without its package, pointers and parameters.
func typeName(of ast.Expr) string {
	switch t := of.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// members are the fields of a struct and the methods of an interface, and what they embed.
func members(t ast.Expr) (own, embedded []string) {
	var list *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return nil, nil
	}
	for _, f := range list.List {
		for _, name := range f.Names {
			own = append(own, name.Name)
		}
		if len(f.Names) == 0 {
			embedded = append(embedded, typeName(f.Type))
		}
	}
	return own, embedded
}
