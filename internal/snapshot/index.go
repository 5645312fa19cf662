package snapshot

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Modes of entries, as git writes them.
const (
	modeFile = 0o100644
	modeExec = 0o100755
	modeLink = 0o120000
	modeRepo = 0o160000
	modeTree = 0o040000
)

type oid [sha1.Size]byte

func (o oid) String() string { return hex.EncodeToString(o[:]) }

// entry is a file of a tree. Its zero value is a file that is not there.
type entry struct {
	mode uint32
	oid  oid
	perm fs.FileMode // of regular files; git keeps one bit of it, in mode
}

// index is the files of a worktree and the trees they make.
type index struct {
	files map[string]entry
	trees map[string]oid // of directories, as of when the index was read
	perms perms
	root  *node // nil until the first change
}

// node is a directory. Its oid is empty when something below it changed.
type node struct {
	dirs  map[string]*node
	files map[string]entry
	oid   oid
}

func newNode() *node { return &node{dirs: map[string]*node{}, files: map[string]entry{}} }

// record is a file as git's index has it: its entry, and what lstat said about
// it when its content was read.
type record struct {
	path string
	entry
	seen stat
}

// stat is what git remembers about a file to see whether it was touched, each
// value as 32 bits.
type stat struct {
	ctime, ctimeNS, mtime, mtimeNS uint32
	ino, uid, gid, size            uint32
}

// parseIndex reads a git index file: its entries, and the hashes of directories
// as far as git knows them, "" for the top.
func parseIndex(data []byte) (files map[string]entry, trees map[string]oid, err error) {
	records, trees, err := parseRecords(data)
	if err != nil {
		return nil, nil, err
	}
	return filesOf(records), trees, nil
}

func filesOf(records []record) map[string]entry {
	files := make(map[string]entry, len(records))
	for _, r := range records {
		files[r.path] = r.entry
	}
	return files
}

