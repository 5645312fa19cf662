package window

import (
	"strings"
	"testing"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/provider"
	"lathe/internal/tokens"
)

// What a compaction would free is what stands before the newest messages, and nothing where
// all of it would stay.
func TestWeighFrees(t *testing.T) {
	said := func(text string) lathe.Message {
		return lathe.Message{Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: text}}}}
	}
	history := []lathe.Message{said(strings.Repeat("old words ", 400)), said(strings.Repeat("new words ", 100))}
	keep := 400
	in := Input{Model: &provider.Model{}, History: history, Usable: 100_000, Compact: compact.Settings{PreserveRecentTokens: &keep}}
	w := Weigh(in, &tokens.Correction{})
	if w.Frees < 400 || w.Frees >= w.Used {
		t.Errorf("frees %d of %d", w.Frees, w.Used)
	}
	in.History = nil
	if w := Weigh(in, &tokens.Correction{}); w.Frees != 0 || w.Usable != 100_000 {
		t.Errorf("an empty window frees %d", w.Frees)
	}
}
