package wire

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strconv"

	"lathe"
)

// cutter takes long texts out of a value and puts marks in their place, so that
// the JSON around them can be made without them. A mark holds a random word, which
// no text can know, and the number of the text it stands for.
type cutter struct {
	word  string
	texts []Text
}

// markDigits is how long the number of a text is.
const markDigits = 8

// text returns what stands for a text in the JSON: itself if it is short.
func (c *cutter) text(t Text) string {
	if t.Len() < longText {
		return t.String()
	}
	if c.word == "" {
		c.word = rand.Text()
	}
	c.texts = append(c.texts, t)
	return fmt.Sprintf("%s%0*d", c.word, markDigits, len(c.texts)-1)
}

func (c *cutter) string(s string) string {
	if len(s) < longText {
		return s
	}
	return c.text(TextOf(s))
}

// encode makes the JSON of a value whose long texts were taken out.
func (c *cutter) encode(v any) (Output, error) {
	raw, err := Marshal(v)
	if err != nil || len(c.texts) == 0 {
		return Output{head: raw}, err
	}
	parts := bytes.Split(raw, []byte(c.word))
	if len(parts) != len(c.texts)+1 {
		return Output{}, fmt.Errorf("encode %T: %d texts stand in for %d", v, len(parts)-1, len(c.texts))
	}
	out := Output{head: parts[0]}
	for _, p := range parts[1:] {
		n, err := strconv.Atoi(string(p[:markDigits]))
		if err != nil {
			return Output{}, fmt.Errorf("encode %T: %w", v, err)
		}
		out.rest = append(out.rest, outputText{c.texts[n], p[markDigits:]})
	}
	return out, nil
}

// value returns a value without the long texts that it holds. What it is given
// stays as it is.
func (c *cutter) value(v any) any {
	switch v := v.(type) {
	case streamed:
		v.Properties = c.value(v.Properties)
		return v
	case ownEvent:
		v.Properties = c.value(v.Properties)
		return v
	case withParts:
		v.Info, v.Parts = c.value(v.Info), c.list(v.Parts)
		return v
	case ownMessage:
		v.Info, v.Parts = c.value(v.Info), c.list(v.Parts)
		return v
	case ownPage:
		v.Messages = c.list(v.Messages)
		return v
	case ownOutcome[any]:
		v.Last = c.value(v.Last)
		return v
	case []any:
		return c.list(v)
	case partUpdated18:
		v.partUpdated = c.updated(v.partUpdated)
		return v
	case partUpdated:
		return c.updated(v)
	case partDelta:
		v.Delta = c.string(v.Delta)
		return v
	}
	return c.part(c.diffs(v))
}

func (c *cutter) updated(p partUpdated) partUpdated {
	p.Part, p.Delta = c.part(p.Part), c.string(p.Delta)
	return p
}

// list cuts each value; a list in which nothing is long is returned itself.
func (c *cutter) list(in []any) []any {
	out := in
	for i, v := range in {
		had := len(c.texts)
		v = c.value(v)
		if len(c.texts) == had {
			continue
		}
		if &out[0] == &in[0] {
			out = append([]any(nil), in...)
		}
		out[i] = v
	}
	return out
}

func (c *cutter) part(v any) any {
	switch p := v.(type) {
	case textPart:
		if len(p.Text) < longText {
			return v
		}
		p.Text = c.string(p.Text)
		return p
	case reasoningPart:
		if len(p.Text) < longText {
			return v
		}
		p.Text = c.string(p.Text)
		return p
	case filePart:
		if len(p.URL) < longText {
			return v
		}
		p.URL = c.string(p.URL)
		return p
	case toolPart:
		p.State = c.state(p.State)
		return p
	}
	return v
}

func (c *cutter) state(v any) any {
	switch s := v.(type) {
	case toolPending:
		s.Raw = c.string(s.Raw)
		return s
	case toolRunning:
		s.Metadata = c.object(s.Metadata)
		return s
	case toolError:
		s.Error, s.Metadata = c.string(s.Error), c.object(s.Metadata)
		return s
	case toolCompleted:
		s.Output, s.Metadata = c.string(s.Output), c.object(s.Metadata)
		if len(s.Attachments) > 0 {
			s.Attachments = append([]filePart(nil), s.Attachments...)
		}
		for i := range s.Attachments {
			s.Attachments[i].URL = c.string(s.Attachments[i].URL)
		}
		return s
	}
	return v
}

// object cuts the strings of a tool's metadata, where tools put what they show.
func (c *cutter) object(in map[string]any) map[string]any {
	out := in
	copied := false
	for k, v := range in {
		had := len(c.texts)
		switch w := v.(type) {
		case string:
			v = c.string(w)
		case map[string]any:
			v = c.object(w)
		}
		if len(c.texts) == had {
			continue
		}
		if !copied {
			out, copied = make(map[string]any, len(in)), true
			for k, v := range in {
				out[k] = v
			}
		}
		out[k] = v
	}
	return out
}

// diffs cuts what holds the contents of files.
func (c *cutter) diffs(v any) any {
	switch d := v.(type) {
	case sessionDiff:
		d.Diff = c.files(d.Diff)
		return d
	case []fileDiff:
		return c.files(d)
	case user:
		if d.Summary != nil && len(d.Summary.Diffs) > 0 {
			s := *d.Summary
			s.Diffs = c.files(s.Diffs)
			d.Summary = &s
		}
		d.System = c.string(d.System)
		return d
	}
	return v
}

func (c *cutter) files(in []fileDiff) []fileDiff {
	if in == nil {
		return nil
	}
	out := append([]fileDiff{}, in...)
	for i := range out {
		f := &out[i]
		f.Before, f.After, f.Patch = c.string(f.Before), c.string(f.After), c.string(f.Patch)
	}
	return out
}

// withText gives a text or reasoning part a text that is taken out.
func (c *cutter) withText(p lathe.Part, t Text) any {
	switch w := EncodePart(p).(type) {
	case textPart:
		w.Text = c.text(t)
		return w
	case reasoningPart:
		w.Text = c.text(t)
		return w
	default:
		return w
	}
}
