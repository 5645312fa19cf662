package server

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// Runs of lathe's own faces: limits, rules, shell commands, pages, outcomes.
func TestOwnRoutes(t *testing.T) {
	r := newRig(t)
	model := lathe.ModelRef{Provider: "script", Model: r.script("turn.txt", "tool bash {\"command\":\"echo hi\",\"description\":\"x\"}\n---\ntext All done.\n")}
	c, err := client.New(client.Options{URL: r.url, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := t.Context()
	sess, err := c.Create(ctx, api.SessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(p api.Prompt) api.Outcome {
		t.Helper()
		p.Model = model
		id, err := c.Prompt(ctx, sess.ID, p)
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.Outcome(ctx, sess.ID, id)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	text := api.Prompt{Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}}
	capped := text
	capped.Limits = api.Limits{Steps: 1}
	out := run(capped)
	if l, ok := out.Failure.(*lathe.LimitFailure); !ok || l.Limit != "steps" || out.Steps != 2 { // the second is the answer that ends it
		t.Errorf("limit: %+v", out)
	}
	deny := []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.Deny}}
	if out = run(api.Prompt{Shell: "echo from the shell"}); out.Last == nil || !strings.Contains(toolOutput(out.Last), "from the shell") {
		t.Errorf("shell: %+v", out)
	}
	if _, err := c.Prompt(ctx, sess.ID, api.Prompt{Command: "nope", Rules: deny}); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("unknown command: %v", err)
	}
	if _, err := c.Outcome(ctx, sess.ID, "msg_none"); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("outcome of nothing: %v", err)
	}
	all, err := c.History(ctx, sess.ID, 0, 0)
	if err != nil || len(all) < 3 {
		t.Fatalf("history: %d, %v", len(all), err)
	}
	var paged []lathe.Message
	for before := int64(0); ; before = paged[0].Seq {
		page, err := c.History(ctx, sess.ID, before, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		paged = append(page, paged...)
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if _, err := c.ParseModel(ctx, "no such model"); lathe.CodeOf(err) != lathe.CodeNotFound && lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("model: %v", err)
	}
	if files, err := c.Files(ctx, "b.go", 5); err != nil || len(files) == 0 || files[0] != "sub/b.go" {
		t.Errorf("files: %v, %v", files, err)
	}
	if list, err := c.List(ctx, api.SessionFilter{}); err != nil || len(list) != 1 || list[0].Model.Model != model.Model {
		t.Errorf("list: %+v, %v", list, err)
	}
	for _, err := range []error{second(c.Models(ctx)), second(c.Providers(ctx)), second(c.Notices(ctx)), second(c.Settings(ctx)), second(c.Branch(ctx)), second(c.Statuses(ctx))} {
		if err != nil {
			t.Error(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func toolOutput(m *lathe.Message) string {
	for _, p := range m.Parts {
		if call, ok := p.Body.(*lathe.ToolCall); ok {
			if done, ok := call.State.(*lathe.ToolDone); ok {
				return done.Output
			}
		}
	}
	return ""
}

// What is no event of this process cannot be resumed after, and says so.
func TestOwnEventsOfAnotherProcess(t *testing.T) {
	r := newRig(t)
	epoch, _, _ := strings.Cut(r.srv.events.Here(), "-")
	for last, resumed := range map[string]string{
		"": `"resumed":false`, "nonsense": `"resumed":false`, "abc-5": `"resumed":false`, epoch + "-99999": `"resumed":false`,
	} {
		res, err := r.http.Get(r.url + "/lathe/event?after=" + last)
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 200)
		n, _ := res.Body.Read(buf)
		_ = res.Body.Close()
		if !strings.Contains(string(buf[:n]), resumed) {
			t.Errorf("after %q: %s", last, buf[:n])
		}
	}
	for _, q := range []string{"message?before=x", "message?limit=-1", "outcome"} {
		if res := r.do("GET", "/lathe"+r.session()+"/"+q, ""); res.status != 400 && res.status != 404 {
			t.Errorf("%s: %d %s", q, res.status, res.body)
		}
	}
	for _, body := range []string{"", "{}", "[]", `{"parts":[{}]}`, `{"parts":[],"lathe":{"limits":{"steps":-1}}}`} {
		if res := r.do("POST", "/lathe"+r.session()+"/prompt", body); res.status != 400 {
			t.Errorf("prompt %q: %d %s", body, res.status, res.body)
		}
	}
}
