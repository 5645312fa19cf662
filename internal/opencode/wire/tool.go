package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"lathe"
)

// Names of the states of a tool call.
const (
	statusPending   = "pending"
	statusRunning   = "running"
	statusCompleted = "completed"
	statusError     = "error"
)

type toolPending struct {
	Status string   `json:"status"`
	Input  struct{} `json:"input"`
	Raw    string   `json:"raw"`
}

type toolRunning struct {
	Status   string          `json:"status"`
	Input    json.RawMessage `json:"input"`
	Title    string          `json:"title,omitempty"`
	Metadata map[string]any  `json:"metadata,omitempty"`
	Time     span            `json:"time"`
}

type toolCompleted struct {
	Status      string          `json:"status"`
	Input       json.RawMessage `json:"input"`
	Output      string          `json:"output"`
	Title       string          `json:"title"`
	Metadata    map[string]any  `json:"metadata"`
	Time        toolTime        `json:"time"`
	Attachments []filePart      `json:"attachments,omitempty"`
}

type toolTime struct {
	Start     number `json:"start"`
	End       number `json:"end"`
	Compacted number `json:"compacted,omitempty"`
}

type toolError struct {
	Status   string          `json:"status"`
	Input    json.RawMessage `json:"input"`
	Error    string          `json:"error"`
	Metadata map[string]any  `json:"metadata,omitempty"`
	Time     toolTime        `json:"time"`
}

// interruptedKey in the metadata of a failed call marks one that was cut off.
const interruptedKey = "interrupted"

// encodeState takes the header that attachments derive theirs from.
func encodeState(h header, st lathe.ToolState) any {
	switch st := st.(type) {
	case *lathe.ToolRunning:
		return toolRunning{
			Status: statusRunning, Input: input(st.Input), Title: st.Title, Metadata: st.Metadata,
			Time: span{Start: ms(st.Start)},
		}
	case *lathe.ToolDone:
		out := toolCompleted{
			Status: statusCompleted, Input: input(st.Input), Output: st.Output, Title: st.Title,
			Metadata: object(st.Metadata), Time: toolTime{ms(st.Time.Start), ms(st.Time.End), ms(st.Compacted)},
		}
		for i := range st.Attachments {
			out.Attachments = append(out.Attachments, encodeFile(attachment(h, i), &st.Attachments[i]))
		}
		return out
	case *lathe.ToolFailed:
		return toolError{
			Status: statusError, Input: input(st.Input), Error: st.Error,
			Metadata: failedMetadata(st), Time: toolTime{Start: ms(st.Time.Start), End: ms(st.Time.End)},
		}
	case *lathe.ToolPending:
		return toolPending{Status: statusPending, Raw: st.Raw}
	}
	return toolPending{Status: statusPending}
}

func failedMetadata(st *lathe.ToolFailed) map[string]any {
	if !st.Interrupted {
		return st.Metadata
	}
	out := map[string]any{interruptedKey: true}
	for k, v := range st.Metadata {
		out[k] = v
	}
	return out
}

// input is always an object on the wire. Arguments that are not one, because
// the model got them wrong, are shown as text.
func input(in json.RawMessage) json.RawMessage {
	if len(in) == 0 {
		return json.RawMessage("{}")
	}
	var obj map[string]json.RawMessage
	if json.Unmarshal(in, &obj) == nil && obj != nil {
		return in
	}
	shown, err := Marshal(map[string]string{"raw": string(in)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return shown
}

func decodeTool(data []byte) (lathe.PartBody, error) {
	var in struct {
		CallID   string          `json:"callID"`
		Tool     string          `json:"tool"`
		State    json.RawMessage `json:"state"`
		Metadata lathe.Meta      `json:"metadata"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	st, err := decodeState(in.State)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", in.Tool, err)
	}
	return &lathe.ToolCall{CallID: in.CallID, Tool: in.Tool, State: st, Meta: in.Metadata}, nil
}

// state has the fields of all states.
type state struct {
	Status      string          `json:"status"`
	Input       json.RawMessage `json:"input"`
	Raw         string          `json:"raw"`
	Output      string          `json:"output"`
	Error       string          `json:"error"`
	Title       string          `json:"title"`
	Metadata    map[string]any  `json:"metadata"`
	Time        toolTime        `json:"time"`
	Attachments []filePart      `json:"attachments"`
}

func decodeState(data []byte) (lathe.ToolState, error) {
	if len(data) == 0 {
		return nil, errors.New("no state")
	}
	var in state
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	ran := lathe.Span{Start: in.Time.Start.time(), End: in.Time.End.time()}
	switch in.Status {
	case statusPending:
		return &lathe.ToolPending{Raw: in.Raw}, nil
	case statusRunning:
		return &lathe.ToolRunning{Input: compact(in.Input), Title: in.Title, Metadata: in.Metadata, Start: ran.Start}, nil
	case statusCompleted:
		return in.done(ran)
	case statusError:
		st := &lathe.ToolFailed{Input: compact(in.Input), Error: in.Error, Metadata: in.Metadata, Time: ran}
		if in.Metadata[interruptedKey] == true {
			st.Interrupted = true
			if delete(in.Metadata, interruptedKey); len(in.Metadata) == 0 {
				st.Metadata = nil
			}
		}
		return st, nil
	}
	return nil, fmt.Errorf("unknown status %q", in.Status)
}

func (in *state) done(ran lathe.Span) (lathe.ToolState, error) {
	st := &lathe.ToolDone{
		Input: compact(in.Input), Output: in.Output, Title: in.Title, Metadata: in.Metadata,
		Time: ran, Compacted: in.Time.Compacted.time(),
	}
	for i := range in.Attachments {
		f, err := in.Attachments[i].decode()
		if err != nil {
			return nil, fmt.Errorf("attachment %d: %w", i, err)
		}
		st.Attachments = append(st.Attachments, f)
	}
	return st, nil
}
