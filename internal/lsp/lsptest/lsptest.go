// Package lsptest is a language server for tests. It finds the words "bad" and "poor" in
// texts, and misbehaves as it is told.
package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Serve is the server, from standard input to standard output. How names its abilities
// and what is wrong with it: pull, registers, incremental, bytes, folders, others; noise, exit, hang,
// garbage, flood, crash, mute, deaf, stale, late, reading, stays; and
// dies:METHOD, which ends it at a message. What $LSP_FAKE_LINK names first is called what it
// names second when the server speaks of a file. What it is told is written to
// $LSP_FAKE_LOG, if that is set. As it starts it copies the files that $LSP_FAKE_COPY names
// (FROM>TO, with blanks between them), as far as it may.
func Serve(how string) {
	fakeServer(how)
}

// fake is a language server for texts in which "bad" is an error and "poor" a warning.
type fake struct {
	how  map[string]bool
	in   *bufio.Reader
	log  *os.File
	docs map[string]string
	done atomic.Bool // it has read the project
}

func fakeServer(how string) {
	f := &fake{how: map[string]bool{}, in: bufio.NewReader(os.Stdin), docs: map[string]string{}}
	for w := range strings.FieldsSeq(how) {
		f.how[w] = true
	}
	for pair := range strings.FieldsSeq(os.Getenv("LSP_FAKE_COPY")) {
		from, to, _ := strings.Cut(pair, ">")
		if data, err := os.ReadFile(from); err == nil {
			_ = os.WriteFile(to, data, 0o600)
		}
	}
	if path := os.Getenv("LSP_FAKE_LOG"); path != "" {
		f.log, _ = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	switch {
	case f.how["exit"]:
		fmt.Fprintln(os.Stderr, "warning: old\ncannot find its library")
		os.Exit(3)
	case f.how["hang"]:
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	case f.how["garbage"]:
		for range 200 {
			fmt.Print("Content-Length: 20\r\n\r\nthis is not any JSON")
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	case f.how["stays"]: // whatever it is told, and its child too
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		_ = exec.Command("sleep", "1000").Start()
		defer time.Sleep(time.Hour)
	case f.how["noise"]:
		fmt.Print("Server v1 is starting\nplease wait: here\n\n")
	}
	for {
		msg, ok := f.read()
		if !ok {
			return
		}
		f.handle(msg)
	}
}

type fakeMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (f *fake) read() (m fakeMessage, ok bool) {
	size := 0
	for {
		line, err := f.in.ReadString('\n')
		if err != nil {
			return m, false
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			size, _ = strconv.Atoi(v)
		}
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(f.in, body); err != nil {
		return m, false
	}
	_ = json.Unmarshal(body, &m)
	if f.log != nil {
		fmt.Fprintf(f.log, "%s %s\n", m.Method, m.Params)
	}
	return m, true
}

func (f *fake) send(v map[string]any) {
	v["jsonrpc"] = "2.0"
	body, _ := json.Marshal(v)
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (f *fake) reply(m fakeMessage, result any) {
	f.send(map[string]any{"id": m.ID, "result": result})
}

func (f *fake) handle(m fakeMessage) {
	if f.how["dies:"+m.Method] {
		os.Exit(2)
	}
	switch m.Method {
	case "initialize":
		f.initialize(m)
	case "shutdown":
		f.reply(m, nil)
	case "exit":
		if !f.how["stays"] {
			os.Exit(0)
		}
	case "textDocument/didOpen":
		var p struct {
			TextDocument struct {
				URI, Text string
				Version   int
			}
		}
		_ = json.Unmarshal(m.Params, &p)
		f.changed(p.TextDocument.URI, p.TextDocument.Text, p.TextDocument.Version)
	case "textDocument/didChange":
		var p struct {
			TextDocument   docID
			ContentChanges []change
		}
		_ = json.Unmarshal(m.Params, &p)
		text := p.ContentChanges[0].Text
		if r := p.ContentChanges[0].Range; r != nil {
			old := f.docs[p.TextDocument.URI]
			text = old[:offset(old, r.Start)] + text + old[offset(old, r.End):]
		}
		f.changed(p.TextDocument.URI, text, *p.TextDocument.Version)
	case "textDocument/diagnostic":
		var p struct{ TextDocument docID }
		_ = json.Unmarshal(m.Params, &p)
		f.reply(m, map[string]any{"kind": "full", "items": f.diagnostics(f.docs[p.TextDocument.URI])})
	default:
		if m.ID != nil && m.Method != "" {
			f.ask(m)
		}
	}
}

// ask answers what the lsp tool asks.
func (f *fake) ask(m fakeMessage) {
	var p struct {
		TextDocument docID
		Position     position
		NewName      string
	}
	_ = json.Unmarshal(m.Params, &p)
	uri := p.TextDocument.URI
	switch m.Method {
	case "textDocument/hover":
		f.reply(m, map[string]any{"contents": map[string]any{"kind": "markdown", "value": "about " + fmt.Sprint(p.Position)}})
	case "textDocument/definition":
		f.reply(m, []any{map[string]any{"targetUri": uri, "targetRange": span{}, "targetSelectionRange": span{p.Position, p.Position}}})
	case "textDocument/documentSymbol":
		f.reply(m, []any{map[string]any{"name": "Outer", "kind": 5, "range": span{position{0, 0}, position{4, 0}}, "selectionRange": span{position{0, 6}, position{0, 11}},
			"children": []any{map[string]any{"name": "inner", "kind": 6, "range": span{position{1, 0}, position{2, 1}}, "selectionRange": span{position{1, 0}, position{1, 5}}}}}})
	case "workspace/symbol":
		f.reply(m, f.names())
	case "textDocument/rename":
		changes := map[string]any{}
		if f.how["reading"] && !f.done.Load() {
			f.reply(m, map[string]any{"changes": changes})
			return
		}
		for uri, text := range f.docs {
			var edits []any
			for n, line := range strings.Split(text, "\n") {
				if i := strings.Index(line, "old"); i >= 0 {
					edits = append(edits, map[string]any{"range": span{position{n, i}, position{n, i + 3}}, "newText": p.NewName})
				}
			}
			if edits != nil {
				changes[uri] = edits
			}
		}
		f.reply(m, map[string]any{"changes": changes})
	default:
		f.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32601, "message": "no " + m.Method}})
	}
}

// names are fifteen of the first document, or of a file elsewhere if there is none; each
// second one is a constant text, which is no name that anybody looks for.
func (f *fake) names() (list []any) {
	uri := "file:///x.bad"
	if docs := slices.Sorted(maps.Keys(f.docs)); len(docs) > 0 {
		uri = docs[0]
	}
	for i := range 15 {
		at := position{i, 0}
		list = append(list, map[string]any{"name": fmt.Sprint("sym", i), "kind": []int{12, 15}[i%2], "location": map[string]any{"uri": uri, "range": span{at, at}}})
	}
	return list
}

func (f *fake) initialize(m fakeMessage) {
	caps := map[string]any{
		"textDocumentSync": map[string]any{"openClose": true, "change": 1, "save": true}, "hoverProvider": true, "definitionProvider": true,
		"documentSymbolProvider": true, "workspaceSymbolProvider": map[string]any{}, "renameProvider": true,
	}
	if f.how["incremental"] {
		caps["textDocumentSync"] = 2
	}
	if f.how["pull"] {
		caps["diagnosticProvider"] = map[string]any{"identifier": "fake"}
	}
	if f.how["bytes"] {
		caps["positionEncoding"] = "utf-8"
	}
	if f.how["folders"] {
		caps["workspace"] = map[string]any{"workspaceFolders": map[string]any{"supported": true, "changeNotifications": "id"}}
	}
	f.reply(m, map[string]any{"capabilities": caps})
	f.send(map[string]any{"id": 1, "method": "workspace/configuration", "params": map[string]any{"items": []any{map[string]any{"section": "fake.level"}, map[string]any{}}}})
	if f.how["reading"] {
		f.send(map[string]any{"method": "$/progress", "params": map[string]any{"token": "r", "value": map[string]any{"kind": "begin", "title": "reading"}}})
		time.AfterFunc(50*time.Millisecond, func() {
			f.done.Store(true)
			f.send(map[string]any{"method": "$/progress", "params": map[string]any{"token": "r", "value": map[string]any{"kind": "end"}}})
		})
	}
	if f.how["deaf"] {
		time.Sleep(time.Hour)
	}
}

func (f *fake) changed(uri, text string, version int) {
	f.docs[uri] = text
	if f.how["registers"] && len(f.docs) == 1 && version == 0 {
		f.send(map[string]any{"id": 2, "method": "client/registerCapability", "params": map[string]any{"registrations": []any{
			map[string]any{"id": "late", "method": "textDocument/diagnostic", "registerOptions": map[string]any{"identifier": "fake"}},
		}}})
	}
	switch {
	case f.how["crash"] && strings.Contains(text, "bad"):
		fmt.Fprintln(os.Stderr, "panic: bad text")
		os.Exit(2)
	case f.how["mute"], f.how["pull"], f.how["registers"]:
		return
	case f.how["flood"]:
		text = strings.Repeat("poor\n", 100_000) + text
	case f.how["stale"]:
		f.publish(uri, "bad bad bad", version-1)
	case f.how["late"] && strings.Contains(text, "bad"):
		for len(f.docs) < 2 { // until another file is opened
			m, ok := f.read()
			if !ok {
				return
			}
			f.handle(m)
		}
	}
	f.publish(uri, text, version)
	if f.how["others"] { // each file has the errors of all
		for other := range f.docs {
			if other != uri {
				f.publish(other, text, -1)
			}
		}
	}
}

func (f *fake) publish(uri, text string, version int) {
	params := map[string]any{"uri": spelled(uri), "diagnostics": f.diagnostics(text)}
	if version >= 0 {
		params["version"] = version
	}
	f.send(map[string]any{"method": "textDocument/publishDiagnostics", "params": params})
}

// spelled is a URI as a server writes it that has gone another way to the file.
func spelled(uri string) string {
	from, to, _ := strings.Cut(os.Getenv("LSP_FAKE_LINK"), "|")
	if from == "" {
		return uri
	}
	return strings.Replace(uri, from, to, 1)
}

func (f *fake) diagnostics(text string) []any {
	out := []any{}
	for n, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		for word, severity := range map[string]int{"bad": 1, "poor": 2} {
			if i := strings.Index(line, word); i >= 0 {
				at := i
				if !f.how["bytes"] {
					at = units(line[:i])
				}
				out = append(out, map[string]any{"range": span{position{n, at}, position{n, at + len(word)}}, "severity": severity, "message": word + " word", "source": "fake", "code": 7})
			}
		}
	}
	return out
}

type (
	position struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	}
	span struct {
		Start position `json:"start"`
		End   position `json:"end"`
	}
	docID struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"`
	}
	change struct {
		Range *span  `json:"range"`
		Text  string `json:"text"`
	}
)

// units is how many UTF-16 units the beginning of a line is.
func units(line string) (n int) {
	for _, r := range line {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// offset is the byte at a place; lines end in LF here.
func offset(text string, p position) int {
	at := 0
	for range p.Line {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	for n, r := range text[at:] {
		if p.Character <= 0 || r == '\n' {
			return at + n
		}
		p.Character -= units(string(r))
	}
	return len(text)
}
