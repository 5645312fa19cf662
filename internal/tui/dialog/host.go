// Package dialog has the sheets of the screen: what stands between the conversation
// and the status line and takes the keys. A [List] is chosen from, a [Field] is
// written into, a [Page] is read. A [Stack] holds those that are open.
//
// A sheet changes nothing but itself. What else it wants done it returns as a
// message: to open or close a sheet, to tell something, to run a command, or a
// message of the room that it belongs to, which the app hands to that room.
//
// To add a sheet, write a function in its room that builds it, in most cases a List
// whose Pick returns the message for what was chosen. What takes time goes into a
// tea.Cmd that returns [Done], with the next message in Then. Return [Open] with the
// sheet, and add a line to the app's table of commands that calls the function. A
// sheet of another form implements [Sheet], and where it needs them [Tall], [Wheeled]
// and [Clicked].
package dialog

import (
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

// Sheet is something that stands between the conversation and the status line and
// takes the keys. It changes nothing but itself: what else is to be done it returns
// as a message.
type Sheet interface {
	// Key handles a keystroke and returns what is to be done; nil is nothing.
	Key(h Host, k tea.KeyPressMsg) tea.Msg
	// Paste takes pasted text.
	Paste(text string)
	// Draw returns at most height lines, and where the caret stands in them; a
	// negative x hides it.
	Draw(l look.Look, height int) (lines []styled.Line, x, y int)
}

// Tall is a sheet that may want the whole screen, such as a page to read. Others
// leave something of the conversation.
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

// Host is what a sheet may know of the screen that it stands on.
type Host interface {
	Keys() *keys.Map
	Look() look.Look
}

// What sheets and rooms want done. A tea.Cmd is one more of these messages: it is
// run beside the screen, and what it returns comes back as a message.
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
	// Hush takes away what is told.
	Hush struct{}
	// Done says what came of something that took time. Text is told, and Then done,
	// if there was no error.
	Done struct {
		Text string
		Err  error
		Then tea.Msg
	}
	// Copy copies a text, and reports that in words.
	Copy struct{ Text, Said string }
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

// Kind is how grave a text is that the screen tells.
type Kind int

// Kinds of what is told.
const (
	Info Kind = iota
	Warning
	Failure
)

// Fail tells an error. The end of the program is none.
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
