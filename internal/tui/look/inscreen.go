package look

import (
	"regexp"
	"sync"
)

// shellHints are shell commands that the engine's hints name, each with the
// screen's way to do the same.
var shellHints = sync.OnceValue(func() []shellHint {
	return []shellHint{
		{regexp.MustCompile(`(?:run: )?\blathe auth login(?: [A-Za-z0-9][A-Za-z0-9._-]*)?`), "/connect"},
		{regexp.MustCompile(`\blathe models(?: --all)?(?: [A-Za-z0-9][A-Za-z0-9._-]*)?`), "/models"},
		{regexp.MustCompile(`\blathe permissions\b`), "/permissions"},
		{regexp.MustCompile(`\blathe doctor\b`), "/doctor"},
		{regexp.MustCompile(`\blathe trust\b`), "/trust"},
	}
})

type shellHint struct {
	command *regexp.Regexp
	here    string
}

// InScreen returns a text of the engine with the shell commands it names
// replaced by the screen's way to do the same.
func InScreen(text string) string {
	for _, h := range shellHints() {
		text = h.command.ReplaceAllString(text, h.here)
	}
	return text
}
