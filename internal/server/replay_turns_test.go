package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
)

// turnDifferences are answers of turns that are not OpenCode's, each with its line
// in docs/compat.md.
var turnDifferences = map[string]string{
	"097-prompt-nosession":                    "prompts that cannot start",
	"100-prompt-badmodel":                     "prompts that cannot start",
	"102-prompt-badagent":                     "prompts that cannot start",
	"352-file-part-missing":                   "prompts that cannot start",
	"117-queued-shell":                        "busy sessions",
	"118-queued-revert":                       "busy sessions",
	"245-permission-reply-unknown":            "unknown asks",
	"257-question-reply-unknown":              "unknown asks",
	"263-abort-bash-prompt":                   "aborted commands",
	"278-provider-error-401":                  "refused keys",
	"281-provider-error-401-messages":         "refused keys",
	"286-provider-error-403":                  "refused keys",
	"289-provider-error-403-messages":         "refused keys",
	"294-provider-error-400-context":          "full windows",
	"297-provider-error-400-context-messages": "full windows",
	"298-provider-error-sse-error":            "broken streams",
	"301-provider-error-sse-error-messages":   "broken streams",
	"302-provider-error-drop":                 "broken streams",
	"305-provider-error-drop-messages":        "broken streams",
	"312-compaction-auto-messages":            "full windows",
	"322-compaction-stop-messages":            "full windows",
	"430-auth-remove":                         "routes of 1.18",
	"431-oauth-authorize-unknown":             "logins",
	"440-mcp-connect-missing":                 "unknown servers",
	"606-permission-abort-pending-prompt":     "aborts of asks",
	"607-permission-abort-pending-list":       "aborts of asks",
	"609-permission-abort-pending-messages":   "aborts of asks",
	"450-project-update":                      "projects",
	"627-session-get-nongit-from-root":        "sessions of other projects",
	"392-command-unknown":                     "status of refusals",
	"622-delete-while-running-prompt":         "deleted under a prompt",
	"402-part-update-mismatch":                "status of refusals",
	"405-share":                               "sharing",
	"406-unshare":                             "sharing",
}

// turnConfig is how OpenCode was configured when its turns were recorded.
const turnConfig = `{
	"model": "script/mock-1", "small_model": "script/mock-small",
	"agent": {
		"stepper": {"description": "Agent limited to two steps", "mode": "primary", "steps": 2},
		"asker": {"description": "Asks before bash and edit", "mode": "primary", "permission": {"bash": "ask", "edit": "ask"}},
		"denier": {"description": "Denies bash", "mode": "primary", "permission": {"bash": {"*": "allow", "rm *": "deny"}, "edit": "deny"}}
	},
	"command": {"hello": {"template": "Say hello to $ARGUMENTS first=$1", "description": "Say hello"}},
	"provider": {"script": {"models": {"mock-tiny": {"limit": {"context": 20000, "output": 4000}}}}}
}`

// replayer sends recorded requests to a server of ours, with our identifiers in
// the place of theirs.
type replayer struct {
	*rig
	mock *mock
	new  *lathe.IDs
	ids  map[string]string
	used map[string]bool // asks that were replied to

	unasked []string // exchanges in which OpenCode did not ask and lathe did
}

const theirProject = "cd509ee5970cc20a4df861a51a71f08dc95f3c4f"

var (
	idText  = regexp.MustCompile(`\b(ses|msg|prt|per|que|pty)_[0-9A-Za-z]{26}\b`)
	theirs  = regexp.MustCompile(`"providerID":"(mock|anth|oai)"`)
	sessIDs = regexp.MustCompile(`/session/(ses_[0-9A-Za-z]{26})`)
)

