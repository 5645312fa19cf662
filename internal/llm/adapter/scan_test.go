package adapter

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// A walk that succeeds means that the document is JSON with the member read.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":"b"}`, `{"a":"\u00e4\n","x":[1,{"y":null},true],"z":-1.5e3}`, `{"a":null} `, `{"a":"b",}`, `{"a"}`, `{`, `[]`, `{"x":[],"a":"ü"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := NewScan(data)
		got, seen := "", 0
		for s.Open('{'); s.More('}'); {
			if string(s.Key()) == "a" {
				seen++
				got = s.String()
			} else {
				s.Skip()
			}
		}
		if !s.Done() || seen != 1 {
			return
		}
		var want map[string]any
		if err := json.Unmarshal(data, &want); err != nil {
			return // an escape that is not one, in a part that was skipped
		}
		if a, _ := want["a"].(string); utf8.ValidString(got) && got != a {
			t.Errorf("%q: read %q, want %q", data, got, a)
		}
	})
}

func TestScanRefuses(t *testing.T) {
	for _, in := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a":1}}`, `{"a":01}`, `{"a" 1}`, `{,}`, `{"a":tru}`, `{"a":"x` + "\n" + `"}`, `{"a":[1,]}`, `{"a":[1 2]}`} {
		s := NewScan([]byte(in))
		for s.Open('{'); s.More('}'); {
			s.Key()
			s.Skip()
		}
		if s.Done() {
			t.Errorf("%q passed for JSON", in)
		}
	}
}
