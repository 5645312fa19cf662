package server

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (r *rig) gitIn(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com"}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(filepath.Dir(r.dir), "home"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func body(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// toolLine is a tool call of a script.
func toolLine(tool string, in any) string { return "tool " + tool + " " + body(in) + "\n" }

// worktree makes a linked worktree and waits for its files.
func (r *rig) worktree(l *listener, in string) (dir string) {
	r.t.Helper()
	w := r.ok("POST", "/experimental/worktree", in).(map[string]any)
	ready := last(l.until("worktree.ready"))
	if diff := cmp.Diff(map[string]any{"name": w["name"], "branch": w["branch"]}, ready.props); diff != "" {
		r.t.Errorf("worktree.ready (-want +got):\n%s", diff)
	}
	var from struct{ Directory string }
	if err := json.Unmarshal(ready.raw, &from); err != nil || from.Directory != w["directory"] {
		r.t.Errorf("worktree.ready of %q: %v", from.Directory, err)
	}
	return from.Directory
}

func last(frames []frame) frame { return frames[len(frames)-1] }

// refused checks a bad request: its name, and what its message has.
func (r *rig) refused(method, path, in, name, message string) {
	r.t.Helper()
	res := r.do(method, path, in)
	var got badRequest
	if err := json.Unmarshal(res.body, &got); err != nil || res.status != 400 || got.Name != name || !strings.Contains(got.Data.Message, message) {
		r.t.Errorf("%s %s %s: %d %s, want %s with %q", method, path, in, res.status, res.body, name, message)
	}
}

func TestProjectUpdate(t *testing.T) {
	r := newRig(t)
	current := r.ok("GET", "/project/current", "").(map[string]any)
	id := current["id"].(string)
	global := r.listen("/global/event")
	global.until("server.connected")
	in := map[string]any{
		"name": "Renamed", "icon": map[string]any{"url": "https://a.example/b.png", "override": "data:image/png;base64,AA==", "color": "blue"},
		"commands": map[string]any{"start": "make deps"},
	}
	got := r.ok("PATCH", "/project/"+id, body(in)).(map[string]any)
	told := last(global.until("project.updated"))
	if diff := cmp.Diff(got, told.props); diff != "" {
		t.Errorf("project.updated (-answer +event):\n%s", diff)
	}
	contractSchemas(t).event(t, []byte(`{"type":"project.updated","properties":`+body(told.props)+`}`))
	want := map[string]any{"id": id, "worktree": r.dir, "vcs": "git", "sandboxes": []any{}, "time": got["time"]}
	for k, v := range in {
		want[k] = v
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, r.ok("GET", "/project/current", "")); diff != "" {
		t.Errorf("/project/current (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{want}, r.ok("GET", "/project", "")); diff != "" {
		t.Errorf("/project (-want +got):\n%s", diff)
	}
	// What is refused changes nothing, not even the time.
	for in, field := range map[string]string{
		`{"name":"a\nb"}`: "name", `{"name":"x","icon":{"url":"javascript:alert(1)"}}`: "icon.url", `{"commands":{"start":"a\u0000"}}`: "commands.start",
		`{"name":5}`: "name", `{"icon":{"color":[]}}`: "icon.color", `{"name":"` + strings.Repeat("x", 300) + `"}`: "name", `[]`: "", ``: "missing",
	} {
		r.refused("PATCH", "/project/"+id, in, "BadRequest", field)
	}
	for _, id := range []string{"none", "..%2f..", "%00"} {
		if res := r.do("PATCH", "/project/"+id, `{"name":"x"}`); res.status != 404 {
			t.Errorf("project %s: %d %s", id, res.status, res.body)
		}
	}
	if diff := cmp.Diff(want, r.ok("GET", "/project/current", "")); diff != "" {
		t.Errorf("after refusals (-want +got):\n%s", diff)
	}
}

func TestInitGit(t *testing.T) {
	r := newRig(t)
	dir := filepath.Join(filepath.Dir(r.dir), "plain")
	write(t, filepath.Join(dir, "sub", "x.txt"), "x\n")
	at := "?directory=" + dir
	if p := r.ok("GET", "/project/current"+at+"/sub", "").(map[string]any); p["vcs"] != nil || p["id"] != "global" {
		t.Errorf("before: %v", p)
	}
	r.refused("POST", "/experimental/worktree"+at, `{}`, "WorktreeNotGitError", "in none")
	if got := r.ok("GET", "/experimental/worktree"+at, ""); len(got.([]any)) != 0 {
		t.Errorf("worktrees %v", got)
	}
	global := r.listen("/global/event")
	global.until("server.connected")
	p := r.ok("POST", "/project/git/init"+at, "").(map[string]any)
	if p["vcs"] != "git" || p["worktree"] != dir {
		t.Errorf("after: %v", p)
	}
	if diff := cmp.Diff(p, last(global.until("project.updated")).props); diff != "" {
		t.Errorf("project.updated (-answer +event):\n%s", diff)
	}
	for _, sub := range []string{"", "/sub"} {
		if p := r.ok("GET", "/project/current"+at+sub, "").(map[string]any); p["vcs"] != "git" || p["worktree"] != dir {
			t.Errorf("%q: %v", sub, p)
		}
	}
	if vcs := r.ok("GET", "/vcs"+at, "").(map[string]any)["branch"]; vcs != "main" && vcs != "master" {
		t.Errorf("branch %v", vcs)
	}
	r.refused("POST", "/experimental/worktree"+at, `{}`, "WorktreeCreateFailedError", "no commit yet")
	// In a repository it changes nothing, and a home directory is none.
	before := r.gitIn(r.dir, "rev-parse", "--git-dir", "HEAD")
	if p := r.ok("POST", "/project/git/init?directory="+r.dir+"/sub", "").(map[string]any); p["worktree"] != r.dir || r.gitIn(r.dir, "rev-parse", "--git-dir", "HEAD") != before {
		t.Errorf("in a repository: %v", p)
	}
	home := filepath.Join(filepath.Dir(r.dir), "home")
	for _, dir := range []string{home, filepath.Dir(home)} {
		r.refused("POST", "/project/git/init?directory="+dir, "", "BadRequest", "no place for a repository")
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			t.Errorf("%s is a repository now", dir)
		}
	}
}

func TestWorktrees(t *testing.T) {
	r := newRig(t)
	project := "/project/" + r.ok("GET", "/project/current", "").(map[string]any)["id"].(string)
	l := r.listen("/global/event")
	l.until("server.connected")
	r.ok("PATCH", project, `{"commands":{"start":"cp a.txt first.txt; pwd > where.txt"}}`)
	l.until("project.updated")
	dir := r.worktree(l, `{"name":"Fix the login","startCommand":"cp first.txt second.txt; echo no luck; exit 3"}`)
	if filepath.Base(dir) != "fix-the-login" {
		t.Errorf("directory %s", dir)
	}
	failed := last(l.until("worktree.failed"))
	if msg := fmt.Sprint(failed.props["message"]); msg != "the start command ended with status 3: no luck" {
		t.Errorf("worktree.failed: %q", msg)
	}
	for name, want := range map[string]string{"a.txt": "hello\nworld\n", "first.txt": "hello\nworld\n", "second.txt": "hello\nworld\n", "where.txt": dir + "\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// It is the project's, from wherever one looks, and knows its branches.
	at := "?directory=" + dir
	for _, from := range []string{"", at} {
		p := r.ok("GET", "/project/current"+from, "").(map[string]any)
		if p["worktree"] != r.dir || !cmp.Equal(p["sandboxes"], []any{dir}) {
			t.Errorf("project: %v", p)
		}
		if got := r.ok("GET", "/experimental/worktree"+from, ""); !cmp.Equal(got, []any{dir}) {
			t.Errorf("worktrees: %v", got)
		}
	}
	if got := r.ok("GET", project+"/directories", ""); !cmp.Equal(got, []any{map[string]any{"directory": r.dir}, map[string]any{"directory": dir}}) {
		t.Errorf("directories: %v", got)
	}
	if vcs := r.ok("GET", "/vcs"+at, "").(map[string]any); vcs["branch"] != "lathe/fix-the-login" || vcs["default_branch"] != "main" {
		t.Errorf("vcs: %v", vcs)
	}

	// A session works in it, and its steps can be undone.
	model := r.script("turn.txt", "tool write {\"filePath\":\"made.txt\",\"content\":\"made\"}\n---\ntool bash {\"command\":\"echo more >> a.txt\",\"description\":\"x\"}\n---\ntext Done.\n")
	sess := "/session/" + r.ok("POST", "/session"+at, "").(map[string]any)["id"].(string)
	r.ok("POST", sess+"/message"+at, promptBody(model, "go"))
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "hello\nworld\nmore\n" {
		t.Errorf("a.txt: %q, %v", got, err)
	}
	r.ok("POST", sess+"/revert"+at, `{"messageID":"`+lastUser(t, r, sess)+`"}`)
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "hello\nworld\n" {
		t.Errorf("a.txt after the revert: %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil {
		t.Error("made.txt is there after the revert")
	}

	// So does one below its top, and lathe's own files stay out of reach.
	secret := filepath.Join(filepath.Dir(r.dir), "home", "lathe", "data", "secret.txt")
	write(t, secret, "TOPSECRET")
	model = r.script("below.txt", toolLine("write", map[string]any{"filePath": filepath.Join(dir, "above.txt"), "content": "made"})+"---\n"+
		toolLine("read", map[string]any{"filePath": secret})+"---\ntext Done.\n")
	sess = "/session/" + r.ok("POST", "/session"+at+"/sub", "").(map[string]any)["id"].(string)
	r.ok("POST", sess+"/message"+at+"/sub", promptBody(model, "go"))
	if got, err := os.ReadFile(filepath.Join(dir, "above.txt")); err != nil || string(got) != "made" {
		t.Errorf("above.txt: %q, %v", got, err)
	}
	if all := r.do("GET", sess+"/message"+at+"/sub", ""); strings.Contains(string(all.body), "TOPSECRET") {
		t.Errorf("lathe's data was read: %s", all.body)
	}
	if err := os.Remove(filepath.Join(dir, "above.txt")); err != nil {
		t.Fatal(err)
	}

	// A reset keeps what was not committed, and starts again.
	if err := os.Remove(filepath.Join(dir, "where.txt")); err != nil {
		t.Fatal(err)
	}
	target := body(map[string]any{"directory": dir})
	if got := r.ok("POST", "/experimental/worktree/reset", target); got != true {
		t.Errorf("reset: %v", got)
	}
	if msg := fmt.Sprint(last(l.until("tui.toast.show")).props["message"]); !strings.Contains(msg, "lathe-kept/fix-the-login-") {
		t.Errorf("toast %q", msg)
	}
	if got := r.ok("DELETE", "/experimental/worktree", target); got != true { // which waits for or ends the start command
		t.Errorf("remove: %v", got)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is still there")
	}
	if p := last(l.until("project.updated")).props; !cmp.Equal(p["sandboxes"], []any{}) {
		t.Errorf("project.updated: %v", p)
	}
	branches := strings.Fields(r.gitIn(r.dir, "for-each-ref", "--format=%(refname:short)", "refs/heads"))
	if i := slices.IndexFunc(branches, func(b string) bool { return strings.HasPrefix(b, "lathe-kept/fix-the-login-") }); i < 0 || slices.Contains(branches, "lathe/fix-the-login") {
		t.Errorf("branches %v", branches)
	} else if got := r.gitIn(r.dir, "diff", "--name-only", "main", branches[i]); got != "first.txt\nsecond.txt" {
		t.Errorf("kept: %s", got)
	}
}

func TestWorktreesRefused(t *testing.T) {
	r := newRig(t)
	l := r.listen("/global/event")
	l.until("server.connected")
	const path = "/experimental/worktree"
	for in, message := range map[string]string{`{"name":5}`: "name", `[]`: "", `{"startCommand":"a\u0000b"}`: "startCommand", `{"name":`: "Malformed", `{"startCommand":"` + strings.Repeat("x", 17<<10) + `"}`: "startCommand"} {
		r.refused("POST", path, in, "BadRequest", message)
	}
	r.refused("POST", path, `{"name":"../.."}`, "WorktreeNameGenerationFailedError", "no letter")
	for _, name := range []string{"--upload-pack=touch pwned", "-b", "refs/heads/main", "../../../escape"} {
		dir := r.worktree(l, body(map[string]any{"name": name}))
		if home := filepath.Join(filepath.Dir(r.dir), "home", "lathe", "data", "worktree"); !strings.HasPrefix(dir, home+"/") {
			t.Errorf("%q is in %s", name, dir)
		}
	}
	for _, method := range []string{"DELETE " + path, "POST " + path + "/reset"} {
		method, path, _ := strings.Cut(method, " ")
		for _, in := range []string{``, `{}`, `{"directory":""}`, `{"directory":7}`} {
			r.refused(method, path, in, "BadRequest", "")
		}
		name := map[string]string{"DELETE": "WorktreeRemoveFailedError", "POST": "WorktreeResetFailedError"}[method]
		for _, dir := range []string{r.dir, filepath.Dir(r.dir), "/", "relative", "-rf"} {
			r.refused(method, path, body(map[string]any{"directory": dir}), name, "is not a worktree that lathe made")
		}
	}

	// One in which a session works stays as it is.
	dir := r.worktree(l, `{"name":"busy"}`)
	at := "?directory=" + dir
	model := r.script("wait.txt", "tool bash {\"command\":\"touch begun; sleep 600\",\"description\":\"x\"}\n---\ntext Done.\n")
	sess := "/session/" + r.ok("POST", "/session"+at, "").(map[string]any)["id"].(string)
	r.ok("POST", sess+"/prompt_async"+at, promptBody(model, "go"))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the command does not begin")
		}
	}
	r.refused("DELETE", path, body(map[string]any{"directory": dir}), "WorktreeRemoveFailedError", "busy")
	r.refused("POST", path+"/reset"+at, body(map[string]any{"directory": dir}), "WorktreeResetFailedError", "busy")
	r.ok("POST", sess+"/abort"+at, "")
	r.ok("DELETE", path+at, body(map[string]any{"directory": dir})) // asked from within
}

// A start command runs in worktrees of the clone that it was set for: another one
// with the same history is the same project and may hold anything.
func TestStartCommandOfAnotherClone(t *testing.T) {
	r := newRig(t)
	clone := filepath.Join(filepath.Dir(r.dir), "clone")
	r.gitIn(filepath.Dir(r.dir), "clone", "-q", r.dir, clone)
	p, other := r.ok("GET", "/project/current", "").(map[string]any), r.ok("GET", "/project/current?directory="+clone, "").(map[string]any)
	if p["id"] != other["id"] || p["worktree"] != r.dir || other["worktree"] != clone {
		t.Fatalf("%v and %v", p, other)
	}
	path := "/project/" + p["id"].(string)
	l := r.listen("/global/event")
	l.until("server.connected")
	made := func(dir string) bool {
		t.Helper()
		in := r.ok("POST", "/experimental/worktree?directory="+dir, `{"startCommand":"echo over; exit 7"}`).(map[string]any)
		l.until("worktree.failed") // the last thing that happens
		_, err := os.Stat(filepath.Join(in["directory"].(string), "started"))
		return err == nil
	}
	r.ok("PATCH", path, `{"commands":{"start":"touch started"}}`)
	if made(clone) || !made(r.dir) {
		t.Error("it runs in the other clone, or not in its own")
	}
	r.ok("PATCH", path, `{"name":"other"}`)
	if !made(r.dir) {
		t.Error("a new name moved it")
	}
	r.ok("PATCH", path+"?directory="+clone, `{"commands":{"start":"touch started"}}`)
	if !made(clone) || made(r.dir) {
		t.Error("it was not moved to the clone")
	}
}

// What happens to a worktree while its start command runs ends that first, and so
// does the end of the service.
func TestWorktreeWhileItStarts(t *testing.T) {
	r := newRig(t)
	l := r.listen("/global/event")
	l.until("server.connected")
	dir := r.worktree(l, `{"name":"slow","startCommand":"sleep 600"}`)
	r.ok("DELETE", "/experimental/worktree", body(map[string]any{"directory": dir}))
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is still there")
	}
	r.worktree(l, `{"name":"slow","startCommand":"sleep 600"}`) // ends with the test
}
