package mcp

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
)

// TestElicitForms answers all kinds of fields that a form may have.
func TestElicitForms(t *testing.T) {
	for name, tt := range map[string]struct {
		schema  string
		answers [][]string
		want    map[string]any
		asked   []string // the labels to choose from in the first question
	}{
		"text":                  {`{"properties":{"a":{"type":"string"}}}`, [][]string{{"漢字"}}, map[string]any{"a": "漢字"}, nil},
		"left out":              {`{"properties":{"a":{"type":"string"}}}`, [][]string{nil}, map[string]any{}, nil},
		"with a default":        {`{"properties":{"a":{"type":"string","default":"d"}}}`, [][]string{nil}, map[string]any{"a": "d"}, nil},
		"a whole number":        {`{"properties":{"a":{"type":"integer"}}}`, [][]string{{" 7 "}}, map[string]any{"a": int64(7)}, nil},
		"a number":              {`{"properties":{"a":{"type":"number"}}}`, [][]string{{"1.5"}}, map[string]any{"a": 1.5}, nil},
		"yes or no":             {`{"properties":{"a":{"type":"boolean"}}}`, [][]string{{"No"}}, map[string]any{"a": false}, []string{"Yes", "No"}},
		"a choice":              {`{"properties":{"a":{"type":"string","enum":["x","y"]}}}`, [][]string{{"y"}}, map[string]any{"a": "y"}, []string{"x", "y"}},
		"a choice with titles":  {`{"properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"The X"},{"const":"y","title":"The Y"}]}}}`, [][]string{{"The Y"}}, map[string]any{"a": "y"}, []string{"The X", "The Y"}},
		"several":               {`{"properties":{"a":{"type":"array","items":{"type":"string","enum":["x","y","z"]}}}}`, [][]string{{"x", "z"}}, map[string]any{"a": []any{"x", "z"}}, []string{"x", "y", "z"}},
		"several with titles":   {`{"properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"The X"},{"const":"y","title":"The Y"}]}}}}`, [][]string{{"The X"}}, map[string]any{"a": []any{"x"}}, []string{"The X", "The Y"}},
		"the old form's titles": {`{"properties":{"a":{"type":"string","enum":["x"],"enumNames":["The X"]}}}`, [][]string{{"The X"}}, map[string]any{"a": "x"}, []string{"The X"}},
		"nothing but consent":   {`{"properties":{}}`, [][]string{{"Accept"}}, map[string]any{}, []string{"Accept", "Decline"}},
	} {
		var schema any
		if err := json.Unmarshal([]byte(tt.schema), &schema); err != nil {
			t.Fatal(err)
		}
		var labels []string
		got, err := elicitForm("says", schema, func(list []lathe.Question) ([][]string, error) {
			for _, o := range list[0].Options {
				labels = append(labels, o.Label)
			}
			return tt.answers, nil
		})
		if diff := cmp.Diff(&mcp.ElicitResult{Action: "accept", Content: tt.want}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if diff := cmp.Diff(tt.asked, labels); diff != "" {
			t.Errorf("%s: offered (-want +got):\n%s", name, diff)
		}
	}
}

// TestElicitAddress shows an address and never opens it.
func TestElicitAddress(t *testing.T) {
	for answer, want := range map[string]string{"Accept": "accept", "Decline": "decline", "": "decline"} {
		got, err := elicitURL("says", "https://a.example/\x1b[2J", func(list []lathe.Question) ([][]string, error) {
			if diff := cmp.Diff("says\nOpen this address in a browser yourself, if you trust it: "+clean("https://a.example/\x1b[2J", 2000), list[0].Text); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			return [][]string{{answer}}, nil
		})
		if err != nil || got.Action != want {
			t.Errorf("%q: %+v, %v", answer, got, err)
		}
	}
	got, err := elicitURL("says", "https://a.example", func([]lathe.Question) ([][]string, error) { return nil, errors.New("dismissed") })
	if err != nil || got.Action != "cancel" {
		t.Errorf("dismissed: %+v, %v", got, err)
	}
}
