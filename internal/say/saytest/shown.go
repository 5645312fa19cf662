package saytest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Shown finds English in what was printed for a person who reads another language. It knows
// the texts that have a translation: where one of them is printed as it is, nobody looked it up.
type Shown struct{ texts []*regexp.Regexp }

// NewShown reads the files of a catalogue. Texts of a single word are left out: models and
// people use them, too.
func NewShown(t *testing.T, catalogue string) *Shown {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(catalogue, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no catalogue in %s: %v", catalogue, err)
	}
	s := &Shown{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
			rest := verbs().ReplaceAllString(text, "")
			if ok && len(strings.Fields(rest)) > 1 && len(strings.TrimSpace(rest)) > 6 {
				s.texts = append(s.texts, printed(text))
			}
		}
	}
	return s
}

// printed is a text as it may be printed: in words, with anything short put in.
func printed(text string) *regexp.Regexp {
	var b strings.Builder
	at := 0
	for _, v := range verbs().FindAllStringIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[at:v[0]]) + `\S{1,40}`)
		at = v[1]
	}
	b.WriteString(regexp.QuoteMeta(text[at:]))
	pattern := strings.ReplaceAll(b.String(), " ", `\s+`)
	return regexp.MustCompile(`(^|[^A-Za-z])` + pattern + `($|[^A-Za-z])`)
}

// In returns what is English in a print. A text may go over several lines.
func (s *Shown) In(print string) (out []string) {
	for _, re := range s.texts {
		if found := re.FindString(print); found != "" {
			out = append(out, strings.Join(strings.Fields(found), " "))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Unsaid calls found with each text that a function below a directory hands to one that draws
// it as it is, although nobody has looked it up, and where it stands. Draws names those
// functions, and the fields of what is drawn: their texts are said by whoever calls them.
// A text may be handed on by a variable of the function.
func Unsaid(t *testing.T, root string, draws, fields []string, found func(text, at string)) {
	t.Helper()
	Walk(t, root, func(n ast.Node, at func(ast.Node) string) bool {
		fn, ok := n.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			return true
		}
		raw := rawVariables(fn)
		check := func(e ast.Expr) {
			for _, text := range rawIn(e, raw) {
				found(text, at(e))
			}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(draws, s.Sel.Name) && len(n.Args) > 0 {
					check(n.Args[0])
				}
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					kv, ok := e.(*ast.KeyValueExpr)
					if name, is := key(kv); ok && is && slices.Contains(fields, name) && !isMessage(n) {
						check(kv.Value)
					}
				}
			}
			return true
		})
		return false
	})
}

// isMessage reports whether a literal is told later by what takes it, and not drawn: it has
// a type of its own, other than a piece of a line.
func isMessage(lit *ast.CompositeLit) bool {
	s, ok := lit.Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name != "Span"
}

func key(kv *ast.KeyValueExpr) (string, bool) {
	if kv == nil {
		return "", false
	}
	name, ok := kv.Key.(*ast.Ident)
	if !ok {
		return "", false
	}
	return name.Name, true
}

// rawVariables returns the variables of a function that are given a text as it is.
func rawVariables(fn *ast.FuncDecl) map[string][]string {
	raw := map[string][]string{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, l := range a.Lhs {
			if name, ok := l.(*ast.Ident); ok {
				raw[name.Name] = append(raw[name.Name], rawIn(a.Rhs[i], nil)...)
			}
		}
		return true
	})
	return raw
}

// rawIn returns the texts of an expression that nobody looks up.
func rawIn(e ast.Expr, raw map[string][]string) (out []string) {
	switch e := e.(type) {
	case *ast.Ident:
		return raw[e.Name]
	case *ast.ParenExpr:
		return rawIn(e.X, raw)
	case *ast.BinaryExpr:
		return append(rawIn(e.X, raw), rawIn(e.Y, raw)...)
	case *ast.BasicLit:
		if text, ok := Written(e); ok && prose().MatchString(text) {
			return []string{text}
		}
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Sprintf", "OneLine", "Plural", "Several", "TrimSpace", "Clean"}, s.Sel.Name) {
			if text, ok := made(e, false); ok && prose().MatchString(text) {
				return []string{text}
			}
			for _, a := range e.Args {
				out = append(out, rawIn(a, raw)...)
			}
		}
	}
	return out
}
