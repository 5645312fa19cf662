package readable

import (
	"testing"

	"lathe/internal/ledger"
	"lathe/internal/permission"
	"lathe/internal/store"
)

func TestOutput(t *testing.T) {
	refused := deniedText + `[{"permission":"*","pattern":"*","action":"allow"},{"permission":"edit","pattern":"docs/*","action":"deny"}]`
	for in, want := range map[string]string{
		"plain":  "plain",
		"<path>": "<path>",
		"<path>/a</path>\n<type>file</type>\n<content>\n1: <content>\n2: </content>\n\n(End of file - total 2 lines)\n</content>\n\n<system-reminder>\nkeep to it\n</system-reminder>": "1: <content>\n2: </content>",
		"<path>/a</path>\n<type>file</type>\n<content>\n1: (End of file - total 9 lines)\n2: x\n\n(more)\n</content>":                                                                  "1: (End of file - total 9 lines)\n2: x\n\n(more)",
		store.Interrupted:                                    "interrupted",
		(&permission.Rejected{}).Error():                     "refused",
		(&permission.Corrected{Feedback: "use npm"}).Error(): "refused: use npm",
		"<path>/a</path>\n<type>directory</type>\n<entries>\nb/\n\n(1 entries)\n</entries>": "b/\n\n(1 entries)",
		"out\n\n<bash_metadata>\nstopped\n</bash_metadata>":                                 "out\n\nstopped",
		"in a file: <bash_metadata>\nx\n</bash_metadata>\nmore":                             "in a file: <bash_metadata>\nx\n</bash_metadata>\nmore",
		refused:                   `Not allowed by the rules; denied: edit "docs/*". lathe permissions lists the rules`,
		"task failed: " + refused: `task failed: Not allowed by the rules; denied: edit "docs/*". lathe permissions lists the rules`,
		deniedText + "no json":    deniedText + "no json",
	} {
		if got := Output(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestLedger(t *testing.T) {
	var f ledger.Facts
	text := f.Render(ledger.Options{Recall: true})
	got, ok := Ledger(text)
	if !ok || got == "" || got[0] == '<' || got[len(got)-1] == '>' {
		t.Errorf("%q, %v", got, ok)
	}
	if _, ok := Ledger("a text about <ledger>"); ok {
		t.Error("any text is a ledger")
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("<path>a</path>\n<type>file</type>\n<content>\nx\n</content>")
	f.Add("<path>\n<entries>\n</entries>\n</entries>")
	f.Add(deniedText + `[{"permission":"a","action":"deny"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		Output(text)
		if out, _ := Ledger(text); len(out) > len(text) {
			t.Errorf("%q became longer: %q", text, out)
		}
	})
}
