package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"slices"
)

// If a damaged page is an inner page or part of the schema, SQLite cannot reach
// intact rows. They are found by looking at each page of the file: this file
// reads the pages that hold rows, as SQLite's "Database File Format" describes
// them.

const (
	dbHeader   = 100
	leafOfRows = 0x0D
	maxRow     = 64 << 20 // bytes; longer rows are skipped
)

type shape struct {
	table   string
	columns []string
	holds   string
}

// shapes are what the columns of tables hold: n nothing (the row number stands
// for it), i a number, t text, d a document, o text or nothing. No two tables
// have the same shape.
var shapes = []shape{
	{"session", []string{"n", "id", "project", "parent", "directory", "title", "created", "updated", "archived", "messages", "data", "blobs"}, "ntttttiiiido"},
	{"message", []string{"n", "id", "session", "seq", "role", "created", "open", "summary", "parts", "data", "blobs"}, "ntiitiiiido"},
	{"part", []string{"n", "id", "message", "seq", "kind", "open", "rev", "size", "data", "blobs"}, "ntiitiiido"},
	{"boundary", []string{"message", "session", "seq"}, "nii"},
	{"todo", []string{"session", "data"}, "nd"},
	{"session_value", []string{"session", "key", "data"}, "itd"},
	{"session_diff", []string{"session", "message", "data", "blobs"}, "itdo"},
	{"approval", []string{"n", "project", "permission", "pattern", "action", "created"}, "ntttti"},
}

func holds(kind byte, v any) bool {
	switch v.(type) {
	case nil:
		return kind == 'n' || kind == 'o'
	case int64:
		return kind == 'i'
	case string:
		return kind == 't' || kind == 'd' || kind == 'o'
	case []byte:
		return kind == 'd'
	}
	return false
}

// pages reads a database file page by page.
type pages struct {
	f      *os.File
	size   int // of a page
	usable int // usable bytes of a page
	count  int64
	free   map[int64]bool // pages that hold deleted rows
}

