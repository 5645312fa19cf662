package cli

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lathe/internal/say"
	"lathe/internal/say/saytest"
)

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
	saytest.Tell(t, missing)
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
	saytest.Tell(t, missing)
	saytest.Prose(t, "..", func(text, at string) { // some are handed to a function that makes the error
		if said[text] == "" {
			said[text] = at
		}
	})
	for _, name := range []string{"errors", "hints"} {
		for _, text := range entries(t, name) {
			if said[text] == "" {
				t.Errorf("internal/say/zh-CN/%s.txt: nobody says %q any more", name, text)
			}
		}
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

// TestNoticesAreSaidInEachLanguage holds that what commands tell on standard error is not
// English alone.
func TestNoticesAreSaidInEachLanguage(t *testing.T) {
	var missing []string
	saytest.Walk(t, ".", func(n ast.Node, at func(ast.Node) string) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, e := range told(call) {
			text, ok := saytest.Written(e)
			for line := range strings.SplitSeq(text, "\n") {
				for _, label := range []string{"lathe: ", "warning: ", "note: ", "hint: "} {
					line = strings.TrimPrefix(line, label)
				}
				if ok && !saytest.Known(line) {
					missing = append(missing, fmt.Sprintf("%s: %q", at(e), line))
				}
			}
		}
		return true
	})
	saytest.Tell(t, missing)
}

// told returns the arguments of a call that it tells on standard error.
func told(call *ast.CallExpr) []ast.Expr {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	switch s.Sel.Name {
	case "Notice", "Warning", "say":
		return call.Args[:1]
	case "Fprintf", "Fprintln", "Fprint":
		if to, ok := call.Args[0].(*ast.SelectorExpr); ok && to.Sel.Name == "Stderr" && len(call.Args) > 1 {
			return call.Args[1:2]
		}
	}
	return nil
}

// errorTexts returns the formats of errors and hints below a directory, and where they are.
func errorTexts(t *testing.T, root string) map[string]string {
	t.Helper()
	said := map[string]string{}
	words := regexp.MustCompile(`[A-Za-z]{2}`)
	saytest.Walk(t, root, func(n ast.Node, at func(ast.Node) string) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, e := range forPeople(call, edge.MatchString(filepath.ToSlash(at(call)))) {
			if text, ok := saytest.Written(e); ok && words.MatchString(verbs.ReplaceAllString(text, "")) {
				said[text] = at(e)
			}
		}
		return true
	})
	return said
}

// edge are the packages whose errors all reach a person.
var edge = regexp.MustCompile(`/(cli|client)/`)

var verbs = regexp.MustCompile(`%[\d.]*[a-zA-Z]`)

// forPeople returns the arguments of a call that people read. What commands and
// the client say reaches a person; what the engine wraps is for the log, and for them where it is a [lathe.Error].
func forPeople(call *ast.CallExpr, command bool) []ast.Expr {
	on, name := "", ""
	if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "wrapped" && len(call.Args) > 3 { // of the stores: code, hint, cause, format
		return []ast.Expr{call.Args[1], call.Args[3]}
	}
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
