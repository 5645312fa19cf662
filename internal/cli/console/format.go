package console

import (
	"fmt"

	"github.com/spf13/pflag"
)

// ListFormat is how a list is printed: for people, or as JSON for programs. The zero value
// is for people.
type ListFormat struct{ JSON bool }

// Flag adds --format to a command that lists something.
func (o *ListFormat) Flag(f *pflag.FlagSet) { f.Var(o, "format", "table or json") }

// String returns the name of the format.
func (o *ListFormat) String() string {
	if o.JSON {
		return "json"
	}
	return "table"
}

// Set reads the name of a format.
func (o *ListFormat) Set(name string) error {
	switch name {
	case "table", "text":
		o.JSON = false
	case "json":
		o.JSON = true
	default:
		return fmt.Errorf("--format %q is neither table nor json", name)
	}
	return nil
}

// Type says in help texts what the flag takes.
func (o *ListFormat) Type() string { return "string" }

// PrintList prints a list as a JSON array; an empty one is [].
func PrintList[T any](env *Env, list []T) error {
	if list == nil {
		list = []T{}
	}
	return PrintJSON(env, list)
}
