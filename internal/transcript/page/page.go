// Package page writes a session as one web page that opens offline: rendered Markdown,
// highlighted code, changes of files in place, commands with their colours. The page has
// no script and loads nothing, and a policy in it forbids both, whatever the session
// contains; the only style it allows is its own.
package page

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/say"
)

// Session is what a page shows. Note says what is left out, in words, or is empty.
type Session struct {
	Info     lathe.Session
	Messages []lathe.Message
	Diffs    []lathe.FileDiff
	Note     string
}

// A page has a table of contents from contentsFrom prompts on; one of more than
// contentsOpen is folded, so that the session itself begins on the first screen.
const (
	contentsFrom = 3
	contentsOpen = 12
)

// Write writes the page. Its size is that of the texts and a little: below twice as much, once
// they are longer than a screen or two, and pictures as they are.
func Write(w io.Writer, s Session) error {
	p := &page{session: s, rounds: roundsOf(s.Messages)}
	p.title()
	p.contents()
	p.put("<main>\n")
	for i, r := range p.rounds {
		p.round(i, r)
	}
	p.changes()
	p.put("</main>\n")
	p.foot()
	_, err := io.WriteString(w, p.head(p.String())+p.String())
	return err
}

// page is a page while it is written.
type page struct {
	strings.Builder
	session Session
	rounds  []round
}

func (p *page) put(html ...string) {
	for _, s := range html {
		p.WriteString(s)
	}
}

// head returns what stands before a body.
func (p *page) head(body string) string {
	sheet := styleOf(body)
	sum := sha256.Sum256([]byte(sheet))
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-` + base64.StdEncoding.EncodeToString(sum[:]) + `'; img-src data:; form-action 'none'; base-uri 'none'">
<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex,nofollow"><title>` + line(p.session.Info.Title) + `</title>
<style>` + sheet + "</style></head>"
}

func (p *page) title() {
	p.put("<body>\n<header><h1>", line(p.session.Info.Title), "</h1>\n<p class=meta>", strings.Join(p.facts(), " · "), "</p></header>\n")
}

// facts are what is said of the whole session.
func (p *page) facts() []string {
	info := p.session.Info
	out := []string{stamp(info.Created)}
	if n := len(p.rounds); n > 0 {
		out = append(out, say.Plural(n, "prompt"))
	}
	var took time.Duration
	var cost lathe.Money
	for _, r := range p.rounds {
		took += r.took()
		cost += r.cost()
	}
	if took > 0 {
		out = append(out, "worked "+duration(took))
	}
	out = append(out, max(cost, info.Cost).String())
	if added, removed := lathe.CountLines(p.session.Diffs); len(p.session.Diffs) > 0 {
		files := len(p.session.Diffs) - len(lathe.Renames(p.session.Diffs))/2
		out = append(out, fmt.Sprintf("%s, +%d −%d", say.Plural(files, "changed file"), added, removed))
	}
	return out
}

// contents lists the prompts of a long session.
func (p *page) contents() {
	if len(p.rounds) < contentsFrom {
		return
	}
	p.put("<nav><details", openIf(len(p.rounds) <= contentsOpen), "><summary>Contents</summary><ol>\n")
	for i, r := range p.rounds {
		p.put(fmt.Sprintf("<li><a href=#p%d>", i+1), text(printable.Shorten(printable.Line(r.title()), 90)), "</a></li>\n")
	}
	p.put("</ol></details></nav>\n")
}

// changes shows what the session changed in the end, whoever did it.
func (p *page) changes() {
	if len(p.session.Diffs) == 0 {
		return
	}
	p.put("<section><h2>Changed files</h2>\n")
	renames := lathe.Renames(p.session.Diffs)
	for _, d := range p.session.Diffs {
		if other := renames[d.File]; other != "" {
			if d.Status == "added" {
				p.put("<p><code>", line(other), "</code> renamed to <code>", line(d.File), "</code></p>\n")
			}
			continue
		}
		p.put("<details><summary><code>", line(d.File), "</code> ", fmt.Sprintf("+%d −%d", d.Additions, d.Deletions), "</summary>")
		if d.Patch == "" {
			p.put("<p class=body>The contents are not shown.</p>")
		} else {
			p.patch(d.Patch)
		}
		p.put("</details>\n")
	}
	p.put("</section>\n")
}

func (p *page) foot() {
	if p.session.Note != "" {
		p.put("<p class=meta>", text(p.session.Note), "</p>\n")
	}
	p.put("<footer><p class=meta>", text(string(p.session.Info.ID)))
	if v := p.session.Info.Version; v != "" {
		p.put(" · lathe ", line(v))
	}
	p.put("</p></footer></body></html>\n")
}
