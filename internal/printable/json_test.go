package printable

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"plain ä 漢 👩‍💻"}`:            `{"a":"plain ä 漢 👩‍💻"}`,
		"{\"a\":\"x\u202ey\u2066z\"}":      `{"a":"x\u202ey\u2066z"}`,
		"[\"\u009b31m\x7f\u200b\",\n\t1]":  "[\"\\u009b31m\\u007f\\u200b\",\n\t1]",
		"\"tag \U000e0041 \u2028\"":        `"tag \udb40\udc41 \u2028"`,
		`"` + "\\" + "\\" + "\u202e" + `"`: `"\\\u202e"`,
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("JSON(%q) is %q, want %q", in, got, want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("\u202e \x1b[31m \U000e0001 \x7f")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		got := JSON(doc)
		if bytes.ContainsFunc(got, hidden) {
			t.Fatalf("%q still holds what is harmful", got)
		}
		var before, after any
		if json.Unmarshal(doc, &before) != nil || json.Unmarshal(got, &after) != nil {
			t.Fatalf("%q is no JSON", got)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("it means something else (-want +got):\n%s", diff)
		}
	})
}
