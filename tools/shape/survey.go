package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// survey loads every package of the module in dir.
func survey(dir string) (*house, error) {
	conf := &packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps,
	}
	list, err := packages.Load(conf, "./...")
	if err != nil {
		return nil, err
	}
	h := &house{}
	for _, p := range list {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %v", p.PkgPath, p.Errors[0])
		}
		r, err := roomOf(p)
		if err != nil {
			return nil, err
		}
		h.rooms = append(h.rooms, r)
		h.types = append(h.types, typesOf(p)...)
	}
	return h, nil
}

func roomOf(p *packages.Package) (room, error) {
	r := room{path: p.PkgPath, files: len(p.GoFiles)}
	for _, name := range p.GoFiles {
		n, err := lines(name)
		if err != nil {
			return r, err
		}
		r.code += n
	}
	if len(p.GoFiles) > 0 {
		tests, err := filepath.Glob(filepath.Join(filepath.Dir(p.GoFiles[0]), "*_test.go"))
		if err != nil {
			return r, err
		}
		for _, name := range tests {
			n, err := lines(name)
			if err != nil {
				return r, err
			}
			r.test += n
		}
	}
	to := arrows(p)
	for _, targets := range to {
		r.arrows += len(targets)
	}
	r.climbing = climbing(to)
	return r, nil
}

func lines(name string) (int, error) {
	data, err := os.ReadFile(name)
	return bytes.Count(data, []byte("\n")), err
}

// arrows tells, for each file, the other files of the package whose declarations it uses.
func arrows(p *packages.Package) map[string]map[string]bool {
	to := map[string]map[string]bool{}
	file := func(pos token.Pos) string { return filepath.Base(p.Fset.Position(pos).Filename) }
	for _, f := range p.Syntax {
		from := file(f.Package)
		to[from] = map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			used := p.TypesInfo.Uses[id]
			if used == nil || used.Pkg() != p.Types || !declared(used) {
				return true
			}
			if target := file(used.Pos()); target != from {
				to[from][target] = true
			}
			return true
		})
	}
	return to
}

// declared is whether an object stands at the top of a file: a method, too, but no
// field, since those stand with their type.
func declared(o types.Object) bool {
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// climbing puts the files in a good order and counts the arrows that go against it.
func climbing(to map[string]map[string]bool) (n int) {
	place := map[string]int{}
	for i, name := range order(to) {
		place[name] = i
	}
	for from, targets := range to {
		for target := range targets {
			if place[target] < place[from] {
				n++
			}
		}
	}
	return n
}

// order is the greedy order of Eades, Lin and Smyth: what nobody uses goes first, what uses nothing last,
// and between them what uses most beyond what it is used.
func order(to map[string]map[string]bool) []string {
	left := map[string]bool{}
	for name := range to {
		left[name] = true
	}
	var first, last []string
	for len(left) > 0 {
		best, found := "", false
		out, in := degrees(to, left)
		for name := range left {
			better := out[name] - in[name]
			switch {
			case out[name] == 0: // a sink
				last = append(last, name)
				delete(left, name)
				found = true
			case in[name] == 0: // a source
				first = append(first, name)
				delete(left, name)
				found = true
			case best == "" || better > out[best]-in[best] || better == out[best]-in[best] && name < best:
				best = name
			}
			if found {
				break
			}
		}
		if !found {
			first = append(first, best)
			delete(left, best)
		}
	}
	for i := len(last) - 1; i >= 0; i-- {
		first = append(first, last[i])
	}
	return first
}

func degrees(to map[string]map[string]bool, left map[string]bool) (out, in map[string]int) {
	out, in = map[string]int{}, map[string]int{}
	for from := range left {
		for target := range to[from] {
			if left[target] {
				out[from]++
				in[target]++
			}
		}
	}
	return out, in
}

// typesOf are the package's named types.
func typesOf(p *packages.Package) (all []typ) {
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		named, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || named.IsAlias() {
			continue
		}
		t, ok := named.Type().(*types.Named)
		if !ok {
			continue
		}
		own := typ{name: strings.TrimPrefix(p.PkgPath, "lathe/internal/") + "." + name, methods: t.NumMethods()}
		switch under := t.Underlying().(type) {
		case *types.Struct:
			own.fields = under.NumFields()
		case *types.Interface:
			own.methods = under.NumMethods()
		}
		all = append(all, own)
	}
	return all
}
