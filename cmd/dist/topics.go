package main

import (
	"fmt"
	"strings"
	"time"

	"lathe"
	"lathe/internal/cli/topic"
)

// topics are the man pages of what lathe help explains besides commands, in section 7.
func topics(when time.Time) ([]file, error) {
	var all []file
	for _, name := range topic.Names() {
		text, err := topic.English(name)
		if err != nil {
			return nil, fmt.Errorf("man page of %s: %w", name, err)
		}
		all = append(all, file{name: "man/man7/lathe-" + name + ".7", data: []byte(topicPage(name, text, when)), mode: 0o644})
	}
	return all, nil
}

// topicPage makes a man page of a topic, whose text is a title, paragraphs, and indented lines
// that stay as they are.
func topicPage(name, text string, when time.Time) string {
	title, body, _ := strings.Cut(text, "\n")
	_, about, ok := strings.Cut(title, ": ")
	if !ok {
		about = title
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".TH \"LATHE-%s\" \"7\" \"%s\" \"lathe %s\" \"lathe\"\n", strings.ToUpper(name), when.Format("Jan 2006"), lathe.Version)
	fmt.Fprintf(&b, ".SH NAME\nlathe-%s \\- %s\n.SH DESCRIPTION\n", name, roff(about))
	within := false
	for line := range strings.Lines(strings.TrimLeft(body, "\n")) {
		line = strings.TrimSuffix(line, "\n")
		switch kept := strings.HasPrefix(line, " "); {
		case line == "" && !within:
			b.WriteString(".PP\n")
			continue
		case kept && !within:
			b.WriteString(".RS 2\n.nf\n")
		case !kept && within && line != "":
			b.WriteString(".fi\n.RE\n.PP\n")
		}
		within = strings.HasPrefix(line, " ") || within && line == ""
		b.WriteString(roff(strings.TrimPrefix(line, "  ")) + "\n")
	}
	if within {
		b.WriteString(".fi\n.RE\n")
	}
	return b.String()
}

// roff escapes a line for a man page, in which it stands as it is written.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
