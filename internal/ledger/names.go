package ledger

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Versions, hashes, ports, ticket numbers and the like are found only in what a
// command printed. Which of them matter shows when a later step uses one.

const (
	maxNames   = 40
	maxPrinted = 400
	maxPerRun  = 120     // names taken from one output
	printHead  = 8 << 10 // bytes of an output that are looked at, and of its end
	printTail  = 16 << 10
	maxContext = 140 // bytes of the line that a name stands in
	usedMost   = 64 << 10
)

var (
	atom     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[#:]?[A-Za-z0-9][A-Za-z0-9._+-]*`) })
	fileLike = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{0,4}$`) })
)

// print reads what a command printed.
func (f *Facts) print(seq int64, command, output string) {
	if len(output) > printHead+printTail {
		output = output[:printHead] + "\n" + output[len(output)-printTail:]
	}
	seen := map[string]bool{}
	var found []Fact
	for line := range strings.Lines(output) {
		for _, name := range names(line) {
			if seen[name] || strings.Contains(command, name) {
				continue
			}
			seen[name] = true
			found = append(found, Fact{Seq: seq, Key: name, Text: name + ": " + clip(oneLine(line), maxContext) + " (" + clip(oneLine(command), 80) + ")"})
		}
	}
	if n := len(found) - maxPerRun; n > 0 { // results are at the end
		found = found[n:]
	}
	f.Printed = slices.DeleteFunc(f.Printed, func(o Fact) bool { return seen[o.Key] })
	f.Printed = append(f.Printed, found...)
	if n := len(f.Printed) - maxPrinted; n > 0 {
		f.Printed = slices.Delete(f.Printed, 0, n)
	}
}

// use notes which of the printed names a later step uses.
func (f *Facts) use(seq int64, text string) {
	if len(f.Printed) == 0 && len(f.Names) == 0 {
		return
	}
	if len(text) > usedMost {
		text = text[:usedMost]
	}
	used := map[string]bool{}
	for _, name := range names(text) {
		used[name] = true
	}
	for _, list := range [][]Fact{slices.Clone(f.Names), f.Printed} {
		for _, n := range list {
			if used[n.Key] {
				f.Names = replace(f.Names, n, maxNames)
			}
		}
	}
	f.Printed = slices.DeleteFunc(f.Printed, func(n Fact) bool { return used[n.Key] })
}

// names returns what in a text may be an identifier: words with a digit in them,
// numbers that are long or marked as one. Names of files are kept elsewhere.
func names(text string) []string {
	var unquoted string
	if json.Unmarshal([]byte(text), &unquoted) == nil {
		text = unquoted
	}
	var out []string
	for _, word := range atom().FindAllString(text, -1) {
		marked := word[0] == '#' || word[0] == ':'
		word = strings.Trim(strings.TrimLeft(word, "#:"), "._+-")
		if len(word) > 80 || !strings.ContainsAny(word, "0123456789") || fileLike().MatchString(word) {
			continue
		}
		switch number := strings.Trim(word, "0123456789.") == ""; {
		case number && strings.Count(word, ".") < 2 && len(word) < 4 && !(marked && len(word) > 1):
		case !number && len(word) < 4:
		default:
			out = append(out, word)
		}
	}
	return out
}
