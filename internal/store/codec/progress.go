package codec

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"lathe"
)

// The progress of a running tool is kept like streamed text: outside the row, in
// the file named after the row's revision. Each line says what changed since the
// line before, so that a command that prints for an hour costs only what it
// prints. A line cut short by a kill counts as not written.

// Shown is what a running tool shows.
type Shown struct {
	title  string
	rest   []byte // the metadata without its output
	output string
	prints bool // there is output
}

// shownDoc is a change of what is shown. The new output consists of Head, the
// old output from Drop on, and Add.
type shownDoc struct {
	Title  *string         `json:"title,omitempty"`
	Rest   json.RawMessage `json:"rest,omitempty"`
	Prints bool            `json:"prints,omitempty"`
	Head   string          `json:"head,omitempty"`
	Drop   int             `json:"drop,omitempty"`
	Add    string          `json:"add,omitempty"`
}

func (d shownDoc) line() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	return b.Bytes(), err
}

// Showing returns what a running call shows.
func Showing(run *lathe.ToolRunning) (*Shown, error) {
	now, rest := &Shown{title: run.Title}, run.Metadata
	if out, ok := rest[OutputKey].(string); ok {
		rest = maps.Clone(rest)
		delete(rest, OutputKey)
		now.output, now.prints = strings.ToValidUTF8(out, "\uFFFD"), true
	}
	var err error
	now.rest, err = json.Marshal(rest)
	return now, err
}

// Line returns the line that leads from what was shown before to what is shown now.
// Before is nil at the beginning of a file.
func (now *Shown) Line(before *Shown) ([]byte, error) { return before.to(now).line() }

// to returns how to get from one state to the next; from nothing all is new.
func (s *Shown) to(now *Shown) (d shownDoc) {
	d.Prints = now.prints
	if s == nil {
		d.Title, d.Rest, d.Add = &now.title, now.rest, now.output
		return d
	}
	if now.title != s.title {
		d.Title = &now.title
	}
	if !bytes.Equal(now.rest, s.rest) {
		d.Rest = now.rest
	}
	d.Head, d.Drop, d.Add = since(s.output, now.output)
	return d
}

// minOverlap is how much two outputs must share for one to count as a
// continuation of the other.
const minOverlap = 64

// since says how one output follows from the one before: it grew, or it is the
// end of one that grew, after a short line that says so.
func since(old, now string) (head string, drop int, add string) {
	if strings.HasPrefix(now, old) {
		return "", 0, now[len(old):]
	}
	if i := strings.Index(now[:min(len(now), 16)], "\n\n"); i >= 0 {
		head = now[:i+2]
	}
	rest := now[len(head):]
	if len(rest) < minOverlap {
		return "", len(old), now
	}
	if i := strings.Index(old, rest[:minOverlap]); i >= 0 && strings.HasPrefix(rest, old[i:]) { // the usual case
		return head, i, rest[len(old)-i:]
	}
	if n := overlap(old, rest); n >= minOverlap {
		return head, len(old) - n, rest[n:]
	}
	return "", len(old), now
}

// overlap returns how many bytes at the end of old are also the beginning of now,
// at most. It takes time in proportion to both, however repetitive they are
// (Knuth, Morris and Pratt).
func overlap(old, now string) int {
	now = now[:min(len(now), len(old))]
	if len(now) == 0 {
		return 0
	}
	back := make([]int32, len(now)) // back[i]: the most bytes now[:i+1] both begins and ends with
	n := int32(0)
	for i := 1; i < len(now); i++ {
		for n > 0 && now[n] != now[i] {
			n = back[n-1]
		}
		if now[n] == now[i] {
			n++
		}
		back[i] = n
	}
	old, n = old[len(old)-len(now):], 0
	for i := range len(old) {
		for n > 0 && now[n] != old[i] {
			n = back[n-1]
		}
		if now[n] == old[i] {
			n++
		}
	}
	return int(n)
}

// AddProgress puts what was kept of a call's progress into its state.
func AddProgress(run *lathe.ToolRunning, file []byte) {
	var now *Shown
	var output []byte
	for line := range bytes.Lines(file) {
		var d shownDoc
		if line[len(line)-1] != '\n' || json.Unmarshal(line, &d) != nil || d.Drop < 0 || d.Drop > len(output) {
			break
		}
		if now == nil {
			now = &Shown{}
		}
		now.take(d)
		output = shift(output, d)
	}
	if now == nil {
		return
	}
	run.Title, run.Metadata = now.title, nil
	_ = json.Unmarshal(now.rest, &run.Metadata) // what was marshalled here, or nothing
	if now.prints {
		if run.Metadata == nil {
			run.Metadata = map[string]any{}
		}
		run.Metadata[OutputKey] = string(output)
	}
}

func (s *Shown) take(d shownDoc) {
	if d.Title != nil {
		s.title = *d.Title
	}
	if d.Rest != nil {
		s.rest = d.Rest
	}
	s.prints = d.Prints
}

// shift applies a change to an output, in place if possible.
func shift(output []byte, d shownDoc) []byte {
	if over := d.Drop - len(d.Head); over >= 0 {
		output = output[over:]
		copy(output, d.Head)
	} else {
		output = append([]byte(d.Head), output[d.Drop:]...)
	}
	return append(output, d.Add...)
}
