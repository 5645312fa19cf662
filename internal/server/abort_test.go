package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/bus"
)

// However soon after a word the turn is aborted, what was shown stays.
func TestAbortKeepsText(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	model := r.script("wait.txt", "text Now I wait.\nstall\n")
	for i := range 60 {
		sess := r.session()
		id := lathe.SessionID(strings.TrimPrefix(sess, "/session/"))
		sub := r.bus.Subscribe(ctx, bus.Filter{}, bus.Limits{})
		r.ok("POST", sess+"/prompt_async", promptBody(model, "go"))
		shown, wanted := "", []string{"Now ", "Now I ", "Now I wait."}[i%3]
		for !strings.HasPrefix(shown, wanted) {
			env, err := sub.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := env.Event.(lathe.PartDelta); ok && d.SessionID == id {
				shown += d.Delta
			}
		}
		sub.Close()
		r.ok("POST", sess+"/abort", "")
		stored := ""
		for _, m := range r.ok("GET", sess+"/message", "").([]any)[1:] {
			for _, p := range m.(map[string]any)["parts"].([]any) {
				text, _ := p.(map[string]any)["text"].(string)
				stored += text
			}
		}
		if !strings.HasPrefix(stored, strings.TrimSpace(shown)) {
			t.Fatalf("round %d: %q was shown, %q is stored", i, shown, stored)
		}
	}
}
