package mcp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/config"
)

// TestPromptsOfOneName keeps every prompt reachable: those of two servers, or of one,
// whose names are the same once they are sanitised, and one that a command is called like.
func TestPromptsOfOneName(t *testing.T) {
	s := New(Options{Servers: []config.MCP{{Name: "a.b", Type: "local"}, {Name: "a_b", Type: "local"}, {Name: "c", Type: "local"}}})
	for i, known := range []*Known{
		{Prompts: []Prompt{{Name: "x"}}},
		{Prompts: []Prompt{{Name: "x"}, {Name: "y.z"}, {Name: "y_z"}}},
		{Prompts: []Prompt{{Name: "mine"}, {Name: "free"}}},
	} {
		s.list[i].looked, s.list[i].memo = true, known
	}
	want := []Texts{
		{"a_b:x", "a.b", Prompt{Name: "x"}},
		{"a_b:x" + ending("a_b", "x"), "a_b", Prompt{Name: "x"}},
		{"a_b:y_z", "a_b", Prompt{Name: "y.z"}},
		{"a_b:y_z" + ending("a_b", "y_z"), "a_b", Prompt{Name: "y_z"}},
		{"c:mine" + ending("c", "mine"), "c", Prompt{Name: "mine"}},
		{"c:free", "c", Prompt{Name: "free"}},
	}
	got := s.Prompts("c:mine", "other")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var renamed []bool
	for _, p := range got {
		renamed = append(renamed, p.Renamed())
	}
	if diff := cmp.Diff([]bool{false, true, false, true, true, false}, renamed); diff != "" {
		t.Errorf("renamed (-want +got):\n%s", diff)
	}
}
