// Package say says things to people in their language: English, or Simplified Chinese.
//
// English is written where it is said, and is the key to the others: [Language.Text] looks
// a text up and returns it as it is where there is no other. What has been put together
// already, such as an error with a name in it, is found by the format that made it. So the
// engine, the log and JSON stay English and know nothing of languages; whatever prints for
// a person translates. Nothing is read at a start, nor while English is spoken.
package say

import "strings"

// Language is a language that lathe speaks. The zero value is English.
type Language string

// The languages.
const (
	English Language = ""
	Chinese Language = "zh-CN"
)

// String returns the language's tag.
func (l Language) String() string {
	if l == English {
		return "en"
	}
	return string(l)
}

// Choose returns the language of a person: the one that is configured ("en", "zh-CN"; empty
// or "auto" leaves it open), else that of the environment (LC_ALL, LC_MESSAGES, LANG).
func Choose(configured string, getenv func(string) string) Language {
	if l, ok := named(configured); ok {
		return l
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			l, _ := named(value)
			return l
		}
	}
	return English
}

// named reads a tag or a locale. Who reads traditional characters gets English.
func named(tag string) (Language, bool) {
	tag, _, _ = strings.Cut(tag, ".")
	switch tag = strings.ToLower(strings.ReplaceAll(tag, "_", "-")); {
	case tag == "" || tag == "auto":
		return English, false
	case strings.HasPrefix(tag, "zh-hant"), tag == "zh-tw", tag == "zh-hk", tag == "zh-mo":
		return English, true
	case tag == "zh" || strings.HasPrefix(tag, "zh-"):
		return Chinese, true
	}
	return English, true
}

// Word translates a text only if the catalogue has exactly that text. Use it instead of
// [Language.Text] for what a person or a model may have written, such as a title.
func (l Language) Word(english string) string {
	if l == English {
		return english
	}
	if said, ok := catalogueOf(l).texts[english]; ok {
		return said
	}
	return english
}

// Text returns a text in the language. It may be one that was put together; then what was
// put in stays as it is, unless it is a text of the catalogue too. An unknown text comes back
// unchanged, and so do the spaces around any.
func (l Language) Text(english string) string {
	if l == English {
		return english
	}
	text := strings.Trim(english, " ")
	if text == "" {
		return english
	}
	c := catalogueOf(l)
	if said, ok := c.texts[english]; ok {
		return said
	}
	at := strings.Index(english, text)
	return english[:at] + c.remembered(text) + english[at+len(text):]
}

// Labelled joins a label and what it is the label of, with the colon of the language. Where one
// is missing the other stands alone.
func (l Language) Labelled(label, text string) string {
	label, text = l.Word(label), l.Text(text)
	switch {
	case label == "" || text == "":
		return label + text
	case l == Chinese:
		return label + "：" + text
	}
	return label + ": " + text
}
