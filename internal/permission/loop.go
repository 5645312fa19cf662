package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const (
	loopRepeats   = 3 // how often a call or a cycle comes before it is a loop
	loopMaxPeriod = 4
)

// Loop notices that the calls of a turn go round in circles: the same call, or
// one that differs only in spelling, three times running, or a cycle of two to
// four calls three times over. The zero value is ready. It is not safe for
// concurrent use.
type Loop struct{ calls []call }

type call struct{ tool, key string }

// See takes the next call and returns why it looks like a loop, or "".
func (l *Loop) See(tool string, input json.RawMessage) string {
	l.calls = append(l.calls, call{tool, normalise(input)})
	if extra := len(l.calls) - loopRepeats*loopMaxPeriod; extra > 0 {
		l.calls = slices.Delete(l.calls, 0, extra)
	}
	for period := 1; period <= loopMaxPeriod; period++ {
		if l.repeats(period) {
			return l.reason(period)
		}
	}
	return ""
}

// Reset forgets the calls: after a message of the user, or when the user lets a
// loop go on.
func (l *Loop) Reset() { l.calls = nil }

func (l *Loop) repeats(period int) bool {
	n := len(l.calls)
	if n < period*loopRepeats {
		return false
	}
	tail := l.calls[n-period*loopRepeats:]
	for i := period; i < len(tail); i++ {
		if tail[i] != tail[i-period] {
			return false
		}
	}
	return true
}

func (l *Loop) reason(period int) string {
	last := l.calls[len(l.calls)-period:]
	if period == 1 {
		return fmt.Sprintf("%s was called %d times in a row with the same input", last[0].tool, loopRepeats)
	}
	names := make([]string, period)
	for i, c := range last {
		names[i] = c.tool
	}
	return fmt.Sprintf("the same %d calls (%s) were made %d times over", period, strings.Join(names, ", "), loopRepeats)
}

// normalise gives inputs that mean the same one spelling: order of keys, number
// format and white space do not count, nor does the description of a command.
// In file content white space does count.
func normalise(input json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return strings.Join(strings.Fields(string(input)), " ")
	}
	if obj, ok := v.(map[string]any); ok {
		if _, ok := obj["command"]; ok {
			delete(obj, "description")
		}
	}
	out, err := json.Marshal(squeeze(v))
	if err != nil {
		return string(input)
	}
	return string(out)
}

func squeeze(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Join(strings.Fields(v), " ")
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case []any:
		for i := range v {
			v[i] = squeeze(v[i])
		}
	case map[string]any:
		for key, item := range v {
			if !verbatim(key) {
				v[key] = squeeze(item)
			}
		}
	}
	return v
}

func verbatim(key string) bool {
	switch strings.ToLower(strings.ReplaceAll(key, "_", "")) {
	case "oldstring", "newstring", "content", "patch", "patchtext", "edits", "text", "diff":
		return true
	}
	return false
}
