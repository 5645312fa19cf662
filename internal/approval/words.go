package approval

import (
	"fmt"
	"strings"
)

// phrase says what a permission is for: with one thing named, with all that begins
// with it, and with a pattern. The name stands for %s.
type phrase struct{ one, under, like string }

var phrases = map[string]phrase{
	"bash":               {`the command "%s"`, `commands that begin with "%s"`, `commands like "%s"`},
	"edit":               {"changes of %s", "changes of anything in %s", `changes of files like "%s"`},
	"read":               {"reading %s", "reading anything in %s", `reading files like "%s"`},
	"external_directory": {"using %s, outside the project", "using anything in %s, outside the project", `using paths like "%s", outside the project`},
	"webfetch":           {"fetching %s", "fetching anything from %s", `fetching addresses like "%s"`},
	"websearch":          {`searching the web for "%s"`, "", `searching the web for words like "%s"`},
	"codesearch":         {`searching code for "%s"`, "", `searching code for words like "%s"`},
	"grep":               {`searching files for "%s"`, "", `searching files for text like "%s"`},
	"glob":               {`looking for files named "%s"`, "", `looking for files named like "%s"`},
	"list":               {"listing %s", "listing anything in %s", `listing directories like "%s"`},
	"task":               {"starting the subagent %s", "", `starting subagents like "%s"`},
	"skill":              {"loading the skill %s", "", `loading skills like "%s"`},
	"budget":             {"going on beyond the budget for %s", "", `going on beyond the budget for "%s"`},
	"hook":               {"going on with %s, which a hook wants you to see", "", `going on with tools like "%s", which a hook wants you to see`},
	"network":            {"connecting to %s", "", `connecting to hosts like "%s"`},
	"doom_loop":          {"going on when %s repeats itself", "", `going on when tools like "%s" repeat themselves`},
}

// Name says what an ask is for, as its heading: the permission as rules name it, or words
// where that name says nothing to a person.
func Name(permission string) string {
	switch permission {
	case "external_directory":
		return "outside the project"
	case "doom_loop":
		return "the same call again"
	case "mcp_sampling":
		return "an answer for an MCP server"
	}
	return permission
}

// Words says in plain words what a pattern of a permission allows.
func Words(permission, pattern string) string {
	p, known := phrases[permission]
	if !known {
		p = phrase{permission + ` for "%s"`, permission + " for anything in %s", permission + ` for what is like "%s"`}
	}
	if src, ok := unsettled(pattern); ok {
		if permission != "bash" {
			src = fmt.Sprintf(whatever, src)
		}
		return fmt.Sprintf(p.one, src)
	}
	literal := strings.NewReplacer("[*]", "*", "[?]", "?")
	end := "/*"
	if permission == "bash" {
		end = " *"
	}
	switch name, under := strings.CutSuffix(pattern, end); {
	case pattern == "*":
		return "every use of " + permission
	case !wild(pattern):
		return fmt.Sprintf(p.one, literal.Replace(pattern))
	case under && !wild(name) && p.under != "":
		return fmt.Sprintf(p.under, or(literal.Replace(name), "/"))
	}
	return fmt.Sprintf(p.like, pattern)
}

// wild reports whether a pattern has a wildcard, which "[*]" and "[?]" are not.
func wild(pattern string) bool {
	return strings.ContainsAny(strings.NewReplacer("[*]", "", "[?]", "").Replace(pattern), "*?")
}

// whatever stands for a file that a command names in a way that is known only when it runs.
const whatever = "whatever %s names"

// unsettled returns the words of a command that stand for something that the judge could
// not know, such as "$file", if a pattern is about such a thing.
func unsettled(pattern string) (string, bool) {
	src, ok := strings.CutPrefix(pattern, "<dynamic: ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(src, ">")
}
