package page

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// lineNumber is how read and grep begin a line of a file.
var lineNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:  Line )?(\d+)([:-]) `) })

// numbered sets the numbers of lines in a column as wide as a tab, so that code which begins
// with tabs stands in its place.
func numbered(out string) string {
	longest := 0
	for _, m := range lineNumber().FindAllStringSubmatch(out, -1) {
		longest = max(longest, len(m[1]))
	}
	digits := (longest+4)/4*4 - 1
	return lineNumber().ReplaceAllStringFunc(out, func(head string) string {
		m := lineNumber().FindStringSubmatch(head)
		mark := m[2]
		if !strings.HasPrefix(head, " ") {
			mark = " " // read has no other
		}
		return fmt.Sprintf("%*s%s", digits, m[1], mark)
	})
}
