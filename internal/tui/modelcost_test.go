package tui

import (
	"strings"
	"testing"

	"lathe"
	"lathe/internal/api"
)

// The list of models says what each costs, how much it takes, and what it costs to go on with it.
func TestModelsSayWhatASwitchCosts(t *testing.T) {
	d, f := ableTo(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "Done."}))
	f.models = []api.Model{
		{ProviderID: "acme", ModelID: "big", Name: "Big", Context: 100_000, Default: true},
		{ProviderID: "acme", ModelID: "cheap", Name: "Cheap", Context: 64_000, Output: 8_000, Price: lathe.Prices{Input: 250_000, Output: 1_000_000, CacheWrite: 500_000}},
		{ProviderID: "acme", ModelID: "tiny", Name: "Tiny", Context: 4_000, Price: lathe.Prices{Input: 1}},
		{ProviderID: "acme", ModelID: "dark", Name: "Dark", Context: 64_000},
		{ProviderID: "offline", ModelID: "guide", Name: "Guide", Context: 64_000, Free: true},
	}
	d.do(d.app.choice.Load())
	d.press("ctrl+x", "m")
	d.hides("switching sends")
	for name, want := range map[string]string{
		"cheap": "a million tokens: in $0.25, out $1 · to cache $0.5 · window 64k · answers up to 8.0k · switching sends 12k tokens uncached: $0.006",
		"tiny":  "12k tokens of this session do not fit: it compacts them first",
		"dark":  "no price is known · window 64k · switching sends 12k tokens uncached, at an unknown price",
		"guide": "a token costs nothing · window 64k",
	} {
		d.press("ctrl+u")
		d.typed(name)
		if got := strings.Join(strings.Fields(d.text()), " "); !strings.Contains(got, want) {
			t.Errorf("%s: %q is missing in\n%s", name, want, d.text())
		}
	}
}

// The page about the window draws it, with what is free and what a compaction would free.
func TestContextIsAPicture(t *testing.T) {
	d, _ := ableTo(t, Options{}, question(1, "go"))
	d.typed("/context")
	d.press("esc", "enter")
	d.shows("   ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■·", "· free  ▒ kept for the answer", "a compaction would replace about 31k tokens by a summary", "■ tool results (31)")
	rows := 0
	for _, l := range d.lines() {
		if n := strings.Count(l, "■") + strings.Count(l, "·") + strings.Count(l, "▒"); n == 48 {
			rows++
		}
	}
	if rows != 4 {
		t.Errorf("%d rows of the picture:\n%s", rows, d.text())
	}
	d, _ = ableTo(t, Options{ASCII: true}, question(1, "go"))
	d.typed("/context")
	d.press("esc", "enter")
	d.shows("AAAAAAAAAA", "BBBBBBBB", "A tool results (31)", ". free  x kept for the answer")
}
