package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"lathe"
)

// What cannot be read does not keep the rest of a session from being read: a note
// stands in its place, and the part or message says in Damage what is wrong. What
// is stored stays as it is, so that a file that is brought back is read again.

// damage gathers why something is not what was stored. A nil one means that
// nothing may be left out.
type damage struct{ why error }

func (d *damage) add(err error) {
	if d.why == nil {
		d.why = err
	}
}

// note stands for a text that cannot be read.
func note(what string, err error) string {
	return fmt.Sprintf("[lathe: %s was stored here and cannot be read: %s. \"lathe doctor\" says more.]", what, reason(err))
}

func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "its file is missing"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return "it is damaged"
}

// passing reports whether an error says nothing about what is stored: the next
// try may succeed.
func passing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EINTR)
}

// fetch reads a blob; lost means that a note has to stand for it.
func (d decoder) fetch(ref blobRef) (text string, lost bool, err error) {
	text, err = d.load(ref)
	if err == nil || d.damage == nil || passing(err) {
		return text, false, err
	}
	d.damage.add(err)
	return note(fmt.Sprintf("a text of %d bytes", ref.Size), err), true, nil
}

// names of what kinds of parts are, for people.
var kindNames = map[string]string{
	kindText: "a text", kindReasoning: "a thought", kindFile: "a file", kindTool: "a tool call",
	kindPatch: "the list of files that a step changed", kindSubtask: "a subtask",
}

// standIn is what is shown for a part that cannot be decoded, or whose body is
// nothing without what is lost.
func standIn(kind string, body lathe.PartBody, why error) lathe.PartBody {
	if body != nil {
		if f, ok := body.(*lathe.File); ok {
			return &lathe.Text{Text: note("the file "+f.Filename, why)}
		}
		return body
	}
	switch kind {
	case kindStepStart:
		return &lathe.StepStart{}
	case kindStepFinish:
		return &lathe.StepFinish{}
	case kindSnapshot:
		return &lathe.SnapshotMark{}
	case kindAgent:
		return &lathe.AgentMention{}
	case kindRetry:
		return &lathe.Retry{}
	case kindCompaction:
		return &lathe.CompactionMark{}
	}
	return &lathe.Text{Text: note(kindNames[kind], why)}
}

// standInInfo is what is shown for a message whose own words cannot be decoded.
// An answer is over and says so.
func standInInfo(m *lathe.Message, role string) lathe.MessageInfo {
	switch role {
	case roleUser:
		return &lathe.User{}
	case roleAssistant:
		return &lathe.Assistant{
			Completed: m.Created, Finish: lathe.FinishUnknown,
			Error: &lathe.UnknownFailure{Message: note("what is known of this message", errors.New("damaged"))},
		}
	}
	return nil
}

// damagedSession is why a session that can be read cannot be gone on with: the
// rules that bind it are not known.
func damagedSession(id lathe.SessionID, why error) error {
	return wrapped(lathe.CodeInternal, "its messages can be read; to go on with it, without its own rules and its revert: lathe db check --repair",
		why, "the settings of session %s are damaged", id)
}