// The turns that OpenCode 1.1.34 was asked for are asked for again, with a model
// that does the same: permissions, questions, aborts, retries, errors, reverts,
// compactions, subtasks and forks among them. Statuses and shapes are the same,
// except for the listed differences, and every event fits the contract. A fetch from
// this machine is asked about, and a loop of several steps.
func TestReplayTurns(t *testing.T) {
	data, err := os.ReadFile("testdata/replay-turns-1.1.34.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []exchange
	for line := range bytes.Lines(data) {
		var ex exchange
		if err := json.Unmarshal(line, &ex); err != nil {
			t.Fatal(err)
		}
		all = append(all, ex)
	}
	p := newReplayer(t)
	events := p.watch(t)
	check := differs(t, turnDifferences)
	for i := 0; i < len(all); {
		n := p.group(all[i:])
		if n == 0 {
			check(all[i], p.play(all[i]), p)
			i++
			continue
		}
		for k, res := range p.playDuring(all[i : i+n+1]) {
			check(all[i+k], res, p)
		}
		i += n + 1
	}
	if diff := cmp.Diff([]string{"182-turn-list-and-webfetch", "200-doom-loop", "200-doom-loop", "230-permission-edit-prompt"}, p.unasked); diff != "" {
		t.Errorf("asked where OpenCode did not (-want +got):\n%s", diff)
	}
	events(contractSchemas(t))
}

// writeSource writes the file that captured prompts edit, as it was in the beginning.
func (p *replayer) writeSource(t testing.TB) {
	write(t, filepath.Join(p.dir, "src", "main.go"), "package main\n\nfunc Helper() int {\n\treturn 1\n}\n\nfunc main() { Helper() }\n")
}

func newReplayer(t *testing.T) *replayer {
	p := &replayer{rig: newRig(t), mock: newMock(), new: lathe.NewIDs(nil, nil), ids: map[string]string{}, used: map[string]bool{}}
	for _, name := range []string{"mock-1", "mock-small", "mock-tiny", "mock-reason", "claude-mock-4", "gpt-mock-5"} {
		p.models[name] = p.mock
	}
	write(t, filepath.Join(p.dir, "opencode.json"), turnConfig)
	write(t, filepath.Join(p.dir, "README.md"), "# Demo project\n")
	write(t, filepath.Join(p.dir, ".env"), "KEY=value\n")
	p.writeSource(t)
	p.git(t, "add", ".")
	p.git(t, "-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "-m", "second")
	return p
}

// watch collects the events of the whole replay; the function it returns checks them.
func (p *replayer) watch(t *testing.T) func(*schemas) {
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", p.url+"/global/event", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	var got []json.RawMessage
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer resp.Body.Close()
		in := bufio.NewScanner(resp.Body)
		in.Buffer(nil, 4<<20)
		for in.Scan() {
			var frame struct{ Payload json.RawMessage }
			if line, ok := bytes.CutPrefix(in.Bytes(), []byte("data: ")); ok && json.Unmarshal(line, &frame) == nil {
				got = append(got, frame.Payload)
			}
		}
	}()
	return func(s *schemas) {
		cancel()
		<-read
		if len(got) < 1000 {
			t.Errorf("only %d events", len(got))
		}
		for _, raw := range got {
			s.event(t, raw)
		}
	}
}

// group returns how many exchanges were recorded while the prompt that follows
// them was being answered.
func (p *replayer) group(all []exchange) int {
	for n := 1; n < len(all) && n <= 5; n++ {
		stem, ok := strings.CutSuffix(all[n].Name[4:], "-prompt")
		if !ok {
			continue
		}
		for _, ex := range all[:n] {
			name := ex.Name[4:]
			ok = ok && (name == stem || strings.HasPrefix(name, stem+"-")) && !strings.HasSuffix(name, "-prompt")
		}
		if ok {
			return n
		}
	}
	return 0
}

// playDuring plays exchanges while the last of them, a prompt, is being answered.
func (p *replayer) playDuring(all []exchange) []result {
	prompt := all[len(all)-1]
	sub := p.bus.Subscribe(p.t.Context(), bus.Filter{}, bus.Limits{})
	defer sub.Close()
	answer := p.start(prompt)
	p.await(sub, prompt, answer)
	var out []result
	for _, ex := range all[:len(all)-1] {
		out = append(out, p.play(ex))
	}
	if prompt.Name == "119-queued-prompt" {
		close(p.mock.release)
		p.mock.release = make(chan struct{}) // the turn has it already
	}
	select {
	case res := <-answer:
		return append(out, res)
	case <-time.After(time.Minute):
		p.t.Fatalf("%s: no answer", prompt.Name)
		return nil
	}
}

// await waits until a prompt has come to where the others were sent.
func (p *replayer) await(sub *bus.Subscription, prompt exchange, answer chan result) {
	asks := 1
	if strings.Contains(prompt.Name, "cascades") {
		asks = 2
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for {
		env, err := sub.Next(ctx)
		if err != nil {
			select {
			case res := <-answer:
				p.t.Fatalf("%s: answered at once: %d %.800s", prompt.Name, res.status, res.body)
			default:
				p.t.Fatalf("%s: %v", prompt.Name, err)
			}
		}
		switch ev := env.Event.(type) {
		case lathe.PermissionAsked:
			if asks--; asks == 0 {
				return
			}
		case lathe.QuestionAsked:
			return
		case lathe.PartDelta:
			if strings.HasPrefix(ev.Delta, "chunk") {
				return
			}
		case lathe.SessionStatus:
			if _, ok := ev.Status.(lathe.Retrying); ok {
				return
			}
		case lathe.PartUpdated:
			if call, ok := ev.Part.Body.(*lathe.ToolCall); ok && strings.Contains(prompt.Name, "abort-bash") {
				if _, ok := call.State.(*lathe.ToolRunning); ok {
					return
				}
			}
		}
	}
}

func (p *replayer) start(ex exchange) chan result {
	out := make(chan result, 1)
	if ex.Name == "612-permission-legacy-edit-prompt" {
		p.writeSource(p.t) // OpenCode refused an earlier edit, since the file was not read
	}
	req := p.request(ex)
	go func() {
		resp, err := p.http.Do(req)
		if err != nil {
			out <- result{body: []byte(err.Error())}
			return
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			raw = []byte(err.Error())
		}
		out <- result{resp.StatusCode, resp.Header, raw}
	}()
	return out
}

// play plays an exchange. What OpenCode did not ask and lathe does is allowed.
func (p *replayer) play(ex exchange) result {
	p.t.Helper()
	sub := p.bus.Subscribe(p.t.Context(), bus.Filter{Match: func(ev lathe.Event) bool { _, ok := ev.(lathe.PermissionAsked); return ok }}, bus.Limits{})
	defer sub.Close()
	answer := p.start(ex)
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	asked := make(chan lathe.AskID)
	go func() {
		defer close(asked)
		for env, err := sub.Next(ctx); err == nil; env, err = sub.Next(ctx) {
			asked <- env.Event.(lathe.PermissionAsked).Ask.ID
		}
	}()
	defer func() {
		cancel()
		for range asked {
		}
	}()
	for {
		select {
		case res := <-answer:
			return res
		case id, more := <-asked:
			if !more {
				p.t.Fatalf("%s: no answer", ex.Name)
			}
			p.unasked = append(p.unasked, ex.Name)
			p.ok("POST", "/permission/"+string(id)+"/reply", `{"reply":"once"}`)
		}
	}
}

// request returns a recorded request as one to our server.
func (p *replayer) request(ex exchange) *http.Request {
	p.t.Helper()
	if m := sessIDs.FindStringSubmatch(ex.Path); m != nil && p.ids[m[1]] == "" {
		p.ids[m[1]] = strings.TrimPrefix(p.session(), "/session/")
	}
	q := url.Values{}
	for k, v := range ex.Query {
		q.Set(k, p.ours(v))
	}
	path := p.ours(ex.Path)
	if kind, rest, ok := strings.Cut(strings.TrimPrefix(ex.Path, "/"), "/"); ok && (kind == "permission" || kind == "question") && !strings.Contains(rest, "doesnotexist") {
		path = "/" + kind + "/" + p.pending(ex.Name, kind) + rest[strings.Index(rest, "/"):]
	}
	if before, _, ok := strings.Cut(path, "/permissions/"); ok {
		path = before + "/permissions/" + p.pending(ex.Name, "permission")
	}
	body := ""
	if ex.Body != nil {
		body = theirs.ReplaceAllString(p.ours(string(ex.Body)), `"providerID":"script"`)
		body = strings.ReplaceAll(body, `"mock/`, `"script/`)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), ex.Method, p.url+path+"?"+q.Encode(), strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

// pending returns an ask that was not replied to yet.
func (p *replayer) pending(name, kind string) string {
	p.t.Helper()
	for _, ask := range p.ok("GET", "/"+kind, "").([]any) {
		if id := ask.(map[string]any)["id"].(string); !p.used[id] {
			p.used[id] = true
			return id
		}
	}
	p.t.Fatalf("%s: no %s is asked", name, kind)
	return ""
}

// ours puts our names in the place of theirs. Identifiers that are not known were
// chosen by the client.
func (p *replayer) ours(s string) string {
	s = strings.ReplaceAll(s, "/home/dev/project", p.dir)
	if strings.Contains(s, theirProject) {
		s = strings.ReplaceAll(s, theirProject, p.ok("GET", "/project/current", "").(map[string]any)["id"].(string))
	}
	return idText.ReplaceAllStringFunc(s, func(id string) string {
		if p.ids[id] == "" {
			p.ids[id] = p.new.New(id[:3])
		}
		return p.ids[id]
	})
}

// learn notes which of our identifiers stand for theirs.
func (p *replayer) learn(theirs, ours any) {
	switch want := theirs.(type) {
	case string:
		got, ok := ours.(string)
		if ok && idText.MatchString(want) && idText.MatchString(got) && want[:4] == got[:4] && p.ids[want] == "" {
			p.ids[want] = got
		}
	case map[string]any:
		if got, ok := ours.(map[string]any); ok {
			for k := range want {
				p.learn(want[k], got[k])
			}
		}
	case []any:
		if got, ok := ours.([]any); ok {
			for i := range min(len(want), len(got)) {
				p.learn(want[i], got[i])
			}
		}
	}
}

// renamed returns an answer with our identifiers for those of theirs that are known.
func (p *replayer) renamed(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, v := range m {
		if id := p.ids[k]; id != "" {
			k = id
		}
		out[k] = v
	}
	return out
}

// differs returns a check of an answer against the recorded one.
func differs(t *testing.T, known map[string]string) func(exchange, result, *replayer) {
	compat, err := os.ReadFile("../../docs/compat.md")
	if err != nil {
		t.Fatal(err)
	}
	return func(ex exchange, res result, p *replayer) {
		var got any
		_ = json.Unmarshal(res.body, &got)
		p.learn(ex.Answer, got)
		var diffs []string
		if res.status != ex.Status {
			diffs = append(diffs, fmt.Sprintf("status %d, not %d", res.status, ex.Status))
		} else {
			diffs = lacks("", p.renamed(ex.Answer), got)
		}
		section, listed := known[ex.Name]
		switch {
		case len(diffs) > 0 && !listed:
			t.Errorf("%s: %s\nin %.4000s", ex.Name, strings.Join(diffs, "; "), res.body)
		case len(diffs) == 0 && listed:
			t.Errorf("%s is listed as different and is not", ex.Name)
		case listed && !strings.Contains(string(compat), "**"+section+"**"):
			t.Errorf("docs/compat.md does not tell about %q", section)
		}
	}
}

func (r *rig) git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}
