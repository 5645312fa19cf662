// Package disk reads what OpenCode keeps on disk: the JSON files of its 1.1 line
// and the SQLite database of 1.18. It changes nothing there.
//
// Both hold the JSON of the wire, so decoding is wire's; this package knows where
// it lies and how its pieces belong together.
package disk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/order"
	"lathe/internal/workspace"
)

// Database is the name of OpenCode's database in its data directory.
const Database = "opencode.db"

// maxFile bounds one JSON file.
const maxFile = 256 << 20

// Record is one session with all that belongs to it, in order.
type Record struct {
	Session  lathe.Session
	Project  lathe.Project
	Messages []lathe.Message
	Todos    []lathe.Todo
	Diffs    []lathe.FileDiff
	// Problems are pieces that could not be read and were left out.
	Problems []string
}

// gathering is a record that its pieces are added to.
type gathering struct {
	Record
	at    map[lathe.MessageID]int // where in Messages each stands
	parts map[lathe.PartID]bool
}

func gather(sess lathe.Session) *gathering {
	return &gathering{Record{Session: sess}, map[lathe.MessageID]int{}, map[lathe.PartID]bool{}}
}

// Parts counts the parts of all messages.
func (r *Record) Parts() (n int) {
	for _, m := range r.Messages {
		n += len(m.Parts)
	}
	return n
}

