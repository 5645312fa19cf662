package session

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/permission"
)

// maxReferences bounds how many files and agents one text can name.
const maxReferences = 50

// reference is an "@name" in a text. Start and End are its byte offsets.
type reference struct {
	name       string
	start, end int
}

// findReferences returns what follows each "@" in a text, each name once. An "@"
// inside a word or after a backtick does not count; a name ends before white
// space, a comma, a backtick or a full stop at its end.
func findReferences(text string) []reference {
	var out []reference
	seen := map[string]bool{}
	for i := 0; i < len(text) && len(out) < maxReferences; i++ {
		if text[i] != '@' || i > 0 && joins(text[:i]) {
			continue
		}
		name := referenceName(text[i+1:])
		if name != "" && !seen[name] {
			seen[name] = true
			out = append(out, reference{name, i, i + 1 + len(name)})
		}
	}
	return out
}

// joins reports whether an "@" after this text is part of the word before it.
func joins(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return r == '`' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func referenceName(s string) string {
	end := 0
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if unicode.IsSpace(r) || r == ',' || r == '`' || r == '@' && end == 0 {
			break
		}
		if r == '.' && end > 0 && !dotContinues(s[end+1:]) {
			break
		}
		end += size
	}
	return strings.TrimSuffix(s[:end], ".")
}

// dotContinues reports whether a dot is inside a name: more of the name follows
// it.
func dotContinues(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	return size > 0 && r != '.' && r != ',' && r != '`' && !unicode.IsSpace(r)
}

// references returns the files, directories and agents that a text names with
// "@", as parts of a prompt. A name that matches nothing stays text. If may is
// not nil, files for which it returns false are left out.
func references(i *instance.Instance, text string, may func(path string) bool) []lathe.PartBody {
	var out []lathe.PartBody
	for _, ref := range findReferences(text) {
		if p := referencePart(i, text, ref, may); p != nil {
			out = append(out, p)
		}
	}
	return out
}

func referencePart(i *instance.Instance, text string, ref reference, may func(string) bool) lathe.PartBody {
	for _, name := range []string{ref.name, strings.TrimRight(ref.name, `)]}>"':;!?`)} {
		ref.name, ref.end = name, ref.start+1+len(name)
		if name == "" {
			return nil
		}
		if path, info, query, ok := findReferenced(i, name); ok {
			if may != nil && !may(path) || i.Readable.Denied(path) {
				return nil
			}
			u := url.URL{Scheme: "file", Path: path, RawQuery: query}
			return &lathe.File{
				MIME: referenceMIME(path, info), Filename: name, URL: u.String(),
				Source: &lathe.FileSource{Kind: "file", Path: path, Text: sourceText(text, ref)},
			}
		}
		if may == nil {
			if f := referencedResource(i, text, ref); f != nil {
				return f
			}
		}
		if a, err := i.Agents.Get(name); err == nil && a.Mode != instance.ModePrimary {
			src := sourceText(text, ref)
			return &lathe.AgentMention{Name: a.Name, Source: &src}
		}
	}
	return nil
}

// findReferenced looks a name up in the home directory ("~/"), the session's
// directory and the checkout, with and without a range of lines behind "#" or, as compilers
// have it, ":".
func findReferenced(i *instance.Instance, name string) (path string, info os.FileInfo, query string, ok bool) {
	bare, lines, hasRange := strings.Cut(name, "#")
	if at := strings.LastIndexByte(name, ':'); !hasRange && at > 0 && lineQuery(name[at+1:]) != "" {
		bare, lines, hasRange = name[:at], name[at+1:], true
	}
	for _, try := range []struct{ name, query string }{{name, ""}, {bare, lineQuery(lines)}} {
		for _, path := range i.Places(try.name) {
			info, err := os.Stat(path)
			if err == nil && (info.Mode().IsRegular() || info.IsDir()) {
				return path, info, try.query, true
			}
		}
		if !hasRange {
			break
		}
	}
	return "", nil, "", false
}

// lineQuery turns "12-34" or "12" into the query of a file URL; anything else
// becomes an empty query.
func lineQuery(lines string) string {
	from, to, _ := strings.Cut(lines, "-")
	start, err := strconv.Atoi(from)
	if err != nil || start < 1 {
		return ""
	}
	q := url.Values{"start": {strconv.Itoa(start)}}
	if end, err := strconv.Atoi(to); err == nil && end >= start && to != "" {
		q.Set("end", strconv.Itoa(end))
	}
	return q.Encode()
}

func referenceMIME(path string, info os.FileInfo) string {
	if info.IsDir() {
		return "application/x-directory"
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".pdf":
		return "application/pdf"
	}
	return "text/plain"
}

// sourceText says where in a text a reference stands, in UTF-16 code units.
func sourceText(text string, ref reference) lathe.SourceText {
	start := utf16Len(text[:ref.start])
	value := text[ref.start:ref.end]
	return lathe.SourceText{Value: value, Start: start, End: start + utf16Len(value)}
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// readableBy returns a function that says which files an agent may read without
// an ask. Names in text written by a model are resolved only as far as its own
// tools could read the files.
func readableBy(i *instance.Instance, a instance.Agent, session []lathe.Rule, ceilings [][]lathe.Rule) func(path string) bool {
	policy := permission.Policy{Rules: slices.Concat(a.Rules, session), Ceilings: slices.Concat(a.Ceilings, ceilings)}
	return func(path string) bool {
		return i.Root.Contains(path) && policy.Action("read", i.Root.Rel(path)) == lathe.Allow
	}
}

// resolve adds what the texts of a prompt refer to, unless it is attached already.
func resolve(i *instance.Instance, parts []lathe.PartBody, may func(string) bool) []lathe.PartBody {
	have := map[string]bool{}
	for _, p := range parts {
		if f, ok := p.(*lathe.File); ok {
			have[f.URL] = true
		}
	}
	out := parts[:len(parts):len(parts)]
	for _, p := range parts {
		t, ok := p.(*lathe.Text)
		if !ok || t.Synthetic {
			continue
		}
		for _, ref := range references(i, t.Text, may) {
			if f, ok := ref.(*lathe.File); ok {
				if have[f.URL] {
					continue
				}
				have[f.URL] = true
			}
			out = append(out, ref)
		}
	}
	return out
}

// attachNamed adds the files that a text names, unless they are attached already.
func attachNamed(i *instance.Instance, parts []lathe.PartBody, text string) []lathe.PartBody {
	for _, ref := range references(i, text, nil) {
		f, ok := ref.(*lathe.File)
		if !ok || slices.ContainsFunc(parts, func(p lathe.PartBody) bool { o, ok := p.(*lathe.File); return ok && o.URL == f.URL }) {
			continue
		}
		if f.Source.Kind == "resource" {
			f.Source.Text = lathe.SourceText{}
		} else {
			f.Source = nil // its place is that in the arguments, not in the prompt
		}
		parts = append(parts, f)
	}
	return parts
}

// mentionNote tells a model what an "@agent" of the user means.
func mentionNote(i *instance.Instance, name string, caller instance.Agent) (string, error) {
	a, err := i.Agents.Get(name)
	if err != nil {
		return "", err
	}
	if a.Mode == instance.ModePrimary {
		return "", lathe.Errorf(lathe.CodeInvalid, "mention a subagent", "the agent %q is not a subagent", name)
	}
	note := fmt.Sprintf("Hand this over: write a prompt from the message and what was said before, and call the task tool with the subagent %q.", name)
	if caller.Policy().Action("task", name) == lathe.Deny {
		note += " The user asked for it by name, so the call is permitted and the subagent exists."
	}
	return note, nil
}
