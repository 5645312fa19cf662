// Package ledger keeps the facts of a session that must survive a compaction,
// whatever a summary says: the user's requests and constraints word for word,
// decisions, the task list, files with their latest state, commands with their
// outcome, open errors, answers and permissions. It takes them from the parts
// that record what happened, asks no model, and is pure.
//
// [Facts] grow with [Facts.Add] and are bounded: the newest of each kind are
// kept. [Facts.Render] writes them for a model within a budget of tokens. Facts
// encode to JSON and back, so that those of messages that are out of the window
// need not be gathered again.
package ledger

import (
	"slices"
	"strings"

	"lathe"
)

// Bounds of what is kept. What does not fit the model's block is dropped,
// oldest first; the messages themselves are never touched.
const (
	maxRequests    = 64
	maxSentences   = 64
	maxFiles       = 400
	maxCommands    = 120
	maxFailures    = 24
	maxAnswers     = 48
	maxLookups     = 60
	maxTodos       = 200
	maxRequestText = 4000 // bytes of a request
	maxSentence    = 400
	maxCommandText = 300
	maxOutcome     = 400
)

// Facts are what is known about a session. The zero value knows nothing.
type Facts struct {
	Seq         int64    `json:"seq"` // the newest message taken in
	Requests    []Fact   `json:"requests,omitempty"`
	Constraints []Fact   `json:"constraints,omitempty"`
	Decisions   []Fact   `json:"decisions,omitempty"`
	Todos       []Todo   `json:"todos,omitempty"`
	Files       []File   `json:"files,omitempty"`    // in the order of the last touch
	Commands    []Run    `json:"commands,omitempty"` // in the order of the last run
	Failures    []Fact   `json:"failures,omitempty"` // of other tools
	Problems    []Fact   `json:"problems,omitempty"` // open diagnostics, by file
	Answers     []Fact   `json:"answers,omitempty"`  // of questions and permissions
	Lookups     []Fact   `json:"lookups,omitempty"`  // searches and fetched pages
	Allowed     []string `json:"allowed,omitempty"`  // what "always" allows
	Last        string   `json:"last,omitempty"`     // the end of the model's last words

	// Names are identifiers that commands printed and that were used later;
	// Printed are the newest ones that have not been used yet.
	Names   []Fact `json:"names,omitempty"`
	Printed []Fact `json:"printed,omitempty"`
}

// Fact is something said or found. Facts with the same Key replace each other.
type Fact struct {
	Seq  int64  `json:"seq"`
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
	// Of a long text, Text is only the beginning and Tail the end; Cut bytes
	// between them are left out. Part is the number of the part that has all of it.
	Tail string `json:"tail,omitempty"`
	Cut  int    `json:"cut,omitempty"`
	Part int64  `json:"part,omitempty"`
}

// Todo is an entry of the task list.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// done reports whether the entry must never come back as open.
func (t Todo) done() bool { return t.Status == "completed" || t.Status == "cancelled" }

// Ways a file was touched, strongest last.
const (
	read    = "read"
	changed = "changed"
	created = "created"
	deleted = "deleted"
)

// File is a file that was worked with.
type File struct {
	Seq   int64  `json:"seq"`
	Path  string `json:"path"`
	State string `json:"state"`
	Read  bool   `json:"read,omitempty"` // it was also read
	Part  bool   `json:"part,omitempty"` // the model was shown a part of it only
}

// Run is a command and how it ended the last time.
type Run struct {
	Seq     int64  `json:"seq"`
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Ended   bool   `json:"ended"` // false: stopped, or no exit code
	Times   int    `json:"times"`
	Sure    bool   `json:"sure,omitempty"`    // its exit code 0 means that all of it succeeded
	Outcome string `json:"outcome,omitempty"` // the end of its output, if it failed or that is not known
}

// Add adds messages, oldest first. Those up to Seq are already included and skipped.
func (f *Facts) Add(messages []lathe.Message) {
	for i := range messages {
		m := &messages[i]
		if m.Seq <= f.Seq {
			continue
		}
		f.Seq = m.Seq
		switch info := m.Info.(type) {
		case *lathe.User:
			f.addUser(m)
		case *lathe.Assistant:
			if !info.Summary {
				f.addAssistant(m)
			}
		}
	}
}

// SetTodos replaces the task list with the one that is stored.
func (f *Facts) SetTodos(todos []lathe.Todo) {
	f.Todos = f.Todos[:0]
	for _, t := range todos[:min(len(todos), maxTodos)] {
		f.Todos = append(f.Todos, Todo{Content: clip(t.Content, maxSentence), Status: t.Status})
	}
}

