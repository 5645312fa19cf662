package lsp

import (
	"slices"
	"strings"
	"time"
)

const (
	maxText = 10 << 20 // bytes of a file that servers are given
	maxOpen = 200      // files that stay open at a server
)

// File is a file and what it holds.
type File struct {
	Path    string // absolute, links resolved
	Text    string // decoded, with the line ends it has
	Missing bool   // there is none
}

// usable reports whether servers are given the file.
func (f File) usable() bool { return len(f.Text) <= maxText && !strings.ContainsRune(f.Text, 0) }

// document is a file that a server has open.
type document struct {
	version int
	text    string
	sent    time.Time // when it was opened or changed last
	used    int       // for the order in which documents are closed
}

// documents are those of a client, whose mutex guards them.
type documents struct {
	open  map[string]*document
	clock int
}

func (d *documents) init() { d.open = map[string]*document{} }

// Kinds of what happens to files, as the protocol numbers them.
const (
	unchanged = iota
	fileCreated
	fileChanged
	fileDeleted
)

// touch makes sure that the server knows the files as they are, and returns those of
// which it has to say something new. All are told before anything is asked.
func (c *client) touch(files []File) (changed []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var events []fileEvent
	for _, f := range files {
		if kind := c.docs.kind(f); kind != unchanged {
			events = append(events, fileEvent{uriOf(f.Path), kind})
		}
	}
	if len(events) > 0 {
		c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": events})
	}
	for _, f := range files {
		if c.touchOne(f) {
			changed = append(changed, f.Path)
		}
	}
	c.closeOldest(files)
	return changed
}

// kind is what happens to a file that a server is told of.
func (d *documents) kind(f File) int {
	switch doc := d.open[f.Path]; {
	case f.Missing:
		return fileDeleted
	case doc == nil:
		return fileCreated
	case doc.text != f.Text:
		return fileChanged
	}
	return unchanged
}

// touchOne opens, changes or closes a document and reports whether the server has
// something to say of it. The caller holds mu.
func (c *client) touchOne(f File) bool {
	doc := c.docs.open[f.Path]
	c.docs.clock++
	switch {
	case f.Missing || !f.usable():
		if doc != nil {
			c.closeOne(f.Path)
		}
		c.forget(f.Path)
		return false
	case doc == nil:
		c.docs.open[f.Path] = &document{text: f.Text, sent: c.now(), used: c.docs.clock}
		c.notify("textDocument/didOpen", map[string]any{"textDocument": docItem{uriOf(f.Path), languageID(baseOf(f.Path)), 0, f.Text}})
		return true
	case doc.text == f.Text:
		doc.used = c.docs.clock
		return false
	}
	c.change(f.Path, doc, f.Text)
	return true
}

func baseOf(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// change gives an open document another text. The caller holds mu.
func (c *client) change(path string, doc *document, text string) {
	change := contentChange{Text: text}
	if c.caps.Sync.Incremental {
		change = c.difference(doc.text, text)
	}
	doc.version++
	doc.text, doc.sent, doc.used = text, c.now(), c.docs.clock
	uri := uriOf(path)
	c.notify("textDocument/didChange", map[string]any{"textDocument": docID{uri, &doc.version}, "contentChanges": []contentChange{change}})
	if c.caps.Sync.Save {
		params := map[string]any{"textDocument": docID{URI: uri}}
		if c.caps.Sync.SaveText {
			params["text"] = text
		}
		c.notify("textDocument/didSave", params)
	}
}

// difference is the change of the lines that differ, from the first to the last.
func (c *client) difference(before, after string) contentChange {
	start := 0
	for n := min(len(before), len(after)); start < n && before[start] == after[start]; start++ {
	}
	start = strings.LastIndexByte(before[:start], '\n') + 1
	a, b := before[start:], after[start:]
	end := 0
	for n := min(len(a), len(b)); end < n && a[len(a)-1-end] == b[len(b)-1-end]; end++ {
	}
	if i := strings.IndexByte(a[len(a)-end:], '\n'); i >= 0 && end > 0 {
		end -= i + 1
	} else {
		end = 0
	}
	first := strings.Count(before[:start], "\n")
	old := a[:len(a)-end]
	last := Position{Line: first + strings.Count(old, "\n")}
	if i := strings.LastIndexByte(old, '\n'); end == 0 {
		last.Character = c.enc.units(old[i+1:], len(old))
	}
	if strings.Contains(strings.ReplaceAll(before, "\r\n", ""), "\r") { // CR alone ends a line, too: leave no doubt
		all := linesOf(before)
		n := len(all) - 1
		return contentChange{Range: &Range{End: Position{n, c.enc.units(all[n], len(all[n]))}}, Text: after}
	}
	return contentChange{Range: &Range{Start: Position{Line: first}, End: last}, Text: b[:len(b)-end]}
}

// closeOne closes a document. The caller holds mu.
func (c *client) closeOne(path string) {
	delete(c.docs.open, path)
	c.notify("textDocument/didClose", docParams{docID{URI: uriOf(path)}})
}

// closeOldest keeps the number of open documents in bounds, but for those in use. The
// caller holds mu.
func (c *client) closeOldest(keep []File) {
	over := len(c.docs.open) - max(maxOpen, len(keep))
	if over <= 0 {
		return
	}
	paths := make([]string, 0, len(c.docs.open))
	for path := range c.docs.open {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return c.docs.open[a].used - c.docs.open[b].used })
	for _, path := range paths[:over] {
		c.closeOne(path)
	}
}

// closeBelow closes what is open below a directory and forgets what was found there.
// The caller holds mu.
func (c *client) closeBelow(dir string) {
	for path := range c.docs.open {
		if within(dir, path) {
			c.closeOne(path)
		}
	}
	for path := range c.files {
		if within(dir, path) {
			c.forget(path)
		}
	}
}