func openPages(path string) (*pages, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	head := make([]byte, dbHeader)
	if err == nil {
		_, err = io.ReadFull(f, head)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	p := &pages{f: f, size: 4096, usable: 4096, free: map[int64]bool{}}
	// What the first page says counts if it looks intact.
	if n := int(binary.BigEndian.Uint16(head[16:])); n >= 512 && n&(n-1) == 0 && string(head[:6]) == "SQLite" {
		p.size, p.usable = n, n-int(head[20])
		p.count = info.Size() / int64(n)
		p.readFree(int64(binary.BigEndian.Uint32(head[32:])))
	}
	p.count = info.Size() / int64(p.size)
	return p, nil
}

func (p *pages) close() error { return p.f.Close() }

func (p *pages) read(n int64) ([]byte, error) {
	if n < 1 || n > p.count {
		return nil, errors.New("there is no such page")
	}
	b := make([]byte, p.size)
	_, err := p.f.ReadAt(b, (n-1)*int64(p.size))
	return b, err
}

// readFree notes the pages on the list of free ones, as far as it can be read.
func (p *pages) readFree(trunk int64) {
	for trunk != 0 && !p.free[trunk] {
		b, err := p.read(trunk)
		if err != nil {
			return
		}
		p.free[trunk] = true
		for i := range min(int(binary.BigEndian.Uint32(b[4:])), p.usable/4-2) {
			p.free[int64(binary.BigEndian.Uint32(b[8+4*i:]))] = true
		}
		trunk = int64(binary.BigEndian.Uint32(b))
	}
}

// rows calls fn with each row of a table that is on some page, by its number.
// Cells that make no sense are skipped.
func (p *pages) rows(table string, fn func(columns) error) error {
	i := slices.IndexFunc(shapes, func(s shape) bool { return s.table == table })
	if i < 0 {
		return nil
	}
	for n := int64(2); n <= p.count; n++ {
		if p.free[n] {
			continue
		}
		b, err := p.read(n)
		if err != nil {
			return err
		}
		if b[0] != leafOfRows {
			continue
		}
		cells := int(binary.BigEndian.Uint16(b[3:]))
		for c := range min(cells, (p.usable-8)/2) {
			at := int(binary.BigEndian.Uint16(b[8+2*c:]))
			row := p.row(b, at, shapes[i].columns, shapes[i].holds)
			if row == nil {
				continue
			}
			if err := fn(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// row decodes a cell, or returns nil if it is not a row of that shape.
func (p *pages) row(page []byte, at int, names []string, shape string) columns {
	if at < 8 || at >= p.usable {
		return nil
	}
	size, k := varint(page[at:p.usable])
	at += k
	if k == 0 || size < 2 || size > maxRow || at >= p.usable {
		return nil
	}
	number, k := varint(page[at:p.usable])
	at += k
	if k == 0 {
		return nil
	}
	payload := p.payload(page, at, int(size))
	values := record(payload, len(names))
	if values == nil {
		return nil
	}
	row := columns{}
	for i, v := range values {
		if !holds(shape[i], v) {
			return nil
		}
		if row[names[i]] = v; shape[i] == 'n' {
			row[names[i]] = number
		}
	}
	return row
}

// payload returns the bytes of a row, which continue on other pages if there are many.
func (p *pages) payload(page []byte, at, size int) []byte {
	local := size
	if most := p.usable - 35; size > most {
		least := (p.usable-12)*32/255 - 23
		if local = least + (size-least)%(p.usable-4); local > most {
			local = least
		}
	}
	if at+local > p.usable || local < size && at+local+4 > p.usable {
		return nil
	}
	out := append(make([]byte, 0, size), page[at:at+local]...)
	if local == size {
		return out
	}
	next := int64(binary.BigEndian.Uint32(page[at+local:]))
	for len(out) < size {
		b, err := p.read(next)
		if err != nil {
			return nil
		}
		next = int64(binary.BigEndian.Uint32(b))
		out = append(out, b[4:min(p.usable, 4+size-len(out))]...)
	}
	return out
}

// record decodes the columns of a row, or returns nil if it has fewer.
func record(b []byte, count int) []any {
	head, k := varint(b)
	if k == 0 || head > int64(len(b)) || head < int64(k) {
		return nil
	}
	kinds, body := b[k:head], b[head:]
	var values []any
	for len(kinds) > 0 {
		kind, k := varint(kinds)
		if k == 0 || len(values) == count {
			return nil
		}
		kinds = kinds[k:]
		v, n := value(kind, body)
		if n < 0 {
			return nil
		}
		values, body = append(values, v), body[n:]
	}
	if len(values) != count {
		return nil
	}
	return values
}

// value decodes one column and returns its length, or -1.
func value(kind int64, b []byte) (any, int) {
	sizes := []int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}
	switch {
	case kind < 0 || kind == 10 || kind == 11:
		return nil, -1
	case kind >= 12:
		n := (kind - 12) / 2
		if n > int64(len(b)) {
			return nil, -1
		}
		if kind%2 == 1 {
			return string(b[:n]), int(n)
		}
		return slices.Clone(b[:n]), int(n)
	case len(b) < sizes[kind]:
		return nil, -1
	case kind == 0:
		return nil, 0
	case kind == 8, kind == 9:
		return kind - 8, 0
	}
	n := sizes[kind]
	v := int64(int8(b[0]))
	for _, c := range b[1:n] {
		v = v<<8 | int64(c)
	}
	if kind == 7 {
		return math.Float64frombits(uint64(v)), n
	}
	return v, n
}

// varint decodes a number of up to nine bytes and returns its length, or 0.
func varint(b []byte) (v int64, n int) {
	for i, c := range b {
		if i == 8 {
			return v<<8 | int64(c), 9
		}
		v = v<<7 | int64(c&0x7f)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
