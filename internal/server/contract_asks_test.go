package server

import (
	"context"
	"strings"
	"time"

	"lathe"
	"lathe/internal/bus"
)

// contractOfAsks replies to permissions and questions in all ways that there are.
func (r *rig) contractOfAsks(check func(op, path, body, status string) result) {
	r.t.Helper()
	const question = "tool question {\"questions\":[{\"question\":\"Which?\",\"header\":\"Which\",\"options\":[{\"label\":\"a\",\"description\":\"b\"}]}]}\n"
	const bash = "tool bash {\"command\":\"echo asked\",\"description\":\"x\"}\n"
	model := r.script("asks.txt", bash+"---\n"+bash+"---\ntext Done.\n---\n"+question+"---\n"+question+"---\ntext Done.\n")
	sess := "/session/" + r.ok("POST", "/session", `{"permission":[{"permission":"bash","pattern":"*","action":"ask"}]}`).(map[string]any)["id"].(string)
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	sub := r.bus.Subscribe(ctx, bus.Filter{}, bus.Limits{})
	defer sub.Close()
	wait := func(want func(lathe.Event) string) string {
		r.t.Helper()
		for {
			env, err := sub.Next(ctx)
			if err != nil {
				r.t.Fatal(err)
			}
			if id := want(env.Event); id != "" {
				return id
			}
		}
	}
	permission := func(ev lathe.Event) string {
		if ev, ok := ev.(lathe.PermissionAsked); ok {
			return string(ev.Ask.ID)
		}
		return ""
	}
	asked := func(ev lathe.Event) string {
		if ev, ok := ev.(lathe.QuestionAsked); ok {
			return string(ev.Ask.ID)
		}
		return ""
	}
	idle := func(ev lathe.Event) string {
		st, ok := ev.(lathe.SessionStatus)
		if _, idle := st.Status.(lathe.Idle); ok && idle && strings.HasSuffix(sess, string(st.SessionID)) {
			return "idle"
		}
		return ""
	}
	prompt := func() { r.ok("POST", sess+"/prompt_async", promptBody(model, "go")) }
	prompt()
	id := wait(permission)
	check("GET /permission", "/permission", "", "200")
	check("POST /permission/{requestID}/reply", "/permission/"+id+"/reply", `{"reply":"once"}`, "200")
	id = wait(permission)
	check("GET /session/status", "/session/status", "", "200")
	check("POST /session/{sessionID}/permissions/{permissionID}", sess+"/permissions/"+id, `{"response":"always"}`, "200")
	wait(idle)
	prompt()
	id = wait(asked)
	check("GET /question", "/question", "", "200")
	check("POST /question/{requestID}/reply", "/question/"+id+"/reply", `{"answers":[["a"]]}`, "200")
	id = wait(asked)
	check("POST /question/{requestID}/reject", "/question/"+id+"/reject", "", "200")
	wait(idle)
	summary := r.script("summary.txt", "times 9\ntext "+strings.Repeat("A summary of what was said and done. ", 9)+"\n")
	check("POST /session/{sessionID}/summarize", sess+"/summarize", `{"providerID":"script","modelID":"`+summary+`"}`, "200")
	check("POST /session/{sessionID}/command", sess+"/command", `{"command":"init","arguments":"","model":"script/`+summary+`"}`, "200")
	check("POST /session/{sessionID}/init", sess+"/init", `{"providerID":"script","modelID":"`+summary+`","messageID":"`+string(lathe.NewIDs(nil, nil).Message())+`"}`, "200")
	wrong := strings.Repeat("x", 200)
	check("POST /session/{sessionID}/abort", "/session/"+wrong+"/abort", "", "400")
}
