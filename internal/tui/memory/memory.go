// Package memory keeps what a person wrote from one run of the screen to the
// next: what was sent, so that it can be recalled, and what was not sent yet.
//
// Everything stays in a directory that only its owner can read. Several screens
// may use it at once: history is appended to, and a draft belongs to a session.
package memory

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lathe/internal/printable"
	"lathe/internal/tui/edit"
	"lathe/internal/workspace"
)

const (
	maxText  = 64 << 10  // of what is kept; longer texts are not
	maxDraft = 4 << 20   // with what was pasted
	maxFile  = 1 << 20   // of history, which is then cut to its newer half
	keepFile = 512 << 10 // what is left of it
	maxItems = 500
)

// Memory is the memory of one project directory.
type Memory struct {
	dir     string
	history string // file
	project string
}

// Open returns the memory that is kept in a directory, for a project. Nothing is
// created before something is stored.
func Open(dir, project string) *Memory {
	sum := sha256.Sum256([]byte(project))
	name := hex.EncodeToString(sum[:8])
	return &Memory{dir: dir, history: filepath.Join(dir, "history", name+".jsonl"), project: name}
}

// History returns what was sent from this project, oldest first. What cannot be
// read is left out.
func (m *Memory) History() []string {
	data, err := workspace.ReadFile(m.history, 2*maxFile)
	if err != nil {
		return nil
	}
	var out []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 8*maxText)
	for lines.Scan() {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) == nil && text != "" {
			out = append(out, printable.Text(text, printable.Options{}))
		}
	}
	return slices.Clone(out[max(0, len(out)-maxItems):])
}

// Sent keeps what was sent.
func (m *Memory) Sent(text string) error {
	if len(text) > maxText {
		return nil
	}
	line, err := json.Marshal(text)
	if err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(m.history), 0o700); err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	f, err := os.OpenFile(m.history, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if info, serr := f.Stat(); err == nil && serr == nil && info.Size() > maxFile {
		err = m.shorten()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	return nil
}

// shorten drops the older half of the history.
func (m *Memory) shorten() error {
	data, err := workspace.ReadFile(m.history, 4*maxFile)
	if err != nil {
		return err
	}
	data = data[max(0, len(data)-keepFile):]
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		data = data[i+1:]
	}
	return workspace.WriteFile(m.history, data, 0o600)
}

// draftFile returns where the draft of a session is kept; "" is a new session.
func (m *Memory) draftFile(session string) string {
	if session == "" {
		session = "new-" + m.project
	}
	return filepath.Join(m.dir, "drafts", filepath.Base(session)+".json")
}

// Draft returns what was written for a session and not sent.
func (m *Memory) Draft(session string) edit.Draft {
	var d edit.Draft
	data, err := workspace.ReadFile(m.draftFile(session), 2*maxDraft)
	if err != nil || json.Unmarshal(data, &d) != nil {
		return edit.Draft{}
	}
	return d
}

// Keep keeps a draft; one without text is forgotten.
func (m *Memory) Keep(session string, d edit.Draft) error {
	name := m.draftFile(session)
	if d.Text == "" {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget a draft: %w", err)
		}
		return nil
	}
	data, err := json.Marshal(d)
	if err != nil || len(data) > maxDraft {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("keep a draft: %w", err)
	}
	if err := workspace.WriteFile(name, data, 0o600); err != nil {
		return fmt.Errorf("keep a draft: %w", err)
	}
	return nil
}
