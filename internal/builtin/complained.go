package builtin

import (
	"os"
	"regexp"
	"strings"

	"lathe/internal/sandbox"
	"lathe/internal/shell"
)

// denials are what programs say when the kernel refused them a file.
var denials = pattern(`(?i)permission denied|operation not permitted|read-only file system|access denied|\bE(?:ACCES|PERM|ROFS)\b`)

// complained marks what a command that ended well was refused and complained about, and
// adds what it could not read: its exit code may be that of a pipeline's last part. Nobody
// is asked then, as it did without; but a run without a person has not done all of it.
func (e shellTools) complained(exit shell.Exit, said string) []sandbox.Refusal {
	lines := denied(said, denials()) + missed(exit, said)
	if lines == "" {
		return exit.Refused
	}
	out := append(exit.Refused, e.unread(exit, lines)...)
	for i, r := range out {
		out[i].Told = r.Undone == "" && mentions(lines, r.Path) || r.Op == readOp
	}
	return out
}

// denied returns the lines of a text that speak of a refusal.
func denied(text string, words *regexp.Regexp) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if words.MatchString(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// missed returns the lines that say of a file which is there, in a directory that is
// hidden from the command, that it is not.
func missed(exit shell.Exit, said string) string {
	lines := denied(said, missing())
	if lines == "" || exit.Hidden == nil {
		return ""
	}
	var out strings.Builder
	for _, dir := range exit.Hidden() {
		for line := range strings.Lines(lines) {
			at := strings.Index(line, dir+"/")
			if at < 0 {
				continue
			}
			path := line[at:]
			path = path[:strings.IndexAny(path+":", ":'\"\u2018\u2019 \t\r\n")]
			if _, err := os.Lstat(path); err == nil {
				out.WriteString(line)
			}
		}
	}
	return out.String()
}

// missing is what programs say of a file that is not there.
var missing = pattern(`(?i)no such file|\bENOENT\b|does not exist|not found`)
