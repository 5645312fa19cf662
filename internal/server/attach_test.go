package server

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// attachScript is what the model of the attached screens says.
const attachScript = `text Let me look.
tool bash {"command":"echo hi > made.txt; echo from-tool","description":"says hi"}
---
text All done here.
---
tool question {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"red","description":"r"},{"label":"blue","description":"b"}]}]}
---
text You chose it.
---
text Now I wait.
stall
---
times 9
text More words.
`

// The screens of OpenCode 1.18.33 and 1.1.34 complete a session when they are
// attached: an old conversation, text and tool cards, a permission, a question,
// abort, undo, the list of sessions.
func TestOpenCodeAttach(t *testing.T) {
	for name, old := range map[string]bool{"1.18": false, "1.1": true} {
		t.Run(name, func(t *testing.T) {
			program := opencode(t, old)
			r := newClientRig(t)
			model := r.script("attach.txt", attachScript)
			write(t, filepath.Join(r.dir, "opencode.json"), `{"model":"script/`+model+`","permission":{"bash":"ask"}}`)
			earlier := r.script("earlier.txt", "text Words of an earlier day.\n")
			sess := r.session()
			r.ok("PATCH", sess, `{"title":"Earlier conversation"}`)
			r.ok("POST", sess+"/message", promptBody(earlier, "Speak."))

			s := openScreen(t, program, "attach", readFirst(t, r.url), "--dir", r.dir, "--session", strings.TrimPrefix(sess, "/session/"))
			s.see("Words of an earlier day.")
			s.command("/new", "New session")
			s.see("Ask anything")

			s.say("go")
			s.see("Let me look.", "Permission required", "echo hi > made.txt")
			s.press("Enter")
			s.see("from-tool", "All done here.")

			s.say("ask")
			s.see("Which colour?", "blue")
			s.press("Down")
			s.press("Enter")
			s.see("You chose it.")

			s.say("wait")
			s.see("Now I wait.", "interrupt")
			s.press("Escape")
			s.see("again to interrupt")
			s.press("Escape")
			s.see("interrupted")

			s.say("more")
			s.see("More words.")
			s.command("/undo", "Undo previous message")
			s.see("1 message reverted")
			s.press("C-u")
			s.command("/sessions", "Switch session")
			s.see("Sessions", "Earlier conversation")
		})
	}
}

// reading is whether messages were answered.
type reading struct {
	ctx  context.Context // ends when they were
	done context.CancelFunc
}

// readFirst stands before a server, and passes the prompts of a session on once its messages
// have been read through it. OpenCode's screens send the first prompt of a new session and read
// its messages at the same time, and what they read replaces what events have told them since:
// on a busy machine they lose an update for good, although the server had answered before it.
func readFirst(t *testing.T, server string) string {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var reads sync.Map // by path: whether the messages there were answered
	read := func(path string) *reading {
		r := &reading{}
		r.ctx, r.done = context.WithCancel(context.Background())
		known, _ := reads.LoadOrStore(path, r)
		return known.(*reading)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	proxy.ErrorLog = log.New(io.Discard, "", 0) // of connections that the screen closes
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		messages := strings.HasSuffix(req.URL.Path, "/message")
		if messages && req.Method == http.MethodPost {
			select {
			case <-read(req.URL.Path).ctx.Done():
			case <-req.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(w, req)
		if messages && req.Method == http.MethodGet {
			read(req.URL.Path).done()
		}
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	return front.URL
}

// screen is a terminal with a program in it.
type screen struct {
	t       *testing.T
	tmux    string
	control string // socket of the tmux server
}

// openScreen runs a program in a terminal of its own.
func openScreen(t *testing.T, program string, args ...string) *screen {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	dir := shortDir(t)
	s := &screen{t: t, tmux: tmux, control: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_, _ = s.run("kill-server")
	})
	home := t.TempDir()
	env := []string{
		"-i", "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + home,
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", program,
	}
	line := append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "50", "env"}, append(env, args...)...)
	if out, err := s.run(line...); err != nil {
		t.Skipf("tmux does not work here: %v: %s", err, out)
	}
	return s
}

func (s *screen) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, s.tmux, append([]string{"-S", s.control}, args...)...).CombinedOutput()
	return string(out), err
}

func (s *screen) press(key string) {
	s.t.Helper()
	if out, err := s.run("send-keys", key); err != nil {
		s.t.Fatalf("%s: %v: %s", key, err, out)
	}
}

// say types a prompt and sends it once it stands there.
func (s *screen) say(text string) {
	s.t.Helper()
	s.press(text)
	s.see("┃  " + text)
	s.press("Enter")
}

// command types a command of the screen and picks it from the list that opens.
func (s *screen) command(name, listed string) {
	s.t.Helper()
	s.press(name)
	s.see("┃  "+name, listed)
	s.press("Enter")
}

// see waits until the screen shows all of the texts.
func (s *screen) see(texts ...string) {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(30 * time.Millisecond); ; <-tick.C {
		shown, err := s.run("capture-pane", "-p")
		missing := ""
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				missing = text
			}
		}
		switch {
		case err == nil && missing == "":
			tick.Stop()
			return
		case err != nil || time.Now().After(deadline):
			s.t.Fatalf("the screen does not show %q (%v):\n%s", missing, err, shown)
		}
	}
}
