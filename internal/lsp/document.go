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

// File is a file and its content.
type File struct {
	Path    string // absolute, links resolved
	Text    string // decoded, with the line ends it has
	Missing bool   // the file does not exist
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

// documents are the files that a server has open, as it knows them. The client's mutex
// guards them.
type documents struct {
	open   map[string]*document
	clock  int
	caps   *capabilities
	enc    *encoding
	now    func() time.Time
	notify func(method string, params any)
	forget func(path string) // the file is no longer one that the server is to speak of
}

func newDocuments(c *client) documents {
	return documents{open: map[string]*document{}, caps: &c.caps, enc: &c.enc, now: c.now, notify: c.notify, forget: c.forget}
}

// Kinds of changes to files, as the protocol numbers them.
const (
	unchanged = iota
	fileCreated
	fileChanged
	fileDeleted
)

// touch makes sure that the server knows the files as they are, and returns those
// for which it has to send new diagnostics. It is told about all of them before it
// is asked anything.
func (c *client) touch(files []File) (changed []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.docs.touch(files)
}

func (d *documents) touch(files []File) (changed []string) {
	var events []fileEvent
	for _, f := range files {
		if kind := d.kind(f); kind != unchanged {
			events = append(events, fileEvent{uriOf(f.Path), kind})
		}
	}
	if len(events) > 0 {
		d.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": events})
	}
	for _, f := range files {
		if d.touchOne(f) {
			changed = append(changed, f.Path)
		}
	}
	d.closeOldest(files)
	return changed
}

// kind is the kind of change that a server is told.
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
func (d *documents) touchOne(f File) bool {
	doc := d.open[f.Path]
	d.clock++
	switch {
	case f.Missing || !f.usable():
		if doc != nil {
			d.closeOne(f.Path)
		}
		d.forget(f.Path)
		return false
	case doc == nil:
		d.open[f.Path] = &document{text: f.Text, sent: d.now(), used: d.clock}
		d.notify("textDocument/didOpen", map[string]any{"textDocument": docItem{uriOf(f.Path), languageID(baseOf(f.Path)), 0, f.Text}})
		return true
	case doc.text == f.Text:
		doc.used = d.clock
		return false
	}
	d.change(f.Path, doc, f.Text)
	return true
}

func baseOf(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// change gives an open document another text. The caller holds mu.
func (d *documents) change(path string, doc *document, text string) {
	change := contentChange{Text: text}
	if d.caps.Sync.Incremental {
		change = difference(doc.text, text, *d.enc)
	}
	doc.version++
	doc.text, doc.sent, doc.used = text, d.now(), d.clock
	uri := uriOf(path)
	d.notify("textDocument/didChange", map[string]any{"textDocument": docID{uri, &doc.version}, "contentChanges": []contentChange{change}})
	if d.caps.Sync.Save {
		params := map[string]any{"textDocument": docID{URI: uri}}
		if d.caps.Sync.SaveText {
			params["text"] = text
		}
		d.notify("textDocument/didSave", params)
	}
}

// difference is the change of the lines that differ, from the first to the last.
func difference(before, after string, enc encoding) contentChange {
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
		last.Character = enc.units(old[i+1:], len(old))
	}
	if strings.Contains(strings.ReplaceAll(before, "\r\n", ""), "\r") { // a lone CR ends a line, too: send the whole text to be safe
		all := linesOf(before)
		n := len(all) - 1
		return contentChange{Range: &Range{End: Position{n, enc.units(all[n], len(all[n]))}}, Text: after}
	}
	return contentChange{Range: &Range{Start: Position{Line: first}, End: last}, Text: b[:len(b)-end]}
}

// closeOne closes a document. The caller holds mu.
func (d *documents) closeOne(path string) {
	delete(d.open, path)
	d.notify("textDocument/didClose", docParams{docID{URI: uriOf(path)}})
}

// closeOldest keeps the number of open documents in bounds, but for those in use. The
// caller holds mu.
func (d *documents) closeOldest(keep []File) {
	over := len(d.open) - max(maxOpen, len(keep))
	if over <= 0 {
		return
	}
	paths := make([]string, 0, len(d.open))
	for path := range d.open {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return d.open[a].used - d.open[b].used })
	for _, path := range paths[:over] {
		d.closeOne(path)
	}
}

// closeBelow closes what is open below a directory. The caller holds mu.
func (d *documents) closeBelow(dir string) {
	for path := range d.open {
		if within(dir, path) {
			d.closeOne(path)
		}
	}
}
