// Package linear is the screen for people who listen to it or read it in Braille,
// and for terminals that can do nothing else: plain lines, one after the other.
// Nothing is drawn over, nothing moves, no line or box is made of characters, and
// what has to be chosen is a list of numbers.
//
// The terminal edits the line that is typed, as it does for every simple program,
// so screen readers can handle it.
package linear

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/say"
	"lathe/internal/tui/engine"
)

// maxLine bounds a line that is typed or pasted.
const maxLine = 1 << 20

// Options configure a [Run]. Engine is needed.
type Options struct {
	Engine  engine.Engine
	In      io.Reader
	Out     io.Writer
	Now     func() time.Time
	Dir     string
	Session lathe.SessionID // to open; empty: a new one
	Agent   string
	Model   lathe.ModelRef
	Prompt  string // to send at once
	Review  bool   // list the changes of the session at once
	Notices []string
	Say     say.Language
	// Interrupts are what the person sends with ctrl+c: the first stops the turn, or
	// leaves where none runs. May be nil.
	Interrupts <-chan struct{}
	// Still is how often a silent turn is reported to be still working; 30 s by default.
	Still time.Duration
}

// Run talks with the person until they leave, the input ends or the context does.
// It returns the session that was open last.
func Run(ctx context.Context, o Options) (lathe.SessionID, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Still <= 0 {
		o.Still = 30 * time.Second
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t := newTalk(ctx, o)
	lines, stop, err := t.read()
	if err != nil {
		cancel(nil)
		return "", err
	}
	defer func() {
		cancel(nil)
		stop()
		t.wg.Wait()
	}()
	t.begin()
	err = t.loop(lines, t.follow())
	return t.session.ID, err
}

// talk is the state of the conversation with the person. One goroutine owns it.
type talk struct {
	Options
	voice
	ctx      context.Context
	wg       sync.WaitGroup
	session  lathe.Session
	parts    map[lathe.PartID]*said
	own      map[lathe.MessageID]bool // messages of the model; false: printed completely
	newest   int64                    // sequence number of the newest message
	busy     bool
	cut      bool // the connection is lost
	stopping bool // the person interrupted the turn
	since    time.Time
	menu     menu
	draft    string     // lines that end with a backslash
	results  chan error // of what runs in the background
}

// voice tells the person something, line by line.
type voice struct {
	out    io.Writer
	lang   say.Language
	failed error // writing failed
}

// menu is what the person chooses from, and what they are asked.
type menu struct {
	voice   *voice
	choices []choice             // what a number stands for
	free    func(string)         // handles a line that is not a number; nil: the line is a request
	waiting []func()             // asks and questions that come after the present menu
	asking  lathe.AskID          // what the menu is about
	askedAt time.Time            // when the newest ask or question was printed
	asked   map[lathe.AskID]bool // what the person was asked, or will be
}

// open reports whether something is to be chosen or answered.
func (m *menu) open() bool { return len(m.choices) > 0 || m.free != nil }

func newTalk(ctx context.Context, o Options) *talk {
	t := &talk{
		Options: o, voice: voice{out: o.Out, lang: o.Say}, ctx: ctx, session: lathe.Session{ID: o.Session},
		parts: map[lathe.PartID]*said{}, own: map[lathe.MessageID]bool{}, results: make(chan error),
	}
	t.menu = menu{voice: &t.voice, asked: map[lathe.AskID]bool{}}
	return t
}

// choice is what a number stands for.
type choice struct {
	label string
	do    func()
}

// said is what was printed of a part.
type said struct {
	kind  string
	text  string // of an open part
	shown int    // bytes of it that were printed
	done  bool
}

var errLeave = errors.New("leave")

// say writes a line in the person's language. Every text it is given passes through here and
// is cleaned; what is put in is put in as it is, see [voice.in].
func (v *voice) say(format string, args ...any) {
	text := printable.Text(fmt.Sprintf(v.lang.Word(format), args...), printable.Options{Tab: "    ", Return: printable.BreakLine})
	if _, err := io.WriteString(v.out, text+"\n"); err != nil && v.failed == nil {
		v.failed = fmt.Errorf("write to the terminal: %w", err)
	}
}

// in returns a text of lathe's own in the person's language.
func (v *voice) in(english string) string { return v.lang.Text(english) }

// read returns the lines that are typed. stop ends it and waits for it.
func (t *talk) read() (lines chan typed, stop func(), err error) {
	in, err := uv.NewCancelReader(t.In)
	if err != nil {
		return nil, nil, fmt.Errorf("read the terminal: %w", err)
	}
	lines = make(chan typed)
	done := make(chan struct{})
	go func() { // waited for by stop
		defer close(done)
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			select {
			case lines <- typed{scan.Text(), t.Now()}:
			case <-t.ctx.Done():
				return
			}
		}
	}()
	return lines, func() {
		in.Cancel()
		select {
		case <-done:
		case <-time.After(500 * time.Millisecond): // a read that cannot be cancelled
		}
	}, nil
}