func (f *Facts) addUser(m *lathe.Message) {
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if b.Synthetic || b.Ignored || strings.TrimSpace(b.Text) == "" {
				continue
			}
			f.addRequest(m.Seq, p.Seq, b.Text)
			f.use(m.Seq, b.Text)
			for _, s := range sentences(b.Text, isConstraint) {
				f.Constraints = replace(f.Constraints, Fact{Seq: m.Seq, Key: s, Text: s}, maxSentences)
			}
		case *lathe.File:
			if b.Source == nil || b.Source.Path == "" {
				continue
			}
			f.touch(m.Seq, b.Source.Path, read)
		case *lathe.Subtask:
			f.addRequest(m.Seq, p.Seq, b.Prompt)
		}
	}
}

// addRequest keeps what the user asked for. Repeated requests, such as "go on",
// are kept once.
func (f *Facts) addRequest(seq, part int64, text string) {
	r := shorten(Fact{Seq: seq, Text: strings.TrimSpace(text), Part: part}, maxRequestText)
	f.Requests = slices.DeleteFunc(f.Requests, func(o Fact) bool { return o.Text == r.Text && o.Tail == r.Tail && o.Cut == r.Cut })
	f.Requests = push(f.Requests, r, maxRequests)
}

// shorten cuts a long text in the middle to about n bytes: what is wanted often
// comes at the end of pasted text.
func shorten(r Fact, n int) Fact {
	size := len(r.Text) + len(r.Tail) + r.Cut
	if size <= n || len(r.Text)+len(r.Tail) <= n {
		if r.Cut == 0 {
			r.Part = 0
		}
		return r
	}
	rest := r.Tail
	if r.Cut == 0 {
		rest = r.Text
	}
	r.Text = strings.ToValidUTF8(r.Text[:min(len(r.Text), n*2/5)], "")
	r.Tail = strings.ToValidUTF8(rest[max(0, len(rest)-n*3/5):], "")
	r.Cut = size - len(r.Text) - len(r.Tail)
	return r
}

func (f *Facts) addAssistant(m *lathe.Message) {
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if strings.TrimSpace(b.Text) == "" {
				continue
			}
			f.Last = tail(b.Text, 1200)
			f.use(m.Seq, b.Text)
			for _, s := range sentences(b.Text, isDecision) {
				f.Decisions = replace(f.Decisions, Fact{Seq: m.Seq, Key: s, Text: s}, maxSentences)
			}
		case *lathe.ToolCall:
			f.addCall(m.Seq, b)
		case *lathe.Patch:
			for _, path := range b.Files {
				if !f.known(path, m.Seq) {
					f.touch(m.Seq, path, changed)
				}
			}
		}
	}
}

// known reports whether another call of the same message said more about the file.
func (f *Facts) known(path string, seq int64) bool {
	return slices.ContainsFunc(f.Files, func(x File) bool { return x.Path == path && x.Seq == seq && x.State != read })
}

// touch notes what was done to a file. Reading a changed file leaves it changed;
// changing a created file leaves it created. A deleted file has no errors.
func (f *Facts) touch(seq int64, path, state string) {
	if path == "" || len(path) > 1024 {
		return
	}
	if state == deleted {
		f.Problems = remove(f.Problems, path)
	}
	now := File{Seq: seq, Path: path, State: state, Read: state == read}
	if i := slices.IndexFunc(f.Files, func(x File) bool { return x.Path == path }); i >= 0 {
		old := f.Files[i]
		now.Part = old.Part && state != created && state != deleted
		now.Read = now.Read || old.Read
		if (state == read && old.State != deleted) || (state == changed && old.State == created) {
			now.State = old.State
		}
		f.Files = slices.Delete(f.Files, i, i+1)
	}
	f.Files = push(f.Files, now, maxFiles)
}

// push appends and keeps the newest limit.
func push[T any](list []T, v T, limit int) []T {
	list = append(list, v)
	if n := len(list) - limit; n > 0 {
		list = slices.Delete(list, 0, n)
	}
	return list
}

// replace appends a fact, replacing one with the same key.
func replace(list []Fact, v Fact, limit int) []Fact {
	return push(remove(list, v.Key), v, limit)
}

func remove(list []Fact, key string) []Fact {
	return slices.DeleteFunc(list, func(x Fact) bool { return x.Key == key })
}

// clip cuts text to n bytes at a character, and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " […]"
}

// tail keeps the last n bytes of text, at a character.
func tail(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	return "[…] " + strings.ToValidUTF8(s[len(s)-n:], "")
}
