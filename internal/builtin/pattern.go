package builtin

import (
	"regexp"
	"sync"
)

// pattern compiles a regular expression when it is first asked for: most processes
// start without needing any, and compiling all of them takes a millisecond.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
