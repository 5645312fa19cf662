package edit

import "strings"

// Draft is what is kept of a text that was not sent. Attached files are not kept:
// they may be large, and have to be attached again.
type Draft struct {
	Text  string            `json:"text"`
	Caret int               `json:"caret"`
	Chips map[string]string `json:"chips,omitempty"` // content by label
}

// Draft returns what to keep of the text.
func (e *Editor) Draft() Draft {
	d := Draft{Text: e.text, Caret: e.at}
	for _, c := range e.chips {
		if c.file == nil {
			if d.Chips == nil {
				d.Chips = map[string]string{}
			}
			d.Chips[c.label] = c.content
		}
	}
	return d
}

// FromDraft returns an editor with a draft that was kept. Invalid values are
// corrected, since it was read from a file.
func FromDraft(d Draft) Editor {
	var e Editor
	e.Type(d.Text)
	for label, content := range d.Chips {
		if strings.Contains(e.text, label) && label != "" {
			e.chips = append(e.chips, chip{label: label, content: content})
			e.count++
		}
	}
	e.at = e.align(max(0, min(d.Caret, len(e.text))))
	e.leaveChip()
	e.undo, e.typed = nil, false
	return e
}
