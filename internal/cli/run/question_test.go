package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

func TestReadAnswer(t *testing.T) {
	options := []lathe.QuestionOption{{Label: "Red"}, {Label: "Blue sky"}, {Label: "3"}}
	one := lathe.Question{Options: options, Custom: true}
	many := lathe.Question{Options: options, Multiple: true}
	for _, tt := range []struct {
		q    lathe.Question
		line string
		want []string
		ok   bool
	}{
		{one, "2", []string{"Blue sky"}, true},
		{one, "red", []string{"Red"}, true},
		{one, "1,2", nil, false},
		{one, "4", []string{"4"}, true},
		{one, "my own words", []string{"my own words"}, true},
		{one, "", nil, false},
		{one, "x", nil, false},
		{many, "1, 3 1", []string{"Red", "3"}, true},
		{many, "blue sky", []string{"Blue sky"}, true},
		{many, "4", nil, false},
		{many, "green", nil, false},
	} {
		got, ok := readAnswer(tt.q, tt.line)
		if !ok {
			got = nil
		}
		if diff := cmp.Diff(tt.want, got); ok != tt.ok || diff != "" {
			t.Errorf("readAnswer(%q) = %v, %v (-want +got):\n%s", tt.line, got, ok, diff)
		}
	}
}
