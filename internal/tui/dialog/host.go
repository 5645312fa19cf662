// Package dialog has the sheets of the screen: what appears between the conversation
// and the status line and takes the keys. A [List] is for choosing, a [Field] for
// writing, a [Page] for reading. A [Stack] holds those that are open.
//
// A sheet changes nothing but itself. Anything else it wants done it returns as a
// message: to open or close a sheet, to show a text, to run a command, or a message
// of the room it belongs to, which the app passes to that room.
//
// To add a sheet, write a function in its room that builds it, in most cases a List
// whose Pick returns the message for what was chosen. Anything that takes time goes
// into a tea.Cmd that returns [Done], with the next message in Then. Return [Open]
// with the sheet, and add a line to the app's table of commands that calls the
// function. A sheet of another kind implements [Sheet], and if needed [Tall],
// [Wheeled] and [Clicked].
package dialog

import (
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

// Sheet is something that appears between the conversation and the status line and
// takes the keys. It changes nothing but itself: whatever else has to be done it
// returns as a message.
type Sheet interface {
	// Key handles a keystroke and returns what is to be done; nil for nothing.
	Key(h Host, k tea.KeyPressMsg) tea.Msg
	// Paste takes pasted text.
	Paste(text string)
	// Draw returns at most height lines, and where the caret stands in them; a
	// negative x hides it.
	Draw(l look.Look, height int) (lines []styled.Line, x, y int)
}

// Tall is a sheet that may want the whole screen, such as a page to read. Others
// leave part of the conversation visible.
type Tall interface{ Tall() bool }

// Wheeled is a sheet that scrolls by lines.
type Wheeled interface {
	// Wheel scrolls, and reports whether there was something to scroll.
	Wheel(by int) bool
}

// Clicked is a sheet in which a row can be clicked.
type Clicked interface {
	// Click handles a click on a line of the sheet as it was drawn last.
	Click(h Host, y int) tea.Msg
}

// Worded is a sheet that says what becomes of a text whose first letter could have been
// an answer. With others it goes to the input.
type Worded interface {
	Words(text string) tea.Msg
}

// Writer is a sheet with a field. Writes reports whether a text belongs there now.
type Writer interface{ Writes() bool }

// Terminal is a sheet that may type into a program. Then it gets every key.
type Terminal interface{ Terminal() bool }

// Host is what a sheet may know about the screen it is on.
type Host interface {
	Keys() *keys.Map
	Look() look.Look
}

// What sheets and rooms want done. A tea.Cmd is also such a message: it is run in
// the background, and what it returns comes back as a message.
type (
	// All is several messages, one after the other.
	All []tea.Msg
	// Open opens a sheet above the others.
	Open struct{ Sheet Sheet }
	// Close closes a sheet wherever it stands.
	Close struct{ Sheet Sheet }
	// Wait queues a sheet that the engine opens, behind those that wait already.
	Wait struct{ Sheet Sheet }
	// Tell shows a text for a while.
	Tell struct {
		Kind Kind
		Text string
	}
	// Exec gives the terminal to a program for a while. Done returns what follows.
	Exec struct {
		Cmd  *exec.Cmd
		Done func(error) tea.Msg
	}
	// Hush removes the text that is shown for a while.
	Hush struct{}
	// Done is the outcome of something that took time. If there was no error, Text
	// is shown and Then is done.
	Done struct {
		Text string
		Err  error
		Then tea.Msg
	}
	// Copy copies a text, and says so with the text Said.
	Copy struct{ Text, Said string }
	// Answer is an answer that was given by a letter. It counts if nothing is typed for
	// [Alone] after it. Text is the letter.
	Answer struct {
		Text string
		Give func() tea.Msg
	}
	// Words are letters that answer nothing: the person writes a text.
	Words struct{ Text string }
	// Scroll scrolls the conversation, if the keystroke is one that does.
	Scroll struct{ Stroke string }
	// Here is done in the screen's own loop, where the state of a room can be read, and
	// returns what is to be done next.
	Here func() tea.Msg
	// While does Then if the sheet still has the keys.
	While struct {
		Sheet Sheet
		Then  tea.Msg
	}
	// Soon does something after a while. Screens that are driven by a test have no
	// clock and do nothing.
	Soon struct {
		After time.Duration
		Then  tea.Msg
	}
)

// Kind is how serious a text is that the screen shows.
type Kind int

// The kinds.
const (
	Info Kind = iota
	Warning
	Failure
)

// Fail shows an error. That the program is ending is not an error.
func Fail(err error) tea.Msg { return Done{Err: err} }

// Stroke returns a keystroke as the keymap spells it.
func Stroke(k tea.KeyPressMsg) string {
	name := keys.Normal(k.Keystroke())
	switch name {
	case "ctrl+_":
		return "ctrl+-" // what older terminals send for it
	case "ctrl+@":
		return "ctrl+space"
	}
	return name
}

// MaxCopied bounds what is copied; terminals drop longer sequences.
const MaxCopied = 100_000
