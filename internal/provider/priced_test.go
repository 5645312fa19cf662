package provider

import "testing"

// A configured model without a price is not one that costs nothing.
func TestPriced(t *testing.T) {
	r := registry(t, map[string]string{"ZHIPU_API_KEY": "k"}, `{"provider": {"mine": {
		"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://localhost:9/v1"},
		"models": {"unknown": {}, "free": {"cost": {"input": 0, "output": 0}}, "dear": {"cost": {"input": 3, "output": 15}}}
	}}}`)
	for name, want := range map[string]bool{"mine/unknown": false, "mine/free": true, "mine/dear": true} {
		if lookup(t, r, name).Priced() != want {
			t.Errorf("%s: priced is %v", name, !want)
		}
	}
	models, err := r.models(r.entries["zai"])
	if err != nil || len(models) == 0 {
		t.Fatal(err)
	}
	for _, m := range models {
		if !m.Priced() {
			t.Errorf("%s is in the catalogue, which knows its price", m.Ref)
		}
	}
}
