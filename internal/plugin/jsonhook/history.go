package jsonhook

import (
	"context"
	"encoding/json"
	"fmt"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/plugin"
)

type historyOut struct {
	Messages []struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"messages"`
}

// messagesTransform passes the history through. Messages and parts that come back
// unchanged keep what the wire does not carry; new ones get identifiers if theirs are
// not valid.
func (c *carrier) messagesTransform(ctx context.Context, _ plugin.MessagesInput, v *[]lathe.Message) error {
	output := struct {
		Messages any `json:"messages"`
	}{wire.EncodeMessages(*v)}
	var out historyOut
	changed, err := c.carry(ctx, MessagesTransform, struct{}{}, output, &out)
	if !changed {
		return err
	}
	if out.Messages == nil {
		return fmt.Errorf("it returned no messages")
	}
	infos, parts := known(*v)
	list := make([]lathe.Message, 0, len(out.Messages))
	for i, raw := range out.Messages {
		m, err := c.message(raw.Info, infos, *v)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		m.Parts = make([]lathe.Part, 0, len(raw.Parts))
		for n, part := range raw.Parts {
			p, err := c.part(part, parts, &m)
			if err != nil {
				return fmt.Errorf("message %d: part %d: %w", i, n, err)
			}
			m.Parts = append(m.Parts, p)
		}
		list = append(list, m)
	}
	*v = list
	return nil
}

// known maps messages and parts in their wire form to their values.
func known(list []lathe.Message) (infos map[string]lathe.Message, parts map[string]lathe.Part) {
	infos, parts = map[string]lathe.Message{}, map[string]lathe.Part{}
	for _, m := range list {
		if raw, err := wire.Marshal(wire.EncodeInfo(m)); err == nil {
			infos[string(raw)] = m
		}
		for _, p := range m.Parts {
			if raw, err := wire.Marshal(wire.EncodePart(p)); err == nil {
				parts[string(raw)] = p
			}
		}
	}
	return infos, parts
}

func (c *carrier) message(raw json.RawMessage, infos map[string]lathe.Message, list []lathe.Message) (lathe.Message, error) {
	if m, same := infos[string(raw)]; same {
		return m, nil
	}
	session := lathe.SessionID("")
	if len(list) > 0 {
		session = list[0].SessionID
	}
	raw, err := named(raw, map[string]string{"id": lathe.PrefixMessage, "sessionID": lathe.PrefixSession},
		map[string]string{"id": string(c.ids.Message()), "sessionID": string(session)})
	if err != nil {
		return lathe.Message{}, err
	}
	m, err := wire.DecodeInfo(raw)
	if err != nil {
		return m, err
	}
	for i := range list {
		if list[i].ID == m.ID {
			m.Seq = list[i].Seq
		}
	}
	return m, nil
}

func (c *carrier) part(raw json.RawMessage, parts map[string]lathe.Part, m *lathe.Message) (lathe.Part, error) {
	if p, same := parts[string(raw)]; same {
		return p, nil
	}
	raw, err := named(raw,
		map[string]string{"id": lathe.PrefixPart, "messageID": lathe.PrefixMessage, "sessionID": lathe.PrefixSession},
		map[string]string{"id": string(c.ids.Part()), "messageID": string(m.ID), "sessionID": string(m.SessionID)})
	if err != nil {
		return lathe.Part{}, err
	}
	return wire.DecodePart(raw)
}

// named replaces invalid identifiers.
func named(raw json.RawMessage, prefixes, instead map[string]string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	mended := false
	for key, prefix := range prefixes {
		var id string
		if json.Unmarshal(fields[key], &id) == nil && lathe.CheckID(id, prefix) == nil {
			continue
		}
		text, err := json.Marshal(instead[key])
		if err != nil {
			return nil, err
		}
		fields[key], mended = text, true
	}
	if !mended {
		return raw, nil
	}
	return json.Marshal(fields)
}
