package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lathe/internal/say"
)

// lag is how many texts may wait for a translation, so that who writes a new one need not
// know the language. They are named with -v, and said in English until then.
const lag = 12

// tellMissing reports texts that are English alone.
func tellMissing(t *testing.T, missing []string) {
	t.Helper()
	slices.Sort(missing)
	tell := t.Logf
	if len(missing) > lag {
		tell = t.Errorf
	}
	for _, m := range missing {
		tell("not in the catalogue: %s", m)
	}
}

// TestHelpIsSaidInEachLanguage holds that nothing in the help of a command is English alone.
func TestHelpIsSaidInEachLanguage(t *testing.T) {
	root := Tree()
	root.InitDefaultCompletionCmd()
	var missing []string
	everyCommand(root, func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		check := func(what, text string) {
			if text != "" && say.Chinese.Text(text) == text {
				missing = append(missing, fmt.Sprintf("%s, %s: %q", cmd.CommandPath(), what, text))
			}
		}
		check("Short", cmd.Short)
		if cmd.Parent() == nil || cmd.Parent().Name() != "completion" { // how to install a script, by cobra
			check("Long", cmd.Long)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { check("--"+f.Name, f.Usage) })
	})
	tellMissing(t, missing)
	for _, h := range headings {
		if say.Chinese.Text(h) == h {
			t.Errorf("%q is not in the catalogue", h)
		}
	}
}

// TestErrorsAreSaidInEachLanguage holds that no error or hint that is written for people is
// English alone, and that the catalogue has no texts that nobody says any more.
func TestErrorsAreSaidInEachLanguage(t *testing.T) {
	said := errorTexts(t, "..")
	var missing []string
	for text, at := range said {
		if say.Chinese.Text(text) == text {
			missing = append(missing, fmt.Sprintf("%s: %q", at, text))
		}
	}
	tellMissing(t, missing)
	stale := 0
	for _, name := range []string{"errors", "hints"} {
		for _, text := range entries(t, name) {
			if said[text] == "" {
				t.Logf("%s: nobody says %q any more", name, text)
				stale++
			}
		}
	}
	if stale > lag {
		t.Errorf("%d entries of the catalogue are of no use", stale)
	}
}

// entries returns the English texts of a file of the catalogue that stand on one line.
func entries(t *testing.T, name string) (out []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "say", "zh-CN", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(l, "> "); ok {
			out = append(out, strings.TrimSuffix(text, "\n"))
		}
	}
	return out
}

// errorTexts returns the formats of errors and hints below a directory, and where they are.
func errorTexts(t *testing.T, root string) map[string]string {
	t.Helper()
	said := map[string]string{}
	words := regexp.MustCompile(`[A-Za-z]{2}`)
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, e := range forPeople(call, edge.MatchString(filepath.ToSlash(path))) {
				if text, ok := written(e); ok && words.MatchString(verbs.ReplaceAllString(text, "")) {
					said[text] = files.Position(e.Pos()).String()
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// edge are the packages whose errors all reach a person.
var edge = regexp.MustCompile(`/(cli|client)/`)

var verbs = regexp.MustCompile(`%[\d.]*[a-zA-Z]`)

// forPeople returns the arguments of a call that people read. What commands and
// the client say reaches a person; what the engine wraps is for the log, and for them where it is a [lathe.Error].
func forPeople(call *ast.CallExpr, command bool) []ast.Expr {
	on, name := "", ""
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		name = s.Sel.Name
		if x, ok := s.X.(*ast.Ident); ok {
			on = x.Name
		}
	}
	switch {
	case on == "lathe" && name == "Errorf" && len(call.Args) > 2:
		return call.Args[1:3]
	case command && len(call.Args) > 0 && (name == "Usagef" || on == "fmt" && name == "Errorf" || on == "errors" && name == "New"):
		return call.Args[:1]
	}
	return nil
}

// written returns a text as it stands in the source, with %s for what is put in.
func written(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, known := written(e.X)
		b, also := written(e.Y)
		if !known {
			a = "%s"
		}
		if !also {
			b = "%s"
		}
		return a + b, e.Op == token.ADD && (known || also)
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			return written(e.Args[0])
		}
	}
	return "", false
}
