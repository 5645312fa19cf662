package llmtest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	. "lathe/internal/llm/llmtest"
	"lathe/internal/llm/script"
)

// How an answer ended is told with the call that it ended in: only the last call
// of an answer can be cut off by the output limit, and only within its arguments.
func TestCutOffCalls(t *testing.T) {
	half, whole := Call{Name: "write", Args: `{"a":"b`}, Call{Name: "list", Args: `{}`}
	tests := []struct {
		name string
		step Step
		want []bool
	}{
		{"in the last call", Step{Blocks: []Block{Text("a"), whole, half}, Finish: llm.FinishLength}, []bool{false, true}},
		{"after a complete call", Step{Blocks: []Block{half, whole}, Finish: llm.FinishLength}, []bool{false, false}},
		{"in the text after a call", Step{Blocks: []Block{half, Text("a")}, Finish: llm.FinishLength}, []bool{false}},
		{"the model's own mistake", Step{Blocks: []Block{half}, Finish: llm.FinishToolCalls}, []bool{false}},
	}
	for _, tt := range tests {
		for _, a := range adapters {
			if a.name == "google" { // whose calls come whole
				continue
			}
			body, err := Transcript(a.name, tt.step)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, cutCalls(t, a.new(Fixed{Body: body}.Endpoint()))); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", a.name, tt.name, diff)
			}
		}
		text := "text a"
		for _, b := range tt.step.Blocks {
			if c, ok := b.(Call); ok {
				text += "\ntool " + c.Name + " " + c.Args
			} else {
				text += "\ntext more"
			}
		}
		text += "\nfinish " + string(tt.step.Finish)
		played := script.New(func() ([]byte, error) { return []byte(text), nil })
		if diff := cmp.Diff(tt.want, cutCalls(t, played)); diff != "" {
			t.Errorf("script, %s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// cutCalls returns for every call of an answer whether it was cut off.
func cutCalls(t *testing.T, m llm.Model) (cut []bool) {
	t.Helper()
	req := request("x")
	for ev, err := range m.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := ev.(llm.ToolEnd); ok {
			cut = append(cut, end.Cut)
		}
	}
	return cut
}
