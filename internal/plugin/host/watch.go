package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Watched is one call of a plugin, for whoever watches it.
type Watched struct {
	Plugin string  `json:"plugin"`
	Hook   string  `json:"hook"` // or "tool NAME"
	Millis float64 `json:"ms"`
	Error  string  `json:"error,omitempty"`
	// Changed says which keys of the hook's output are not as they were, and what they are.
	Changed []string `json:"changed,omitempty"`
}

const mostShown = 120 // runes of a value that was changed

func (o Options) watched(plugin, hook string, begin time.Time, before, after json.RawMessage, err error) {
	if o.Watch == nil {
		return
	}
	w := Watched{Plugin: plugin, Hook: hook, Millis: float64(time.Since(begin).Microseconds()) / 1000}
	if err != nil {
		w.Error = err.Error()
	} else {
		w.Changed = changes(before, after)
	}
	o.Watch(w)
}

// changes compares two objects key by key.
func changes(before, after json.RawMessage) (out []string) {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		var a, b bytes.Buffer
		if json.Compact(&b, is[key]) != nil || json.Compact(&a, was[key]) == nil && bytes.Equal(a.Bytes(), b.Bytes()) {
			continue
		}
		text := []rune(b.String())
		if len(text) > mostShown {
			text = append(text[:mostShown:mostShown], '…')
		}
		out = append(out, fmt.Sprintf("%s = %s", key, string(text)))
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if _, there := is[key]; !there {
			out = append(out, key+" is gone")
		}
	}
	return out
}