// parseRecords reads a git index file of version 2 or 3: its entries in their
// order, without those of a merge, and the hashes of directories.
func parseRecords(data []byte) (records []record, trees map[string]oid, err error) {
	const header, fixed = 12, 62
	if len(data) < header+sha1.Size || string(data[:4]) != "DIRC" {
		return nil, nil, errors.New("not an index")
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version != 2 && version != 3 {
		return nil, nil, fmt.Errorf("index of version %d", version)
	}
	if count > maxTracked {
		return nil, nil, fmt.Errorf("%w: it has %d files, and undo is kept for up to %d", ErrRefused, count, maxTracked)
	}
	rest := data[header : len(data)-sha1.Size]
	if uint64(count)*fixed > uint64(len(rest)) {
		return nil, nil, errors.New("index is shorter than its count")
	}
	records = make([]record, 0, count)
	var names strings.Builder // the paths share its memory
	names.Grow(len(rest) - int(count)*fixed)
	for range count {
		if len(rest) < fixed {
			return nil, nil, errors.New("index ends within an entry")
		}
		flags, at := binary.BigEndian.Uint16(rest[60:]), fixed
		if flags&0x4000 != 0 {
			at += 2
		}
		end := -1
		if len(rest) > at {
			end = bytes.IndexByte(rest[at:], 0)
		}
		if end <= 0 {
			return nil, nil, errors.New("index has an entry without a name")
		}
		if flags&0x3000 == 0 {
			from := names.Len()
			names.Write(rest[at : at+end])
			records = append(records, recordOf(rest, names.String()[from:]))
		}
		size := (at + end + 8) &^ 7
		if size > len(rest) {
			return nil, nil, errors.New("index ends within an entry")
		}
		rest = rest[size:]
	}
	return records, parseTrees(rest), nil
}

// recordOf reads the fixed part of an entry.
func recordOf(b []byte, path string) record {
	at := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	return record{
		path: path, entry: entry{mode: at(6), oid: oid(b[40:60])},
		seen: stat{ctime: at(0), ctimeNS: at(1), mtime: at(2), mtimeNS: at(3), ino: at(5), uid: at(7), gid: at(8), size: at(9)},
	}
}

// parseTrees reads the cached trees among an index's extensions. It leaves out
// what it does not understand: a tree that is missing is made again.
func parseTrees(ext []byte) map[string]oid {
	for len(ext) >= 8 {
		name, size := string(ext[:4]), binary.BigEndian.Uint32(ext[4:])
		ext = ext[8:]
		if uint64(size) > uint64(len(ext)) {
			return nil
		}
		if name == "TREE" {
			trees := map[string]oid{}
			cacheTree(ext[:size], "", trees, 0)
			return trees
		}
		ext = ext[size:]
	}
	return nil
}

// cacheTree reads a directory and what is below it, and returns the rest.
func cacheTree(b []byte, parent string, trees map[string]oid, depth int) []byte {
	nul, nl := bytes.IndexByte(b, 0), bytes.IndexByte(b, '\n')
	if depth > 512 || nul < 0 || nl < nul {
		return nil
	}
	path := string(b[:nul])
	if parent != "" {
		path = parent + "/" + path
	}
	var entries, subtrees int
	if n, err := fmt.Sscanf(string(b[nul+1:nl]), "%d %d", &entries, &subtrees); n != 2 || err != nil {
		return nil
	}
	b = b[nl+1:]
	if entries >= 0 {
		if len(b) < sha1.Size {
			return nil
		}
		trees[path] = oid(b[:sha1.Size])
		b = b[sha1.Size:]
	}
	for range subtrees {
		if b = cacheTree(b, path, trees, depth+1); b == nil {
			return nil
		}
	}
	return b
}

// build makes the nodes from the files.
func (x *index) build() {
	if x.root != nil {
		return
	}
	x.root = newNode()
	nodes := map[string]*node{"": x.root}
	for path, e := range x.files {
		dir := path[:max(0, strings.LastIndexByte(path, '/'))]
		n := nodes[dir]
		if n == nil {
			n = x.root.make(dir)
			nodes[dir] = n
		}
		n.files[path[len(dir)+min(1, len(dir)):]] = e
	}
	for dir, id := range x.trees {
		if n := x.root.find(dir); n != nil {
			n.oid = id
		}
	}
	x.trees = nil
}

// make returns the node of a directory below this one, and makes those on the way.
func (n *node) make(dir string) *node {
	for dir != "" {
		var name string
		name, dir, _ = strings.Cut(dir, "/")
		below := n.dirs[name]
		if below == nil {
			below = newNode()
			n.dirs[name] = below
		}
		n = below
	}
	return n
}

// find returns the node of a directory, or nil.
func (n *node) find(dir string) *node {
	for dir != "" && n != nil {
		var name string
		name, dir, _ = strings.Cut(dir, "/")
		n = n.dirs[name]
	}
	return n
}

// each calls f with the path of each file below the node.
func (n *node) each(prefix string, f func(path string)) {
	for name := range n.files {
		f(prefix + name)
	}
	for name, d := range n.dirs {
		d.each(prefix+name+"/", f)
	}
}

// put sets a file below the node and forgets the hashes on the way.
func (n *node) put(path string, e entry) {
	n.oid = oid{}
	dir, rest, below := strings.Cut(path, "/")
	if !below {
		n.files[path] = e
		return
	}
	d := n.dirs[dir]
	if d == nil {
		d = newNode()
		n.dirs[dir] = d
	}
	d.put(rest, e)
}

// drop removes a file; it reports whether the node is empty then.
func (n *node) drop(path string) bool {
	n.oid = oid{}
	dir, rest, below := strings.Cut(path, "/")
	if !below {
		delete(n.files, path)
	} else if d := n.dirs[dir]; d != nil && d.drop(rest) {
		delete(n.dirs, dir)
	}
	return len(n.files) == 0 && len(n.dirs) == 0
}

// set changes a file and notes what it was. A zero entry removes it. The nodes
// are built.
func (x *index) set(path string, e entry, changed map[string]change) {
	old := x.files[path]
	if old == e {
		return
	}
	before := old
	if c, seen := changed[path]; seen {
		before = c.before
	}
	changed[path] = change{before: before, after: e}
	x.perms.note(path, e)
	if e == (entry{}) {
		delete(x.files, path)
		x.root.drop(path)
		return
	}
	x.files[path] = e
	x.root.put(path, e)
}

// removeBelow removes what lies below a path and is not kept.
func (x *index) removeBelow(path string, keep map[string]bool, changed map[string]change) {
	n := x.root.find(path)
	if n == nil {
		return
	}
	var gone []string
	n.each(path+"/", func(f string) {
		if !keep[f] {
			gone = append(gone, f)
		}
	})
	for _, f := range gone {
		x.set(f, entry{}, changed)
	}
}

// removeAbove removes files that stand where a path needs directories.
func (x *index) removeAbove(path string, changed map[string]change) {
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if _, ok := x.files[path[:i]]; ok {
			x.set(path[:i], entry{}, changed)
		}
	}
}

// write returns the hash of the node's tree; write is called with each tree
// that changed.
func (n *node) write(store func(kind string, body []byte) (oid, error)) (oid, error) {
	if n.oid != (oid{}) {
		return n.oid, nil
	}
	type item struct {
		key, name string
		entry
	}
	items := make([]item, 0, len(n.files)+len(n.dirs))
	for name, e := range n.files {
		items = append(items, item{name, name, e})
	}
	for name, d := range n.dirs {
		id, err := d.write(store)
		if err != nil {
			return oid{}, err
		}
		items = append(items, item{name + "/", name, entry{mode: modeTree, oid: id}})
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.key, b.key) })
	var b bytes.Buffer
	for _, it := range items {
		fmt.Fprintf(&b, "%o %s\x00", it.mode, it.name)
		b.Write(it.oid[:])
	}
	var err error
	n.oid, err = store("tree", b.Bytes())
	return n.oid, err
}
