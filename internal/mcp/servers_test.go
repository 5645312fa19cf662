package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/tool"
)

// TestCalls makes the calls that servers answer in different ways.
func TestCalls(t *testing.T) {
	r := newRig(t, "", nil, local(t, "te.st", "plain")).ready()
	for key, want := range map[string]tool.Result{
		`te_st_echo {"text":"hi"}`: {Output: "you said hi"},
		`te_st_fail {}`:            {Output: "it broke", Failed: true},
		`te_st_structured {}`:      {Output: "{\n  \"n\": 1\n}"},
		`te_st_media {}`: {
			Output: "one\n\ntwo\n\ninside\n\n[application/zip of 3 bytes is left out: it cannot be shown]\n\nResource: c (a://c)",
			Attachments: []lathe.File{
				{MIME: "image/png", URL: "data:image/png;base64,cG5n"}, {MIME: "audio/wav", URL: "data:audio/wav;base64,d2F2"},
			},
		},
	} {
		name, args, _ := strings.Cut(key, " ")
		got := r.do(t.Context(), name, args)
		got.Metadata = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

// TestRoots tells a server which directory is worked in.
func TestRoots(t *testing.T) {
	r := newRig(t, "", nil, local(t, "s", "old")).ready()
	if got := r.do(t.Context(), "s_roots", "{}").Output; got != fileURL(r.dir) {
		t.Errorf("the root is %s", got)
	}
}

// TestEnvironment holds that a server is given its own variables and no others, and
// runs where it is told to.
func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	conf := local(t, "s", "plain")
	conf.Environment["MINE"], conf.Cwd = "given", "sub"
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := newRig(t, dir, nil, conf).ready().do(t.Context(), "s_environment", "{}").Output
	if !strings.HasPrefix(got, filepath.Join(dir, "sub")) || !strings.Contains(got, "\nMINE=given") || strings.Contains(got, "sk-secret") {
		t.Errorf("the server sees:\n%s", got)
	}
}

// TestNoise lets a server print what is no message.
func TestNoise(t *testing.T) {
	r := newRig(t, "", nil, local(t, "s", "noisy")).ready()
	if got := r.do(t.Context(), "s_echo", `{"text":"x"}`).Output; got != "you said x" {
		t.Errorf("got %q", got)
	}
}

// TestDeathInACall has a server die of a call: the call says so, and the next one finds
// a new server.
func TestDeathInACall(t *testing.T) {
	r := newRig(t, "", nil, local(t, "s", "plain")).ready()
	got := r.do(t.Context(), "s_exit", "{}")
	want := tool.Result{Output: `MCP server "s" ended during the call: its program ended with exit code 3: out of memory`, Failed: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if got := r.do(t.Context(), "s_echo", `{"text":"x"}`).Output; got != "you said x" {
		t.Errorf("after its death: %q", got)
	}
}

// TestLost holds that each face of a connection that is gone is told as that.
func TestLost(t *testing.T) {
	for _, err := range []error{mcp.ErrConnectionClosed, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, syscall.EPIPE} {
		if !lost(fmt.Errorf("calling %q: %w", "tools/call", err)) {
			t.Errorf("%v is not seen as the end of a connection", err)
		}
	}
	if lost(errors.New("EOF")) || lost(&jsonrpc.Error{Message: "EOF"}) {
		t.Error("what a server says is taken for its end")
	}
}

// TestTimeouts holds that a call ends when nothing is heard of it, and not while there
// is progress.
func TestTimeouts(t *testing.T) {
	conf := local(t, "s", "plain")
	r := newRig(t, "", nil, conf).ready()
	r.all()[0].conf.Timeout = 400
	if got := r.do(t.Context(), "s_hang", "{}"); !got.Failed || got.Output != "MCP error -32001: Request timed out" {
		t.Errorf("a call that hangs: %+v", got)
	}
	var shown []string
	got := r.do(t.Context(), "s_slow", "{}", func(c *tool.Call) {
		c.Progress = func(title string, _ map[string]any) { shown = append(shown, title) }
	})
	if got.Failed || got.Output != "done" || len(shown) == 0 || !strings.Contains(shown[0], "25% step") {
		t.Errorf("a call with progress: %+v, shown %q", got, shown)
	}
}

// TestProgressAfterTheEnd shows nothing of a call that has ended, though its notification
// came before that, and waits for what is being shown.
func TestProgressAfterTheEnd(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	shown := 0
	f := &inflight{call: &tool.Call{Progress: func(string, map[string]any) {
		shown++
		close(entered)
		<-leave
	}}}
	go f.show("first", nil)
	<-entered
	ended := make(chan struct{})
	go func() { defer close(ended); f.end() }()
	select {
	case <-ended:
		t.Error("the call ended while its progress was being shown")
	default:
	}
	close(leave)
	<-ended
	f.show("second", nil)
	if shown != 1 {
		t.Errorf("shown %d times", shown)
	}
}

// TestServerThatEndedSaysHow tells the exit code of a program that closed its output and was
// not collected at once, as on a busy machine.
func TestServerThatEndedSaysHow(t *testing.T) {
	r := newRig(t, "", nil, local(t, "s", "lingers"))
	r.Settle(t.Context())
	if st := r.List()[0]; st.State != Failed || !strings.Contains(st.Why, "its program ended with exit code 3") {
		t.Errorf("it is %s: %s", st.State, st.Why)
	}
}

// TestAbort ends a call from outside: it ends at once, and the server is told.
func TestAbort(t *testing.T) {
	conf := local(t, "s", "plain")
	told := filepath.Join(t.TempDir(), "cancelled")
	conf.Environment["MCP_TEST_CANCELLED"] = told
	r := newRig(t, "", nil, conf).ready()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	_, err := r.all()[0].call(ctx, "hang", []byte("{}"), &tool.Call{})
	if !errors.Is(err, stop) {
		t.Errorf("the call ended with %v", err)
	}
	for range 200 {
		if _, err := os.Stat(told); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the server was not told")
}

// TestNothingRunsBeforeItIsNeeded holds that a server which is known starts with its
// first call, and what it offers is there before.
func TestNothingRunsBeforeItIsNeeded(t *testing.T) {
	conf := local(t, "s", "plain")
	started := filepath.Join(t.TempDir(), "started")
	conf.Environment["MCP_TEST_STARTED"] = started
	dir := t.TempDir()
	first := newRig(t, dir, nil, conf).ready()
	before := first.Offer()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(started); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, dir, nil, conf)
	if err := r.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, r.Offer()); diff != "" {
		t.Errorf("the offer from the cache (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(started); err == nil || r.List()[0].State != Waiting {
		t.Error("the server was started")
	}
	if got := r.do(t.Context(), "s_echo", `{"text":"x"}`).Output; got != "you said x" || r.List()[0].State != Connected {
		t.Errorf("the first call: %q", got)
	}
}

// TestEager starts a server that is not to wait, and starts it again when it dies.
func TestEager(t *testing.T) {
	conf := local(t, "s", "plain")
	conf.LazyStart = new(false)
	r := newRig(t, "", nil, conf)
	if err := r.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r.Settle(t.Context())
	first, err := r.all()[0].connect(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	r.do(t.Context(), "s_exit", "{}")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	again := first
	for again == first && ctx.Err() == nil { // its end is noticed a moment after the call's
		if again, err = r.all()[0].connect(ctx, true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if again == first {
		t.Error("it was not started again")
	}
}

// TestOneFailureHarmsNoOther starts servers of which some cannot be: each says why, and
// the others work.
func TestOneFailureHarmsNoOther(t *testing.T) {
	missing := config.MCP{Name: "missing", Type: "local", Command: []string{"no-such-program"}}
	off := local(t, "off", "plain")
	off.Enabled = new(false)
	r := newRig(t, "", nil, missing, config.MCP{Name: "toggle", Enabled: new(true)}, local(t, "good", "plain"), off)
	r.Settle(t.Context())
	var got []string
	for _, s := range r.List() {
		got = append(got, s.Name+" "+string(s.State)+" "+s.Why)
	}
	want := []string{
		`missing failed start "no-such-program": exec: "no-such-program": executable file not found in $PATH`,
		"good connected ", "off disabled ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if got := r.do(t.Context(), "good_echo", `{"text":"x"}`).Output; got != "you said x" {
		t.Errorf("the good one: %q", got)
	}
}

// TestBackOff holds that a server which fails again and again is not started at each
// call.
func TestBackOff(t *testing.T) {
	r := newRig(t, "", nil, config.MCP{Name: "bad", Type: "local", Command: []string{"false"}})
	srv := r.all()[0]
	for range 4 {
		if _, err := srv.connect(t.Context(), true); err == nil {
			t.Fatal("it was started")
		}
	}
	_, err := srv.connect(t.Context(), false)
	if busy, ok := errors.AsType[*BusyError](err); !ok || busy.Wait < 2*time.Second {
		t.Errorf("the fifth start: %v", err)
	}
}

// TestListChanged has a server that gets a tool while it runs: that is told, and it can
// be called.
func TestListChanged(t *testing.T) {
	r := newRig(t, "", nil, local(t, "s", "plain")).ready()
	for len(r.events) > 0 {
		<-r.events
	}
	r.do(t.Context(), "s_more", "{}")
	select {
	case ev := <-r.events:
		if diff := cmp.Diff(lathe.Event(lathe.MCPToolsChanged{Server: "s"}), ev); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	case <-time.After(time.Minute):
		t.Fatal("no change was told")
	}
	if got := r.do(t.Context(), "s_added", "{}").Output; got != "new" {
		t.Errorf("the new tool: %q", got)
	}
}

// TestSwitch turns a server off and on.
func TestSwitch(t *testing.T) {
	r := newRig(t, "", nil, local(t, "s", "plain")).ready()
	if err := r.Disconnect("s"); err != nil {
		t.Fatal(err)
	}
	if st := r.List()[0].State; st != Disabled {
		t.Errorf("after it was switched off it is %s", st)
	}
	if o := r.Offer(); !o.Empty() {
		t.Errorf("it is still offered: %+v", o.Servers)
	}
	if err := r.Connect(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := r.do(t.Context(), "s_echo", `{"text":"x"}`).Output; got != "you said x" {
		t.Errorf("after it was switched on: %q", got)
	}
	if err := r.Connect(t.Context(), "none"); err == nil || err.Error() != `there is no MCP server "none"` {
		t.Errorf("an unknown one: %v", err)
	}
}

// TestResourcesAndPrompts reads and makes what a server has for people.
func TestResourcesAndPrompts(t *testing.T) {
	r := newRig(t, "", nil, local(t, "s", "plain")).ready()
	if diff := cmp.Diff([]Found{{"s", Resource{URI: "docs://page", Name: "page", MIME: "text/plain"}}}, r.Resources()); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	for uri, want := range map[string]string{"docs://page": "the page", "docs://any/x": "of docs://any/x"} {
		got, err := r.ReadResource(t.Context(), "s", uri)
		if diff := cmp.Diff(Content{Texts: []string{want}}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", uri, err, diff)
		}
	}
	if _, err := r.ReadResource(t.Context(), "s", "docs://none"); err == nil {
		t.Error("a resource that is not there was read")
	}
	prompts := r.Prompts()
	if len(prompts) != 1 || prompts[0].Command != "s:greet" {
		t.Fatalf("prompts: %+v", prompts)
	}
	got, err := r.Prompt(t.Context(), prompts[0], []string{"Ada", "and", "Bob"})
	if err != nil || got != "Greet Ada and Bob" {
		t.Errorf("the prompt: %q, %v", got, err)
	}
	if got := r.do(t.Context(), "read_mcp_resource", `{"server":"s","uri":"docs://page"}`).Output; got != "the page" {
		t.Errorf("a model reads %q", got)
	}
}