// Hash names the content of messages: the same in OpenCode's store and in ours.
func Hash(messages []lathe.Message) (string, error) {
	h := sha256.New()
	for _, m := range messages {
		raw, err := wire.Marshal(wire.EncodeMessage(m))
		if err != nil {
			return "", err
		}
		h.Write(raw)
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Read yields the sessions found in OpenCode's data directory, parents before
// their children. A session that is in the database is not looked for in files.
// An error ends it; pieces that cannot be read are listed in the records.
func Read(ctx context.Context, dir string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		storage, database := filepath.Join(dir, "storage"), filepath.Join(dir, Database)
		if !isDir(storage) && !isFile(database) {
			yield(nil, lathe.Errorf(lathe.CodeNotFound, "name OpenCode's data directory, often ~/.local/share/opencode",
				"%s holds no OpenCode sessions", dir))
			return
		}
		seen := map[lathe.SessionID]bool{}
		if isFile(database) && !readDatabase(ctx, database, storage, seen, yield) {
			return
		}
		if isDir(storage) {
			readFiles(ctx, storage, seen, yield)
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (r *Record) problem(format string, args ...any) {
	if len(r.Problems) < 100 {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// readFiles reads the JSON storage.
func readFiles(ctx context.Context, storage string, seen map[lathe.SessionID]bool, yield func(*Record, error) bool) {
	paths, err := filepath.Glob(filepath.Join(escape(storage), "session", "*", "*.json"))
	if err != nil {
		yield(nil, err)
		return
	}
	type found struct {
		path string
		sess lathe.Session
	}
	var all []found
	for _, path := range paths {
		raw, err := workspace.ReadFile(path, maxFile)
		var sess lathe.Session
		if err == nil {
			sess, err = wire.DecodeSession(raw)
		}
		if err != nil {
			if !yield(&Record{Problems: []string{fmt.Sprintf("session %s: %v", path, err)}}, nil) {
				return
			}
			continue
		}
		if !seen[sess.ID] {
			seen[sess.ID] = true
			all = append(all, found{path, sess})
		}
	}
	order.Stable(all, func(a, b found) int { return byAge(a.sess, b.sess) })
	for _, f := range all {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		if !yield(fileRecord(storage, f.sess), nil) {
			return
		}
	}
}

// byAge puts parents, and what is older, first.
func byAge(a, b lathe.Session) int {
	if (a.ParentID == "") != (b.ParentID == "") {
		if a.ParentID == "" {
			return -1
		}
		return 1
	}
	if c := a.Created.Compare(b.Created); c != 0 {
		return c
	}
	return strings.Compare(string(a.ID), string(b.ID))
}

func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func fileRecord(storage string, sess lathe.Session) *Record {
	r := gather(sess)
	if name := sess.ProjectID + ".json"; filepath.Base(name) != name || !filepath.IsLocal(name) {
		r.problem("session %s: project %q is no name of a file", sess.ID, sess.ProjectID)
	} else {
		r.file(filepath.Join(storage, "project", name), func(raw []byte) (err error) {
			r.Project, err = decodeProject(raw)
			return err
		})
	}
	r.file(filepath.Join(storage, "todo", string(sess.ID)+".json"), func(raw []byte) (err error) {
		r.Todos, err = wire.DecodeTodos(raw)
		return err
	})
	r.readDiffs(storage)
	r.each(filepath.Join(storage, "message", string(sess.ID)), r.addMessage)
	for _, m := range r.Messages {
		r.each(filepath.Join(storage, "part", string(m.ID)), r.addPart)
	}
	r.finish()
	return &r.Record
}

func (r *Record) readDiffs(storage string) {
	r.file(filepath.Join(storage, "session_diff", string(r.Session.ID)+".json"), func(raw []byte) (err error) {
		r.Diffs, err = wire.DecodeDiffs(raw)
		return err
	})
}

// file reads a file that need not be there.
func (r *Record) file(path string, decode func([]byte) error) {
	raw, err := workspace.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = decode(raw)
	}
	if err != nil {
		r.problem("%s: %v", path, err)
	}
}

// each reads the JSON files of a directory, by name.
func (r *Record) each(dir string, decode func([]byte) error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.problem("%s: %v", dir, err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			r.file(filepath.Join(dir, e.Name()), decode)
		}
	}
}

func (r *gathering) addMessage(raw []byte) error {
	m, err := wire.DecodeInfo(raw)
	if err != nil {
		return err
	}
	if _, twice := r.at[m.ID]; twice {
		return fmt.Errorf("message %s is there twice", m.ID)
	}
	r.at[m.ID] = len(r.Messages)
	m.SessionID = r.Session.ID
	r.Messages = append(r.Messages, m)
	return nil
}

func (r *gathering) addPart(raw []byte) error {
	p, err := wire.DecodePart(raw)
	if err != nil {
		return err
	}
	i, ok := r.at[p.MessageID]
	switch {
	case !ok:
		return fmt.Errorf("part %s belongs to message %s, which is not there", p.ID, p.MessageID)
	case r.parts[p.ID]:
		return fmt.Errorf("part %s is there twice", p.ID)
	}
	r.parts[p.ID] = true
	p.SessionID = r.Session.ID
	r.Messages[i].Parts = append(r.Messages[i].Parts, p)
	return nil
}

// finish puts everything in order and adds up what the session used.
func (r *Record) finish() {
	order.Stable(r.Messages, func(a, b lathe.Message) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(string(a.ID), string(b.ID)))
	})
	s := &r.Session
	s.Cost, s.Tokens = 0, lathe.Tokens{}
	for i := range r.Messages {
		m := &r.Messages[i]
		order.Stable(m.Parts, func(a, b lathe.Part) int { return strings.Compare(string(a.ID), string(b.ID)) })
		switch info := m.Info.(type) {
		case *lathe.User:
			s.Agent, s.Model = info.Agent, info.Model
		case *lathe.Assistant:
			s.Cost += info.Cost
			s.Tokens = s.Tokens.Add(info.Tokens)
		}
	}
	// A secret and an undo store stay with the program that has them.
	s.Share, s.Compacting = nil, time.Time{}
}

func decodeProject(raw []byte) (lathe.Project, error) {
	var in struct {
		ID, Worktree, VCS string
		Time              struct{ Created, Updated int64 }
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return lathe.Project{}, err
	}
	return lathe.Project{
		ID: in.ID, Worktree: in.Worktree, VCS: in.VCS, Created: time.UnixMilli(in.Time.Created), Updated: time.UnixMilli(in.Time.Updated),
	}, nil
}
