package codec

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"lathe"
)

// Data that cannot be read does not prevent the rest of a session from being
// read: a note takes its place, and the part or message says in Damage what is
// wrong. The stored data stays as it is, so that a file that is restored can be
// read again.

// Damage records why something is not what was stored. A nil Damage means that
// nothing may be left out.
type Damage struct{ Why error }

// Add notes the first reason.
func (d *Damage) Add(err error) {
	if d.Why == nil {
		d.Why = err
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

// Passing reports whether an error says nothing about what is stored: the next
// try may succeed.
func Passing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EINTR)
}

// fetch reads a blob; lost means that a note has to stand for it.
func (d Decoder) fetch(ref Ref) (text string, lost bool, err error) {
	if d.Bare {
		return "", false, nil
	}
	text, err = d.Load(ref)
	if err == nil || d.Damage == nil || Passing(err) {
		return text, false, err
	}
	d.Damage.Add(err)
	return note(fmt.Sprintf("a text of %d bytes", ref.Size), err), true, nil
}

// names of what kinds of parts are, for people.
var kindNames = map[string]string{
	KindText: "a text", KindReasoning: "a thought", KindFile: "a file", KindTool: "a tool call",
	KindPatch: "the list of files that a step changed", KindSubtask: "a subtask",
}

// StandIn returns what to show for a part that cannot be decoded, or whose body
// means nothing without what is lost.
func StandIn(kind string, body lathe.PartBody, why error) lathe.PartBody {
	if body != nil {
		if f, ok := body.(*lathe.File); ok {
			return &lathe.Text{Text: note("the file "+f.Filename, why)}
		}
		return body
	}
	switch kind {
	case KindStepStart:
		return &lathe.StepStart{}
	case KindStepFinish:
		return &lathe.StepFinish{}
	case KindSnapshot:
		return &lathe.SnapshotMark{}
	case KindAgent:
		return &lathe.AgentMention{}
	case KindRetry:
		return &lathe.Retry{}
	case KindCompaction:
		return &lathe.CompactionMark{}
	}
	return &lathe.Text{Text: note(kindNames[kind], why)}
}

// StandInInfo returns what to show for a message whose info cannot be decoded.
// An answer counts as ended and says so.
func StandInInfo(m *lathe.Message, role string) lathe.MessageInfo {
	switch role {
	case RoleUser:
		return &lathe.User{}
	case RoleAssistant:
		return &lathe.Assistant{
			Completed: m.Created, Finish: lathe.FinishUnknown,
			Error: &lathe.UnknownFailure{Message: note("what is known of this message", errors.New("damaged"))},
		}
	}
	return nil
}

// StoredPart decodes a packed part. If it cannot be read, a stand-in is returned and
// Damage says why; an error is a passing one. A kind that only a newer version knows
// has no body.
func (d Decoder) StoredPart(kind string, packed []byte) (body lathe.PartBody, err error) {
	data, err := Unpack(packed)
	if err == nil {
		body, err = d.Part(kind, data)
	}
	if err != nil {
		if Passing(err) {
			return nil, err
		}
		body = nil
		d.Damage.Add(err)
	}
	if d.Damage.Why != nil {
		body = StandIn(kind, body, d.Damage.Why)
	}
	return body, nil
}

// StoredInfo does for the info of a message what StoredPart does for a part.
func (d Decoder) StoredInfo(m *lathe.Message, role string, packed []byte) (info lathe.MessageInfo, err error) {
	data, err := Unpack(packed)
	if err == nil {
		info, err = d.Info(role, data)
	}
	if err != nil && !Passing(err) {
		d.Damage.Add(err)
		info, err = StandInInfo(m, role), nil
	}
	return info, err
}
