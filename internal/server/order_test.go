package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The order of a turn's events is OpenCode 1.1.34's. What floats there (summaries,
// the end of a text beside a tool), what only repeats, and updates of parts that a
// newer one may replace before they are sent (step-start, states of tools that pass)
// are left out.
func TestEventOrder(t *testing.T) {
	start := "message user, part text, busy, message assistant, "
	answer := "message assistant, part text, part step-finish, message assistant finished, message assistant completed, idle, session.idle"
	tool := "part tool completed, part step-finish, message assistant finished, "
	for name, c := range map[string]struct{ script, want string }{
		"text":      {"text Hello.\n", start + "part text, part step-finish, message assistant finished, message assistant completed, idle, session.idle"},
		"bash":      {"text I will run a command.\ntool bash {\"command\":\"echo hi && ls\",\"description\":\"x\"}\n---\ntext All done.\n", start + "part text, " + tool + "message assistant completed, " + answer},
		"reasoning": {"reasoning let me think\ntool bash {\"command\":\"echo r\",\"description\":\"r\"}\n---\ntext reasoned\n", start + "part reasoning, " + tool + "message assistant completed, " + answer},
		"write":     {"tool write {\"filePath\":\"new.txt\",\"content\":\"line\\n\"}\n---\ntext Wrote it.\n", start + tool + "part patch, message assistant completed, " + answer},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			model := r.script("turn.txt", c.script)
			got := r.kinds(t, r.session(), promptBody(model, "go"))
			if diff := cmp.Diff(strings.Split(c.want, ", "), got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// kinds sends a prompt and returns what kinds of events tell about the turn, each
// part and state once.
func (r *rig) kinds(t *testing.T, sess, body string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", r.url+"/event", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r.ok("POST", sess+"/prompt_async", body)
	var out []string
	seen := map[string]bool{}
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		line, ok := bytes.CutPrefix(in.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var ev turnEvent
		if err := json.Unmarshal(line, &ev); err != nil {
			t.Fatal(err)
		}
		kind, key := ev.kind()
		if kind == "" || seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, kind)
		if kind == "session.idle" {
			return out
		}
	}
	t.Fatalf("the stream ended after %v", out)
	return nil
}

// turnEvent is what of an event says where in a turn it belongs.
type turnEvent struct {
	Type       string
	Properties struct {
		Status struct{ Type string }
		Info   struct {
			ID, Role, Finish string
			Time             struct{ Completed int64 }
		}
		Part struct {
			ID, Type string
			State    struct{ Status string }
		}
	}
}

// kind names the event and returns a key that is the same for its repetitions;
// the name is empty for what may come anywhere.
func (ev *turnEvent) kind() (name, key string) {
	p := ev.Properties
	switch ev.Type {
	case "session.status":
		return p.Status.Type, p.Status.Type
	case "session.idle":
		return ev.Type, ev.Type
	case "message.part.updated":
		switch {
		case p.Part.Type == "step-start", p.Part.State.Status == "pending", p.Part.State.Status == "running":
			return "", ""
		}
		name = strings.TrimSpace("part " + p.Part.Type + " " + p.Part.State.Status)
		return name, p.Part.ID + name
	case "message.updated":
		name = "message " + p.Info.Role
		switch {
		case p.Info.Time.Completed > 0:
			name += " completed"
		case p.Info.Finish != "":
			name += " finished"
		}
		return name, p.Info.ID + name
	}
	return "", ""
}