func (t *talk) begin() {
	t.say("lathe %s in %s. Plain lines. Type a request and press enter. /help lists the commands.", lathe.Version, t.Dir)
	for _, n := range t.Notices {
		t.say("Note: %s", printable.Line(t.in(n)))
	}
	if t.session.ID != "" {
		t.open(t.session.ID)
	}
	t.askedBefore()
	if t.Review {
		t.menu.queue(t.review)
	}
	if t.Prompt != "" {
		t.request(t.Prompt)
	}
}

func (t *talk) loop(lines <-chan typed, events <-chan happened) error {
	still := time.NewTimer(t.Still)
	defer still.Stop()
	for t.voice.failed == nil {
		select {
		case <-t.ctx.Done():
			return context.Cause(t.ctx)
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if err := t.take(line); errors.Is(err, errLeave) {
				return nil
			}
		case <-t.Interrupts:
			if !t.busy || t.stopping {
				return nil
			}
			t.stopping = true
			t.say("Stopping. Press control c again to leave.")
			t.stop()
		case h := <-events:
			t.happen(h)
		case err := <-t.results:
			t.fail(err)
		case <-still.C:
			if t.busy && len(t.menu.choices) == 0 {
				t.say("Still working, %s.", t.duration(t.Now().Sub(t.since)))
			}
		}
		t.stopping = t.stopping && t.busy
		if t.busy {
			still.Reset(t.Still)
		} else {
			still.Stop()
		}
	}
	return t.voice.failed
}

// typed is a line of the person's, and when it came.
type typed struct {
	text string
	at   time.Time
}

// take handles a line that was typed. One that came before a question was printed
// is not an answer to it.
func (t *talk) take(line typed) error {
	if t.menu.asking == "" || !line.at.Before(t.menu.askedAt) || strings.HasPrefix(line.text, "/") {
		return t.line(line.text)
	}
	t.say("That was typed before the question and does not answer it: %s", printable.Line(line.text))
	return nil
}

// line handles a line that was typed.
func (t *talk) line(line string) error {
	if rest, more := strings.CutSuffix(line, "\\"); more {
		t.draft += rest + "\n"
		return nil
	}
	text := strings.TrimSpace(t.draft + line)
	t.draft = ""
	if text == "" {
		if len(t.menu.choices) > 0 {
			t.menu.again()
		}
		return nil
	}
	if n, err := strconv.Atoi(text); err == nil && len(t.menu.choices) > 0 {
		if n < 1 || n > len(t.menu.choices) {
			t.say("There is no number %d. Type a number from 1 to %d.", n, len(t.menu.choices))
			return nil
		}
		t.menu.chosen(t.menu.choices[n-1].do)
		return nil
	}
	if t.menu.free != nil && !strings.HasPrefix(text, "/") {
		free := t.menu.free
		t.menu.chosen(func() { free(text) })
		return nil
	}
	if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") {
		name, args, _ := strings.Cut(text[1:], " ")
		if !strings.Contains(name, "/") {
			return t.command(name, strings.TrimSpace(args))
		}
	}
	t.request(text)
	return nil
}

// chosen closes the menu, does what was chosen, and opens what waits.
func (m *menu) chosen(do func()) {
	m.choices, m.free, m.asking = nil, nil, ""
	do()
	if !m.open() && len(m.waiting) > 0 {
		next := m.waiting[0]
		m.waiting = m.waiting[1:]
		next()
	}
}

// offer prints numbered choices.
func (m *menu) offer(list []choice) {
	m.choices = list
	m.again()
}

func (m *menu) again() {
	for i, c := range m.choices {
		m.voice.say("%d. %s", i+1, printable.Line(m.voice.lang.Word(c.label)))
	}
	m.voice.say("Type a number and press enter.")
}

// fail prints an error. That the program is ending is not an error.
func (v *voice) fail(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return err != nil
	}
	text := v.in(err.Error())
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
		text += ". " + v.in(e.Hint)
	}
	v.say("Error: %s", printable.Line(text))
	return true
}

// request sends what was written: a shell command after "!", else a prompt.
func (t *talk) request(text string) {
	if t.session.ID == "" {
		s, err := t.Engine.Create(t.ctx)
		if t.fail(err) {
			return
		}
		t.session, t.newest = s, 0
	}
	p := engine.Prompt{Text: text, Agent: t.Agent, Model: t.Model}
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		id := t.session.ID
		t.background(func() error { return t.Engine.Shell(t.ctx, id, strings.TrimSpace(rest), p) })
		return
	}
	if t.busy {
		t.say("Queued; it is taken up at the next step.")
	}
	t.fail(t.Engine.Prompt(t.ctx, t.session.ID, p))
}

// background runs what may take as long as a turn. It reports a failure.
func (t *talk) background(do func() error) {
	t.wg.Go(func() {
		err := do()
		select {
		case t.results <- err:
		case <-t.ctx.Done():
		}
	})
}

func (v *voice) duration(d time.Duration) string {
	if d < time.Minute {
		return v.in(say.Plural(int(d.Seconds()), "second"))
	}
	return v.in(say.Plural(int(d.Minutes()), "minute")) + " " + v.in(say.Plural(int(d.Seconds())%60, "second"))
}
