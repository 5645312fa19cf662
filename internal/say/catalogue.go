package say

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// packed are the files of zh-CN one after the other: it is read when it is needed, and has a
// third of its size until then.
//
//go:generate sh -c "cat zh-CN/*.txt | gzip -9n >zh-CN.gz"
//go:embed zh-CN.gz
var packed []byte

// catalogue has the texts of one language. It is safe for concurrent use.
type catalogue struct {
	texts   map[string]string
	formats []*format // the most particular first
	found   memory
}

// memory has the texts that were looked for last: what a screen draws it draws many times a
// second, and to look for a format takes up to a millisecond.
type memory struct {
	sync.Mutex
	texts map[string]string
}

// The memory is emptied when it has that many texts; longer texts are not kept.
const (
	maxFound    = 1024
	longestKept = 400
)

// remembered is [catalogue.text] with a memory.
func (c *catalogue) remembered(english string) string {
	if said, ok := c.texts[english]; ok {
		return said
	}
	if len(english) > longestKept {
		return c.text(english)
	}
	c.found.Lock()
	defer c.found.Unlock()
	if said, ok := c.found.texts[english]; ok {
		return said
	}
	if len(c.found.texts) >= maxFound || c.found.texts == nil {
		c.found.texts = map[string]string{}
	}
	said := c.text(english)
	c.found.texts[english] = said
	return said
}

// format is a text with verbs, such as %q, where something was put in.
type format struct {
	english, said string
	fixed         string // the longest part without verbs, by which most texts are told apart
	pattern       func() *regexp.Regexp
}

var chinese = sync.OnceValue(func() *catalogue {
	c, err := read()
	if err != nil {
		panic(err) // it is part of the program, and a test reads it
	}
	return c
})

func catalogueOf(Language) *catalogue { return chinese() }

// read reads the files of Chinese: entries of lines that begin with "> ", the English
// text, and lines that begin with "= ", the same in the language. Anything else is a remark.
func read() (*catalogue, error) {
	c := &catalogue{texts: map[string]string{}}
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if err := c.add(string(data)); err != nil {
		return nil, err
	}
	for english, said := range c.texts {
		if verbs().MatchString(english) {
			c.formats = append(c.formats, newFormat(english, said))
		}
	}
	slices.SortFunc(c.formats, func(a, b *format) int {
		if n := letters(b.english) - letters(a.english); n != 0 {
			return n
		}
		return strings.Compare(a.english, b.english)
	})
	return c, nil
}

func (c *catalogue) add(data string) error {
	var english, said []string
	store := func() error {
		key := strings.Join(english, "\n")
		switch _, twice := c.texts[key]; {
		case key == "" && len(said) == 0:
		case key == "" || len(said) == 0:
			return fmt.Errorf("half of an entry: %q", key+strings.Join(said, "\n"))
		case twice: // the first counts; a person is better served by either than by none
		default:
			c.texts[key] = strings.Join(said, "\n")
		}
		english, said = nil, nil
		return nil
	}
	for l := range strings.SplitSeq(data, "\n") {
		switch {
		case strings.HasPrefix(l, ">"):
			if len(said) > 0 {
				if err := store(); err != nil {
					return err
				}
			}
			english = append(english, strings.TrimPrefix(strings.TrimPrefix(l, ">"), " "))
		case strings.HasPrefix(l, "="):
			said = append(said, strings.TrimPrefix(strings.TrimPrefix(l, "="), " "))
		}
	}
	return store()
}

// verbs are what formats are put together with.
var verbs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%(?:\[\d+\])?[-+#0]*[\d.]*[a-zA-Z%]`) })

// letters counts what of a format is not a verb.
func letters(s string) int { return len(verbs().ReplaceAllString(s, "")) }

func newFormat(english, said string) *format {
	f := &format{english: english, said: said}
	for _, part := range verbs().Split(english, -1) {
		if len(part) > len(f.fixed) {
			f.fixed = part
		}
	}
	f.pattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(patternOf(english)) })
	return f
}

// patternOf returns an expression that matches what a format makes.
func patternOf(english string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	at := 0
	for _, v := range verbs().FindAllStringIndex(english, -1) {
		b.WriteString(regexp.QuoteMeta(english[at:v[0]]))
		switch verb := english[v[1]-1]; verb {
		case '%':
			b.WriteString("%")
		case 'd':
			b.WriteString(`(-?\d+)`)
		case 'q':
			b.WriteString("(\"(?:[^\"\\\\]|\\\\.)*\")")
		default:
			b.WriteString("(.*?)")
		}
		at = v[1]
	}
	b.WriteString(regexp.QuoteMeta(english[at:]) + `\z`)
	return b.String()
}

// text finds a text: as it is, by the format that made it, or as the end of a chain of
// errors, whose beginning stays.
func (c *catalogue) text(english string) string {
	if said, ok := c.texts[english]; ok {
		return said
	}
	for _, f := range c.formats {
		if !strings.Contains(english, f.fixed) || len(f.fixed) == 0 {
			continue
		}
		if m := f.pattern().FindStringSubmatch(english); m != nil {
			return f.fill(c, m[1:])
		}
	}
	for _, between := range []string{" — ", "; ", ": ", ", "} {
		if said, ok := c.halves(english, between); ok {
			return said
		}
	}
	return english
}

// part translates what a text was put together with. A single word stays, since it may well be
// a name: "run" is a command, too.
func (c *catalogue) part(english string) string {
	if !strings.Contains(english, " ") {
		return english
	}
	return c.text(english)
}

// halves translates the texts before and after a separator, for a text that is not in the catalogue
// as a whole. It reports whether either of them was.
func (c *catalogue) halves(english, between string) (string, bool) {
	before, after, ok := strings.Cut(english, between)
	if !ok || before == "" || after == "" {
		return "", false
	}
	a, b := c.part(before), c.text(after)
	if between == ", " && (a == before || b == after) {
		return "", false // a comma is in most sentences of others, too
	}
	if wide := marks[between]; a != before && b != after && wide != "" {
		between = wide // Chinese on both sides
	}
	return a + between + b, a != before || b != after
}

// marks are the separators of Chinese.
var marks = map[string]string{": ": "：", "; ": "；", ", ": "，"}

// fill replaces the verbs of the translation by the values found in the English text. A value is
// translated too if the catalogue has it, such as the cause of an error.
func (f *format) fill(c *catalogue, values []string) string {
	for i, v := range values {
		values[i] = c.part(v)
	}
	next := 0
	return verbs().ReplaceAllStringFunc(f.said, func(verb string) string {
		if verb == "%%" {
			return "%"
		}
		i := next
		if n := strings.Index(verb, "]"); n > 0 {
			fmt.Sscanf(verb, "%%[%d]", &i)
			i--
		} else {
			next++
		}
		if i < 0 || i >= len(values) {
			return verb
		}
		return values[i]
	})
}
