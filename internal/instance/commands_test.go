package instance

import (
	"strings"
	"testing"
)

// FuzzTemplate holds that arguments are put in once, as they are, and that what
// they hold is never taken for a placeholder.
func FuzzTemplate(f *testing.F) {
	f.Add("say $1 and $2", `a "b c" d`)
	f.Add("all: $ARGUMENTS", "$1 $ARGUMENTS !`x`")
	f.Add("nothing", "\xff $9")
	f.Fuzz(func(t *testing.T, template, arguments string) {
		if strings.Contains(template, "!`") || strings.HasPrefix(strings.TrimSpace(template), "/") {
			return // those need a shell and other commands
		}
		text, err := (&Commands{}).expandTemplate(t.Context(), Command{Template: template}, given{text: arguments})
		if err != nil {
			if len(template)+len(arguments) < maxTemplate/4 && !strings.Contains(template, "$") {
				t.Fatalf("%v", err)
			}
			return
		}
		if !placeholders().MatchString(template) && strings.TrimSpace(arguments) != "" && !strings.HasSuffix(text, strings.TrimSpace(arguments)) {
			t.Fatalf("%q with %q is %q", template, arguments, text)
		}
		if strings.TrimSpace(template) == "$ARGUMENTS" && text != strings.TrimSpace(arguments) {
			t.Fatalf("%q became %q", arguments, text)
		}
		args := positional(template, arguments)
		words := splitArguments(arguments)
		if n := len(args); n > 0 && n <= len(words) && args[n-1] != strings.Join(words[n-1:], " ") {
			t.Fatalf("the highest number did not take the rest: %q of %q", args, words)
		}
	})
}
