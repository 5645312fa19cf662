package server

import (
	"context"
	"encoding/json"

	"lathe"
	"lathe/internal/opencode/wire"
)

// screens lets other programs control the screens that follow this server.
type screens struct{ *call }

// tell passes an event on to the screens that show a directory.
func (c screens) tell(kind string, props any) (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	raw, err := wire.Marshal(props)
	if err != nil {
		return nil, err
	}
	c.s.opts.Bus.Publish(dir, lathe.ClientEvent{Type: kind, Properties: raw})
	return true, nil
}

type textProps struct {
	Text *string `json:"text"`
}

type commandProps struct {
	Command string `json:"command"`
}

type toastProps struct {
	Title    string  `json:"title,omitempty"`
	Message  string  `json:"message"`
	Variant  string  `json:"variant"`
	Duration float64 `json:"duration,omitempty"`
}

type sessionProps struct {
	SessionID lathe.SessionID `json:"sessionID"`
}

func (c screens) tuiAppend() (any, error) {
	var in textProps
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if in.Text == nil {
		return nil, missing("text", "")
	}
	return c.tell("tui.prompt.append", in)
}

// tuiCommand returns a handler that asks screens to carry out a command.
func tuiCommand(command string) handler {
	return func(c *call) (any, error) { return screens{c}.tell("tui.command.execute", commandProps{command}) }
}

// tuiCommands are names of commands as older clients spell them.
var tuiCommands = map[string]string{
	"session_new": "session.new", "session_share": "session.share", "session_interrupt": "session.interrupt",
	"session_compact": "session.compact", "messages_page_up": "session.page.up", "messages_page_down": "session.page.down",
	"messages_line_up": "session.line.up", "messages_line_down": "session.line.down",
	"messages_half_page_up": "session.half.page.up", "messages_half_page_down": "session.half.page.down",
	"messages_first": "session.first", "messages_last": "session.last", "agent_cycle": "agent.cycle",
}

func (c screens) tuiExecute() (any, error) {
	var in commandProps
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("command", in.Command); err != nil {
		return nil, err
	}
	if name, ok := tuiCommands[in.Command]; ok {
		in.Command = name
	}
	return c.tell("tui.command.execute", in)
}

func (in *toastProps) check() error {
	switch in.Variant {
	case "info", "success", "warning", "error":
		return missing("message", in.Message)
	}
	return &invalid{where: "Payload", path: []string{"variant"}, msg: "expected info, success, warning or error"}
}

func (c screens) tuiToast() (any, error) {
	var in toastProps
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	return c.tell("tui.toast.show", in)
}

func (c screens) tuiSelect() (any, error) {
	var in sessionProps
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := lathe.CheckID(string(in.SessionID), lathe.PrefixSession); err != nil {
		return nil, badPayload("%v", err)
	}
	if _, err := c.s.opts.Service.Get(c.ctx(), in.SessionID); err != nil {
		return nil, err
	}
	return c.tell("tui.session.select", in)
}

// tuiPublish passes one of the four events on. Nothing else gets through: a
// client must not be able to forge what the engine says.
func (c screens) tuiPublish() (any, error) {
	var in struct {
		Type       string
		Properties json.RawMessage
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	switch in.Type {
	case "tui.prompt.append":
		var p textProps
		if err := decodeJSON(orNull(in.Properties), &p); err != nil || p.Text == nil {
			return nil, badPayload("properties.text: expected a string")
		}
		return c.tell(in.Type, p)
	case "tui.command.execute":
		var p commandProps
		if err := decodeJSON(orNull(in.Properties), &p); err != nil || p.Command == "" {
			return nil, badPayload("properties.command: expected a string")
		}
		return c.tell(in.Type, p)
	case "tui.toast.show":
		var p toastProps
		if err := decodeJSON(orNull(in.Properties), &p); err != nil {
			return nil, err
		}
		if err := p.check(); err != nil {
			return nil, err
		}
		return c.tell(in.Type, p)
	case "tui.session.select":
		var p sessionProps
		if err := decodeJSON(orNull(in.Properties), &p); err != nil || lathe.CheckID(string(p.SessionID), lathe.PrefixSession) != nil {
			return nil, badPayload("properties.sessionID: expected a session")
		}
		return c.tell(in.Type, p)
	}
	return nil, &invalid{where: "Payload", path: []string{"type"}, msg: "expected an event of the screen"}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// tuiNext waits for a request to the screen. Lathe never makes one; the wait ends
// with the client or the server.
func (c screens) tuiNext() (any, error) {
	<-c.ctx().Done()
	return nil, context.Cause(c.ctx())
}

func (c screens) tuiResponse() (any, error) {
	if _, err := c.bytes(bodyLimit); err != nil {
		return nil, err
	}
	return true, nil
}
