package styled

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIsolated holds what is isolated, with ‹ and › for the marks: a piece ends where a column
// does, and the text keeps its order.
func TestIsolated(t *testing.T) {
	for _, tt := range []struct{ in, want []string }{
		{[]string{"plain ✓ 漢字 é"}, []string{"plain ✓ 漢字 é"}},
		{[]string{"שלום עולם"}, []string{"‹שלום עולם›"}},
		{[]string{"a שלום, world 5 مرحبا."}, []string{"a ‹שלום, world 5 مرحبا›."}},
		{[]string{" │ שלום │ 5 │ مَ │"}, []string{" │ ‹שלום› │ 5 │ ‹مَ› │"}},
		{[]string{"שלום  5 שם"}, []string{"‹שלום›  5 ‹שם›"}},
		{[]string{"   12 + x = \"", "של", "ום", "\" // ", "עו"}, []string{"   12 + x = \"", "‹של", "ום", "\" // ", "עו›"}},
		{[]string{"", "ש", "", " b"}, []string{"", "‹ש›", "", " b"}},
		{[]string{"😀 ހ 𞤀 ﷲ"}, []string{"😀 ‹ހ 𞤀 ﷲ›"}},
	} {
		var in Line
		for _, s := range tt.in {
			in = append(in, Span{Text: s, Style: "1"})
		}
		out := in.Isolated()
		var got []string
		for i, s := range out {
			if s.Style != in[i].Style {
				t.Errorf("%q lost its style", s.Text)
			}
			got = append(got, strings.NewReplacer(isolate, "‹", isolateEnd, "›").Replace(s.Text))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.in, diff)
		}
		for _, m := range []Method{WcWidth, Grapheme} {
			if in.Width(m) != out.Width(m) {
				t.Errorf("%q takes %d cells, and isolated %d", tt.in, in.Width(m), out.Width(m))
			}
		}
	}
}
