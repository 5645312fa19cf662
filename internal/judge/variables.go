package judge

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// variable is one row of variables.txt, which says what its columns mean.
type variable struct{ flags, harmless string }

//go:embed variables.txt
var variablesText string

var variables = sync.OnceValue(func() *table {
	t, err := newTable(variablesText)
	if err != nil {
		panic(err)
	}
	return t
})

// variableOf returns the row of a name, or one that says nothing.
func variableOf(name string) variable {
	r := variables().find(name)
	if r == nil {
		return variable{}
	}
	v, err := newVariable(r.body)
	if err != nil {
		panic(err) // a test reads every row
	}
	return v
}

func newVariable(body string) (v variable, err error) {
	for body != "" && err == nil {
		var line string
		line, body = cutColumn(body)
		switch column, value, _ := strings.Cut(line, ": "); column {
		case "is":
			v.flags = value
			err = words(value, "steering prompt set-by-shell number")
		case "harmless":
			v.harmless = value
		default:
			err = fmt.Errorf("there is no column %q", column)
		}
	}
	return v, err
}

func (v variable) is(mark string) bool { return in(mark, v.flags) }

// steers reports whether a variable changes what later commands do.
func steers(name string, f field) bool {
	v := variableOf(name)
	switch {
	case v.is("prompt"):
		return !f.known || strings.Contains(f.text, "$(") || strings.Contains(f.text, "${") || strings.Contains(f.text, "`")
	case !v.is("steering"):
		return false
	}
	return !f.known || !v.allows(f.text)
}

// allows reports whether a value is an everyday one.
func (v variable) allows(value string) bool {
	for word := range strings.FieldsSeq(v.harmless) {
		switch before, number := strings.CutSuffix(word, "(number)"); {
		case word == "(any)", word == "(empty)" && value == "":
			return true
		case number:
			if rest, ok := strings.CutPrefix(value, before); ok && isNumber(rest) {
				return true
			}
		case word == value && word[0] != '(':
			return true
		}
	}
	return false
}
