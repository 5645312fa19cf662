package mcp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tool"
)

// asks notes what is asked for, and answers.
type asks struct {
	list   []tool.Request
	refuse error
}

func (a *asks) of(c *tool.Call) {
	c.Ask = func(_ context.Context, req tool.Request) error {
		a.list = append(a.list, req)
		if req.Metadata[tool.MetaProtected] == true {
			return a.refuse
		}
		return nil
	}
}

// forced returns how many asks a rule cannot answer.
func (a *asks) forced() (n int) {
	for _, req := range a.list {
		if req.Metadata[tool.MetaProtected] == true && req.Metadata[tool.MetaNamed] == nil {
			n++
		}
	}
	return n
}

// TestChangedDefinitionIsAskedAbout has a server say something else of a tool while it
// runs: the next call of it is asked about, once it was allowed no more, and others never.
func TestChangedDefinitionIsAskedAbout(t *testing.T) {
	dir, conf := t.TempDir(), local(t, "s", "plain")
	r := newRig(t, dir, nil, conf).ready()
	for len(r.events) > 0 {
		<-r.events
	}
	r.do(t.Context(), "s_rewrite", "{}")
	<-r.events
	a := &asks{refuse: errors.New("nobody is there")}
	_, err := r.try(t.Context(), "s_fail", `{"a":"\u001b[2Jb"}`, a.of)
	if !errors.Is(err, a.refuse) {
		t.Errorf("where nobody is there it ended with %v", err)
	}
	want := []tool.Request{{
		Permission: "s_fail", Patterns: []string{"*"}, Always: []string{"*"},
		Metadata: map[string]any{
			"server": "s", "tool": "fail", "arguments": `{"a":"\u001b[2Jb"}`, tool.MetaProtected: true,
			"reason": "the server s has changed what it says of this tool since it was approved; look at it with: lathe mcp tools s",
		},
		Doing: "this calls fail of the MCP server s, which has changed what it says of the tool since it was approved",
	}}
	if diff := cmp.Diff(want, a.list); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	a = &asks{}
	if got := r.do(t.Context(), "s_fail", "{}", a.of); got.Output != "rewritten" || a.forced() != 1 {
		t.Errorf("allowed: %+v after %d asks", got, a.forced())
	}
	r.do(t.Context(), "s_fail", "{}", a.of)
	r.do(t.Context(), "s_echo", `{"text":"x"}`, a.of)
	if a.forced() != 1 {
		t.Errorf("asked %d times", a.forced())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if k := newRig(t, dir, nil, conf).all()[0].known(); len(k.Changed) != 0 {
		t.Errorf("the next process counts as changed: %q", k.Changed)
	}
}

// TestChangeSeenAtTheStart has a server say something else of its tools when it starts for
// a call: the call is asked about before it is made. Going back to what was approved is
// no change, and a look at the tools approves them.
func TestChangeSeenAtTheStart(t *testing.T) {
	dir := t.TempDir()
	saying := func(what string) *rig {
		conf := local(t, "s", "plain")
		conf.Environment["MCP_TEST_SAYS"] = what
		return newRig(t, dir, nil, conf)
	}
	first := saying("")
	first.ready()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	r, a := saying("better"), &asks{refuse: errors.New("no")}
	if _, err := r.try(t.Context(), "s_echo", `{"text":"x"}`, a.of); !errors.Is(err, a.refuse) || len(a.list) != 2 || a.forced() != 1 {
		t.Errorf("the call ended with %v after %+v", err, a.list)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	back, a := saying(""), &asks{}
	if err := back.Connect(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := back.do(t.Context(), "s_echo", `{"text":"x"}`, a.of).Output; got != "you said x" || a.forced() != 0 || len(back.all()[0].known().Changed) != 0 {
		t.Errorf("back to what was approved: %q, %d asks, changed %q", got, a.forced(), back.all()[0].known().Changed)
	}
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	again, a := saying("best"), &asks{}
	if err := again.Connect(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if err := again.Seen("s"); err != nil {
		t.Fatal(err)
	}
	if again.do(t.Context(), "s_echo", `{"text":"x"}`, a.of); a.forced() != 0 {
		t.Error("asked about what a person had looked at")
	}
}

// TestCompare notes changes, also of tools that were gone in between.
func TestCompare(t *testing.T) {
	known := func(pairs ...string) *Known {
		k := &Known{}
		for _, p := range pairs {
			name, text, _ := strings.Cut(p, "=")
			k.Tools = append(k.Tools, Tool{Name: name, Description: text, Schema: anything})
		}
		return k
	}
	now := known("a=1", "b=1")
	if !now.compare(nil) || now.Changed != nil {
		t.Errorf("the first: %+v", now)
	}
	for i, step := range []struct {
		next    *Known
		changed []string
		kept    []string
		other   bool
	}{
		{known("a=1", "b=1"), nil, nil, false},
		{known("a=1"), nil, []string{"b"}, true},
		{known("a=1", "b=2"), []string{"b"}, []string{"b"}, true},
		{known("a=1", "b=3", "c=1"), []string{"b"}, []string{"b"}, true},
		{known("a=2", "b=1", "c=1"), []string{"a"}, []string{"a"}, true},
	} {
		if other := step.next.compare(now); other != step.other {
			t.Errorf("%d: the offer changed: %v", i, other)
		}
		if diff := cmp.Diff(step.changed, step.next.Changed); diff != "" {
			t.Errorf("%d: changed (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(step.kept, slices.Sorted(maps.Keys(step.next.Approved))); diff != "" {
			t.Errorf("%d: kept (-want +got):\n%s", i, diff)
		}
		now = step.next
	}
	if k := now.accept("a"); len(k.Changed) != 0 || len(k.Approved) != 0 || len(now.Changed) != 1 {
		t.Errorf("accepted: %+v of %+v", k, now)
	}
}
