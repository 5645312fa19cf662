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
func EncodeStream(ev lathe.Event, id string, at time.Time) []Output {
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
	first, err := Encode(streamed{id, kind, props})
	if err != nil { // metadata of a tool that has no JSON
		return nil
	}
	out := []Output{first}
	if st, ok := ev.(lathe.SessionStatus); ok {
		if _, idle := st.Status.(lathe.Idle); idle {
			if b, err := Encode(streamed{id + "1", "session.idle", sessionRef{st.SessionID}}); err == nil {
				out = append(out, b)
			}
		}
	}
	return out
}

// EncodePartDelta returns message.part.delta, which 1.18 appends to the part, with
// a text in place of the delta's own.
func EncodePartDelta(d lathe.PartDelta, text Text, id string) Output {
	var c cutter
	out, err := c.encode(streamed{id, "message.part.delta", partDelta{d.SessionID, d.MessageID, d.PartID, "text", c.text(text)}})
	if err != nil { // strings always encode
		panic(err)
	}
	return out
}

// EncodeStreamPart is [EncodePartUpdated] for clients of both lines, of a text or
// reasoning part whose text is all that is given.
func EncodeStreamPart(p lathe.Part, all, delta Text, id string) (Output, bool) {
	var c cutter
	props := partUpdated18{SessionID: p.SessionID, partUpdated: partUpdated{c.withText(p, all), c.text(delta)}}
	out, err := c.encode(streamed{id, "message.part.updated", props})
	return out, err == nil
}

// EncodeGlobalIn is [EncodeGlobal] with the project that the directory belongs
// to. Events of no directory are those of "global".
func EncodeGlobalIn(directory, project string, event Output) (Output, error) {
	if directory == "" {
		directory = "global"
	}
	around, err := Marshal(struct {
		Directory string  `json:"directory"`
		Project   string  `json:"project,omitempty"`
		Payload   rawJSON `json:"payload"`
	}{directory, project, rawJSON("0")})
	if err != nil {
		return Output{}, err
	}
	return event.Wrap(around[:len(around)-len("0}")], []byte("}")), nil
}
