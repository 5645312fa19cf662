package permission

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tool"
)

// TestWhatIsAskedForNext holds that a change outside the project is asked about once: the
// ask to leave the project says the change too, where that would be asked about.
func TestWhatIsAskedForNext(t *testing.T) {
	const out, edit = "external_directory", "edit"
	for name, tt := range map[string]struct {
		out, edit lathe.Action
		asked     []any // what the ask says beside the directory; nil: nobody is asked
		given     bool
		denied    bool
	}{
		"both are asked about":      {lathe.AskMe, lathe.AskMe, []any{map[string]any{"permission": edit, "patterns": []string{"f"}, "always": []string{"*"}}}, true, false},
		"the change is allowed":     {lathe.AskMe, lathe.Allow, []any{}, true, false},
		"the change is denied":      {lathe.AskMe, lathe.Deny, nil, false, true},
		"the directory is allowed":  {lathe.Allow, lathe.AskMe, nil, false, false},
		"the directory is denied":   {lathe.Deny, lathe.AskMe, nil, false, true},
		"nothing is asked about it": {lathe.Allow, lathe.Allow, nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := record(Options{})
				next := &tool.Next{Request: tool.Request{Permission: edit, Patterns: []string{"f"}, Always: []string{"*"}}}
				answer := make(chan error, 1)
				go func() {
					answer <- s.Ask(t.Context(), AskInput{
						SessionID: "s", Policy: Policy{Rules: append(rules(tt.out, out, "*"), rules(tt.edit, edit, "*")...)},
						Request: tool.Request{Permission: out, Patterns: []string{"/x/*"}, Next: next},
					})
				}()
				synctest.Wait()
				waiting := s.Pending()
				if len(waiting) != map[bool]int{true: 1}[tt.asked != nil] {
					t.Fatalf("%d asks", len(waiting))
				}
				if len(waiting) == 1 {
					also, _ := waiting[0].Metadata[tool.MetaAlso].([]any)
					if diff := cmp.Diff(tt.asked, append([]any{}, also...)); diff != "" {
						t.Errorf("the ask (-want +got):\n%s", diff)
					}
					if err := s.Reply(t.Context(), waiting[0].ID, lathe.Reply{Kind: lathe.Once}); err != nil {
						t.Fatal(err)
					}
				}
				_, denied := errors.AsType[*Denied](<-answer)
				if denied != tt.denied || next.Given != tt.given {
					t.Errorf("denied %v, given %v", denied, next.Given)
				}
			})
		})
	}
}
