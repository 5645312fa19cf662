package session_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/turn"
)

func task(agent, prompt string) use {
	return use{"task", args{"description": "do " + prompt, "prompt": prompt, "subagent_type": agent}}
}

func TestParallelSubagents(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	p := newPlay(t, nil, func(req *llm.Request) say {
		switch text := last(req); {
		case text == "go":
			return say{text: "I hand over.", calls: []use{task("explore", "one"), task("general", "two @main.go")}}
		case text == "one", strings.HasPrefix(text, "two"):
			both.Done()
			both.Wait() // both have to run at once
			if text == "one" {
				return say{text: "", calls: []use{{"glob", args{"pattern": "*.go"}}}}
			}
			return say{text: "two is done"}
		case strings.Contains(text, "main.go"):
			return say{text: "one is done"}
		}
		return say{text: "all done"}
	}).open()
	id := p.session()
	sub := p.svc.Subscribe(t.Context(), bus.Filter{SessionID: id, Match: showsChild})
	defer sub.Close()
	out := p.prompt(id, session.Prompt{}, "go")
	if out.Failure != nil || out.Steps != 2 || out.Tokens.Input != 50 {
		t.Errorf("outcome %+v, want 2 steps of its own and the tokens of all 5", out)
	}
	children, err := p.svc.Children(t.Context(), id)
	if err != nil || len(children) != 2 {
		t.Fatalf("%d children, %v", len(children), err)
	}
	byTitle := map[string]lathe.Session{}
	for _, c := range children {
		byTitle[c.Title] = c
	}
	one, two := byTitle["do one (@explore subagent)"], byTitle["do two @main.go (@general subagent)"]
	result := func(s lathe.Session, text string) string {
		return "task done: <task id=\"" + string(s.ID) + "\" state=\"completed\">\n<task_result>\n" + text +
			"\n</task_result>\n</task>\n\n<task_metadata>\nsession_id: " + string(s.ID) + "\n</task_metadata>"
	}
	if diff := cmp.Diff([]string{result(one, "one is done"), result(two, "two is done")}, p.tools(id)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	var got map[string]any
	for _, part := range p.messages(id)[1].Parts {
		if c, ok := part.Body.(*lathe.ToolCall); ok && strings.Contains(string(c.State.(*lathe.ToolDone).Input), "do one") {
			got = c.State.(*lathe.ToolDone).Metadata
		}
	}
	summary, _ := got["summary"].([]any)
	if got["sessionId"] != string(one.ID) || got["parentSessionId"] != string(id) || len(summary) != 1 {
		t.Fatalf("metadata %v", got)
	}
	entry := summary[0].(map[string]any)
	if entry["tool"] != "glob" || entry["state"].(map[string]any)["status"] != "completed" {
		t.Errorf("summary %v", entry)
	}
	if _, err := sub.Next(t.Context()); err != nil { // it was queued while the subagents ran
		t.Errorf("the parent's part never showed a running subagent: %v", err)
	}
	for _, req := range p.asked() {
		switch text := last(&req); {
		case text == "one":
			if diff := cmp.Diff([]string{"bash", "glob", "grep", "job", "read", "webfetch"}, offered(req)[:6]); diff != "" || strings.Contains(strings.Join(offered(req), " "), "edit") {
				t.Errorf("explore got %v", offered(req))
			}
		case strings.HasPrefix(text, "two"):
			if !strings.Contains(text, "Called the Read tool") || !strings.Contains(text, "func main() {}") {
				t.Errorf("the reference in the prompt was not resolved:\n%s", text)
			}
			for _, name := range offered(req) {
				if name == "task" || name == "todowrite" || name == "question" {
					t.Errorf("general got %s", name)
				}
			}
		}
	}
}

// showsChild reports whether a running task part tells of its child.
func showsChild(ev lathe.Event) bool {
	u, ok := ev.(lathe.PartUpdated)
	if !ok {
		return false
	}
	c, ok := u.Part.Body.(*lathe.ToolCall)
	if !ok {
		return false
	}
	run, ok := c.State.(*lathe.ToolRunning)
	return ok && run.Metadata["sessionId"] != nil
}

func TestSubagentsInTheDescription(t *testing.T) {
	p := newPlay(t, map[string]string{
		"repo/.opencode/agent/mine.md":  "---\ndescription: Mine.\nmode: subagent\n---\nBe mine.",
		"repo/.opencode/agent/never.md": "---\nmode: subagent\n---\nNo.",
		"repo/opencode.json":            `{"permission":{"task":{"never":"deny"}}}`,
	}, func(req *llm.Request) say {
		if strings.HasPrefix(last(req), "b\n") {
			return say{calls: []use{task("general", "x")}}
		}
		return say{text: "ok"}
	}).open()
	p.prompt(p.session(), session.Prompt{}, "a")
	id := p.session()
	p.prompt(id, session.Prompt{Agent: "plan"}, "b")
	build := about(p.asked()[0], "task")
	for _, want := range []string{"- general: ", "- explore: ", "- mine: Mine."} {
		if !strings.Contains(build, want) {
			t.Errorf("build's task tool does not name %q", want)
		}
	}
	// plan is shown what build is, so that a switch keeps the cached beginning
	// of requests; that it may not start general is decided when it tries.
	if strings.Contains(build, "never") {
		t.Errorf("an agent that is denied is listed: %s", build)
	}
	if tools := p.tools(id); len(tools) != 1 || !strings.HasPrefix(tools[0], "task failed: Plan mode changes no files; this would start the agent general: use another agent, or put it into the plan.") {
		t.Errorf("plan could start general: %q", tools)
	}
}

func TestSubagentThatFails(t *testing.T) {
	p := newPlay(t, nil, func(req *llm.Request) say {
		switch text := last(req); {
		case text == "go":
			return say{text: "", calls: []use{task("general", "loop"), task("nobody", "x"), {"task", args{"prompt": "x"}}}}
		case text == "loop":
			return say{text: "I look.", calls: []use{{"read", args{"filePath": "main.go"}}}}
		case strings.Contains(text, "func main"):
			return say{err: &llm.Error{Kind: llm.KindInvalid, Message: "the model broke", RetryAfter: -1}}
		}
		return say{text: "I go on"}
	})
	p.open()
	id := p.session()
	if out := p.prompt(id, session.Prompt{}, "go"); out.Failure != nil || len(p.tools(id)) != 3 {
		t.Fatalf("outcome %+v, calls %q", out, p.tools(id))
	}
	tools := p.tools(id)
	for i, want := range []string{"Subagent failed (task_id: ses_", "Unknown agent type: nobody is not a valid agent type", "invalid arguments"} {
		if !strings.Contains(tools[i], want) || !strings.HasPrefix(tools[i], "task failed: ") {
			t.Errorf("call %d: %s", i, tools[i])
		}
	}
	if !strings.Contains(tools[0], "the model broke") {
		t.Errorf("the reason is missing: %s", tools[0])
	}
}

func TestResumeAndDepth(t *testing.T) {
	var child, foreign string
	p := newPlay(t, nil, func(req *llm.Request) say {
		switch text := last(req); text {
		case "go":
			return say{text: "", calls: []use{task("general", "first")}}
		case "again":
			u := task("general", "second")
			u.args["task_id"] = child
			return say{text: "", calls: []use{u}}
		case "foreign":
			u := task("general", "third")
			u.args["task_id"] = foreign
			return say{text: "", calls: []use{u}}
		case "first":
			return say{text: "", calls: []use{task("general", "deeper")}}
		case "deeper":
			return say{text: "", calls: []use{task("explore", "deepest")}}
		case "second":
			return say{text: said(req.Messages)}
		}
		return say{text: "ok"}
	})
	p.env["OPENCODE_CONFIG_CONTENT"] = `{"agent":{"general":{"permission":{"task":"allow"}}}}`
	p.open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	children, _ := p.svc.Children(t.Context(), id)
	child, foreign = string(children[0].ID), string(p.session())
	below, _ := p.svc.Children(t.Context(), children[0].ID)
	if got := p.tools(below[0].ID); len(below) != 1 || len(got) != 1 || !strings.Contains(got[0], "nested 2 deep") {
		t.Errorf("a subagent's subagent's subagent: %q", got)
	}
	p.prompt(id, session.Prompt{}, "again")
	p.prompt(id, session.Prompt{}, "foreign")
	tools := p.tools(id)
	if !strings.Contains(tools[1], "first\n") || !strings.Contains(tools[1], "second") {
		t.Errorf("the resumed subagent forgot: %s", tools[1])
	}
	if !strings.Contains(tools[2], "not one of this session's subagents") {
		t.Errorf("a foreign session was resumed: %s", tools[2])
	}
}

func TestAbortReachesSubagents(t *testing.T) {
	running := make(chan struct{})
	p := newPlay(t, nil, func(req *llm.Request) say {
		if last(req) == "go" {
			return say{text: "", calls: []use{task("general", "sleep")}}
		}
		return say{text: "", calls: []use{{"bash", args{"command": "sleep 600", "description": "sleeps"}}}}
	}).open()
	id := p.session()
	sub := p.svc.Subscribe(t.Context(), bus.Filter{Match: func(ev lathe.Event) bool {
		u, ok := ev.(lathe.PartUpdated)
		if !ok {
			return false
		}
		c, ok := u.Part.Body.(*lathe.ToolCall)
		if !ok || c.Tool != "bash" {
			return false
		}
		_, ok = c.State.(*lathe.ToolRunning)
		return ok
	}})
	defer sub.Close()
	go func() { // ends with the first event
		if _, err := sub.Next(t.Context()); err == nil {
			close(running)
		}
	}()
	_, run, err := p.svc.Prompt(t.Context(), id, session.Prompt{Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}})
	if err != nil {
		t.Fatal(err)
	}
	<-running
	if err := p.svc.Abort(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	out := p.wait(run)
	var aborted *lathe.AbortedFailure
	if !errors.As(out.Failure, &aborted) {
		t.Errorf("outcome %+v", out)
	}
	children, _ := p.svc.Children(t.Context(), id)
	if _, idle := p.svc.Status(children[0].ID).(lathe.Idle); !idle {
		t.Error("the subagent still runs")
	}
	for _, s := range []lathe.SessionID{id, children[0].ID} {
		for _, call := range p.tools(s) {
			if strings.HasSuffix(call, " open") {
				t.Errorf("%s has an open call: %s", s, call)
			}
		}
	}
}

func TestBudgetIsShared(t *testing.T) {
	p := newPlay(t, nil, func(req *llm.Request) say {
		if asked, _, _ := strings.Cut(last(req), "\n"); asked == "go" { // the limits are told after it
			return say{text: "", calls: []use{task("general", "loop")}}
		}
		return say{text: "", calls: []use{{"glob", args{"pattern": "*"}}}}
	}).open()
	id := p.session()
	out := p.prompt(id, session.Prompt{Limits: turn.Limits{Steps: 3}}, "go")
	var limit *lathe.LimitFailure
	if !errors.As(out.Failure, &limit) || limit.Limit != "steps" || len(p.asked()) != 5 { // three steps, and the last words of both
		t.Errorf("outcome %+v after %d requests", out, len(p.asked()))
	}
}

func TestSubtaskParts(t *testing.T) {
	p := newPlay(t, nil, func(req *llm.Request) say {
		if text := last(req); text == "look" {
			return say{text: "seen"}
		}
		return say{text: "told"}
	}).open()
	id := p.session(lathe.Rule{Permission: "task", Pattern: "*", Action: lathe.Deny})
	sub := &lathe.Subtask{Agent: "explore", Prompt: "look", Description: "looks"}
	out := p.prompt(id, session.Prompt{Parts: []lathe.PartBody{sub}})
	if out.Failure != nil || lastWords(out) != "told" {
		t.Fatalf("outcome %+v", out)
	}
	if tools := p.tools(id); len(tools) != 1 || !strings.Contains(tools[0], "<task_result>\nseen\n") {
		t.Errorf("calls %q", tools)
	}
	list := p.messages(id)
	if len(list) != 3 || list[1].Info.(*lathe.Assistant).Finish != lathe.FinishToolCalls || list[1].Info.(*lathe.Assistant).Agent != "explore" {
		t.Errorf("%d messages", len(list))
	}
	cmd := *sub
	cmd.Command = "c"
	p.prompt(id, session.Prompt{Parts: []lathe.PartBody{&cmd}})
	if list := p.messages(id); len(list) != 7 || !strings.Contains(list[5].Parts[0].Body.(*lathe.Text).Text, "The subagent that the user asked for has finished") {
		t.Errorf("%d messages after a command's subtask", len(list))
	}
	bad := *sub
	bad.Agent = "nobody"
	p.prompt(id, session.Prompt{Parts: []lathe.PartBody{&bad}})
	if tools := p.tools(id); !strings.Contains(tools[2], "Tool execution failed: Unknown agent type") {
		t.Errorf("calls %q", tools)
	}
}

func lastWords(out turn.Outcome) string {
	for _, p := range out.Last.Parts {
		if t, ok := p.Body.(*lathe.Text); ok {
			return t.Text
		}
	}
	return ""
}

func TestMention(t *testing.T) {
	p := newPlay(t, nil, func(req *llm.Request) say {
		switch text := last(req); {
		case strings.HasPrefix(text, "ask @explore"):
			return say{text: "", calls: []use{task("explore", "look")}}
		case text == "look":
			return say{text: "seen"}
		}
		return say{text: "ok"}
	})
	p.env["OPENCODE_CONFIG_CONTENT"] = `{"permission":{"task":"ask"}}`
	p.open()
	id := p.session()
	out := p.prompt(id, session.Prompt{Refs: true}, "ask @explore about it")
	if out.Failure != nil || out.Blocked {
		t.Fatalf("the call was asked about: %+v", out)
	}
	parts := p.messages(id)[0].Parts
	if m, ok := parts[1].Body.(*lathe.AgentMention); !ok || m.Name != "explore" || m.Source.Start != 4 || m.Source.End != 12 {
		t.Errorf("second part is %+v", parts[1].Body)
	}
	if note := parts[2].Body.(*lathe.Text); !note.Synthetic || !strings.Contains(note.Text, `subagent "explore"`) {
		t.Errorf("note %+v", note)
	}
}
