package mcp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tool"
)

// fakeHost answers as a person and a model would.
type fakeHost struct {
	answers [][][]string // of each time it is asked; none left: dismissed
	asked   [][]lathe.Question
	sampled []Sampling
}

func (h *fakeHost) Questions(_ context.Context, _ *tool.Call, list []lathe.Question) ([][]string, error) {
	h.asked = append(h.asked, list)
	if len(h.answers) == 0 {
		return nil, errors.New("dismissed")
	}
	next := h.answers[0]
	h.answers = h.answers[1:]
	return next, nil
}

func (h *fakeHost) Sample(_ context.Context, _ *tool.Call, in Sampling) (Sampled, error) {
	h.sampled = append(h.sampled, in)
	return Sampled{Model: "m", Text: "hi there"}, nil
}

// TestElicitation asks the person what a server wants to know: choices, numbers that
// are none at first, what may stay out; and takes a dismissal.
func TestElicitation(t *testing.T) {
	h := &fakeHost{answers: [][][]string{{{"many"}, {"Ada"}, {"Beta"}, nil}, {{"36"}, {"Ada"}, {"Beta"}, nil}}}
	r := newRig(t, "", func(o *Options) { o.Host = h }, local(t, "s", "old")).ready()
	if got := r.do(t.Context(), "s_ask", "{}").Output; got != `accept {"age":36,"kind":"b","name":"Ada","ok":true}` {
		t.Errorf("the server heard %s", got)
	}
	if len(h.asked) != 2 || !strings.Contains(h.asked[1][0].Text, "a whole number is needed") {
		t.Errorf("asked %+v", h.asked)
	}
	first := h.asked[0][2]
	if diff := cmp.Diff([]lathe.QuestionOption{{Label: "Alpha"}, {Label: "Beta"}}, first.Options); diff != "" || !strings.HasPrefix(first.Text, "MCP server s asks: who are you?") {
		t.Errorf("the choice: %q %s", first.Text, diff)
	}
	if got := r.do(t.Context(), "s_ask", "{}").Output; got != "cancel null" {
		t.Errorf("after a dismissal: %s", got)
	}
	no := func(c *tool.Call) {
		c.Ask = func(_ context.Context, req tool.Request) error {
			if req.Permission == "question" {
				return errors.New("nobody is there")
			}
			return nil
		}
	}
	if got := r.do(t.Context(), "s_ask", "{}", no).Output; got != "decline null" {
		t.Errorf("where nobody watches: %s", got)
	}
}

// TestSampling has a server use the model, once that is allowed.
func TestSampling(t *testing.T) {
	h := &fakeHost{}
	r := newRig(t, "", func(o *Options) { o.Host = h }, local(t, "s", "old")).ready()
	var asked []tool.Request
	answer := func(refusal error) func(*tool.Call) {
		return func(c *tool.Call) {
			c.Ask = func(_ context.Context, req tool.Request) error {
				if req.Permission != "mcp_sampling" {
					return nil
				}
				asked = append(asked, req)
				return refusal
			}
		}
	}
	if got := r.do(t.Context(), "s_sample", "{}", answer(errors.New("no"))); !got.Failed && !strings.Contains(got.Output, "refused") || len(h.sampled) != 0 {
		t.Errorf("refused: %+v", got)
	}
	if got := r.do(t.Context(), "s_sample", "{}", answer(nil)).Output; got != "m: hi there" {
		t.Errorf("allowed: %q", got)
	}
	want := []Sampling{{System: "be kind", MaxTokens: 50, Messages: []Said{{Text: "hello?"}}}}
	if diff := cmp.Diff(want, h.sampled); diff != "" {
		t.Errorf("sampled (-want +got):\n%s", diff)
	}
	if m := asked[0].Metadata; m[tool.MetaProtected] != true || m[tool.MetaNamed] != "s" || m["prompt"] != "be kind\nhello?\n" {
		t.Errorf("the ask says %v", m)
	}
}
