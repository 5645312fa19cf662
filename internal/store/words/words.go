// Package words is what searching means, whichever database does it: which text of a
// part can be found, how it is split where a script has no spaces, and what a hit shows.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe"
)

const (
	// maxIndexed bounds how much text of a part is indexed.
	maxIndexed = 256 << 10
	// snippetWidth is how much of a text a hit shows, in characters.
	snippetWidth = 160
)

// cut returns the largest length up to n at which no character is broken.
func cut(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// Head returns as much of a text as an index takes.
func Head(text string) string { return text[:cut(text, maxIndexed)] }

// Of returns the text of a part that can be found, "" if there is none.
func Of(body lathe.PartBody) string {
	switch b := body.(type) {
	case *lathe.Text:
		return b.Text
	case *lathe.Reasoning:
		return b.Text
	case *lathe.File:
		return b.Filename
	case *lathe.Subtask:
		return b.Description + "\n" + b.Prompt
	case *lathe.ToolCall:
		switch st := b.State.(type) {
		case *lathe.ToolDone:
			return b.Tool + " " + st.Title + "\n" + string(st.Input) + "\n" + st.Output
		case *lathe.ToolFailed:
			return b.Tool + "\n" + string(st.Input) + "\n" + st.Error
		}
	}
	return ""
}

// Unspaced reports whether a character belongs to a script that is written
// without spaces between words.
func Unspaced(r rune) bool {
	return r >= 0x0e00 && (r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// Pairs prepares a text for an index: runs without spaces become overlapping
// pairs of characters, so that any two of them that follow each other are found.
func Pairs(text string) string {
	if !strings.ContainsFunc(text, Unspaced) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	var before rune
	run := 0
	end := func() {
		if run == 1 {
			out.WriteRune(before)
		}
		if run > 0 {
			out.WriteByte(' ')
		}
		run = 0
	}
	for _, r := range text {
		if !Unspaced(r) {
			end()
			out.WriteRune(r)
			continue
		}
		if run == 0 {
			out.WriteByte(' ')
		} else {
			out.WriteRune(before)
			out.WriteRune(r)
			out.WriteByte(' ')
		}
		before = r
		run++
	}
	end()
	return out.String()
}

// Query splits what a person typed into terms, of which all have to be in a text, in any order:
// words, each of them a prefix, and "words in quotes", which must follow each other. form writes a
// term for an index, or "" where there is nothing to look for. A character of a script without
// spaces is no prefix unless it stands alone.
func Query(query string, form func(text string, prefix bool) string) (terms []string) {
	add := func(text string, open bool) {
		text = strings.TrimSpace(text)
		last, _ := utf8.DecodeLastRuneInString(text)
		if term := form(text, open && (!Unspaced(last) || utf8.RuneCountInString(text) == 1)); term != "" {
			terms = append(terms, term)
		}
	}
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			add(part, false)
			continue
		}
		for _, word := range strings.Fields(part) {
			add(word, true)
		}
	}
	return terms
}

// Snippet is the text around the first word of the query, on one line.
func Snippet(text, query string) string {
	at := -1
	lower := strings.ToLower(text)
	for _, w := range strings.Fields(strings.ReplaceAll(strings.ToLower(query), `"`, " ")) {
		if i := strings.Index(lower, w); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 || len(lower) != len(text) {
		at = max(at, 0)
	}
	from := cut(text, min(max(at-snippetWidth/3, 0), len(text)))
	rest := []rune(text[from:cut(text, min(len(text), from+4*snippetWidth))])
	out := strings.Join(strings.Fields(string(rest[:min(len(rest), snippetWidth)])), " ")
	if from > 0 {
		out = "…" + out
	}
	if len(rest) > snippetWidth {
		out += "…"
	}
	return out
}
