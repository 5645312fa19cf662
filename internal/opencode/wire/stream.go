package wire

import (
	"time"

	"lathe"
)

// streamed is an event as both lines of OpenCode take it: 1.18 looks for the
// event's id, and for the session beside the rest of the properties.
type streamed struct {
	ID         string `json:"id,omitempty"`
	Type       string `json:"type"`
	Properties any    `json:"properties"`
}

type (
	sessionInfo18 struct {
		SessionID lathe.SessionID `json:"sessionID"`
		sessionInfo
	}
	messageInfo18 struct {
		SessionID lathe.SessionID `json:"sessionID"`
		messageInfo
	}
	partUpdated18 struct {
		SessionID lathe.SessionID `json:"sessionID"`
		partUpdated
		Time number `json:"time,omitempty"`
	}
	partDelta struct {
		SessionID lathe.SessionID `json:"sessionID"`
		MessageID lathe.MessageID `json:"messageID"`
		PartID    lathe.PartID    `json:"partID"`
		Field     string          `json:"field"`
		Delta     string          `json:"delta"`
	}
)

// EncodeStream returns all that a stream says about an event, in order, for
// clients of both lines. A [lathe.PartDelta] says nothing here: see
// [EncodePartDelta] and [EncodeStreamPart].
func EncodeStream(ev lathe.Event, id string, at time.Time) [][]byte {
	kind, props := describe(ev)
	if kind == "" {
		return nil
	}
	switch p := props.(type) {
	case sessionInfo:
		props = sessionInfo18{p.Info.ID, p}
	case messageInfo:
		props = messageInfo18{ev.(lathe.MessageUpdated).Message.SessionID, p}
	case partUpdated:
		props = partUpdated18{ev.(lathe.PartUpdated).Part.SessionID, p, ms(at)}
	}
	first, err := Marshal(streamed{id, kind, props})
	if err != nil {
		return nil
	}
	out := [][]byte{first}
	if st, ok := ev.(lathe.SessionStatus); ok {
		if _, idle := st.Status.(lathe.Idle); idle {
			if b, err := Marshal(streamed{id + "1", "session.idle", sessionRef{st.SessionID}}); err == nil {
				out = append(out, b)
			}
		}
	}
	return out
}

// EncodePartDelta returns message.part.delta, which 1.18 appends to the part.
func EncodePartDelta(d lathe.PartDelta, id string) []byte {
	b, err := Marshal(streamed{id, "message.part.delta", partDelta{d.SessionID, d.MessageID, d.PartID, "text", d.Delta}})
	if err != nil { // strings always encode
		panic(err)
	}
	return b
}

// EncodeStreamPart is [EncodePartUpdated] for clients of both lines.
func EncodeStreamPart(p lathe.Part, delta, id string) ([]byte, bool) {
	b, err := Marshal(streamed{id, "message.part.updated", partUpdated18{SessionID: p.SessionID, partUpdated: partUpdated{EncodePart(p), delta}}})
	return b, err == nil
}

// EncodeGlobalIn is [EncodeGlobal] with the project that the directory belongs
// to. Events of no directory are those of "global".
func EncodeGlobalIn(directory, project string, event []byte) ([]byte, error) {
	if directory == "" {
		directory = "global"
	}
	return Marshal(struct {
		Directory string  `json:"directory"`
		Project   string  `json:"project,omitempty"`
		Payload   rawJSON `json:"payload"`
	}{directory, project, event})
}
