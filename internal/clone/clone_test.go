package clone

import (
	"context"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// place is a repository elsewhere, a checkout of it, and where clones of it are made.
type place struct {
	t        *testing.T
	bare     string
	upstream string // a checkout of it
	o        Options

	mu   sync.Mutex
	now  time.Time
	said []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed here")
	}
	dir := t.TempDir()
	p := &place{t: t, bare: filepath.Join(dir, "app.git"), upstream: filepath.Join(dir, "upstream"), now: time.Unix(1e9, 0)}
	p.o = Options{
		Dir: filepath.Join(dir, "clones"), Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir},
		Now: func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return p.now },
		Say: func(line string) { p.mu.Lock(); defer p.mu.Unlock(); p.said = append(p.said, line) },
	}
	p.git(dir, "init", "-q", "--bare", "-b", "main", p.bare)
	p.git(dir, "clone", "-q", p.bare, p.upstream)
	p.git(p.upstream, "checkout", "-q", "-b", "main")
	p.push("a.txt", "one")
	return p
}

func (p *place) git(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(p.o.Environ, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// push has a file of the repository elsewhere say something.
func (p *place) push(name, text string) {
	p.t.Helper()
	p.write(p.upstream, name, text)
	p.git(p.upstream, "add", "-A")
	p.git(p.upstream, "commit", "-q", "-m", text)
	p.git(p.upstream, "push", "-q", "origin", "main")
}

func (p *place) write(dir, name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) holds(c *Clone, name, want string) {
	p.t.Helper()
	got, err := os.ReadFile(filepath.Join(c.Dir, name))
	if string(got) != want {
		p.t.Errorf("%s says %q (%v), want %q", name, got, err, want)
	}
}

func (p *place) open(remote string) *Clone {
	p.t.Helper()
	c, err := p.try(remote)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func (p *place) try(remote string) (*Clone, error) {
	p.t.Helper()
	r, err := Parse(remote)
	if err != nil {
		p.t.Fatal(err)
	}
	return Open(p.t.Context(), r, p.o)
}

// refresh fetches a while after the last time, and returns what is said.
func (p *place) refresh(c *Clone, busy bool) string {
	p.mu.Lock()
	p.now, p.said = p.now.Add(2*deadTime), nil
	p.mu.Unlock()
	c.Refresh(p.t.Context(), func() bool { return busy })
	return p.all()
}

func (p *place) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said, "\n")
}

// entries are what lies where the clones are, but for locks.
func (p *place) entries() (names []string) {
	all, err := os.ReadDir(p.o.Dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range all {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

// A clone is made once, whoever wants it, and what a killed worker left of one is removed.
func TestOpen(t *testing.T) {
	p := newPlace(t)
	r, err := Parse(p.bare)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(p.o.Dir, "."+r.name()+".part-123", "checkout"), 0o700); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := Open(t.Context(), r, p.o); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(p.all(), "cloning "); n != 1 {
		t.Errorf("cloned %d times:\n%s", n, p.all())
	}
	if names := p.entries(); !slices.Equal(names, []string{r.name()}) {
		t.Errorf("there are %q", names)
	}
	c := p.open(p.bare)
	p.holds(c, "a.txt", "one")
	if !c.Has(c.Dir) || !c.Has(filepath.Join(c.Worktrees(), "x")) || c.Has(c.Dir+"x") || c.Has(p.o.Dir) {
		t.Error("the clone has the wrong directories")
	}
}

// What could not be cloned leaves nothing behind, and its error says what to do.
func TestCloneFails(t *testing.T) {
	p := newPlace(t)
	gone := filepath.Join(t.TempDir(), "gone.git")
	_, err := p.try(gone)
	if err == nil || !strings.Contains(err.Error(), "could not be cloned") || !strings.Contains(err.Error(), "gone.git") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, _ := Parse(p.bare)
	if _, err := Open(ctx, r, p.o); err == nil {
		t.Error("cloned although it was stopped")
	}
	if names := p.entries(); len(names) != 0 {
		t.Errorf("there are %q", names)
	}
}

// What is there and is no clone of the remote stays as it is.
func TestSomethingElseIsThere(t *testing.T) {
	p := newPlace(t)
	r, _ := Parse(p.bare)
	dir := filepath.Join(p.o.Dir, r.name())
	p.git(filepath.Dir(p.bare), "init", "-q", dir)
	p.write(dir, "mine", "x")
	if _, err := p.try(p.bare); err == nil || !strings.Contains(err.Error(), "is not a clone of") {
		t.Errorf("the error is %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "mine")); string(got) != "x" {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// A checkout moves on to what is new, but never over what was done in it.
func TestRefresh(t *testing.T) {
	p := newPlace(t)
	p.push(".gitignore", "ignored")
	c := p.open(p.bare)
	p.push("a.txt", "two")
	if said := p.refresh(c, true); said != "" {
		t.Errorf("while something is done there: %q", said)
	}
	p.holds(c, "a.txt", "one")
	if got := p.git(c.Dir, "show", "origin/main:a.txt"); got != "two" {
		t.Errorf("fetched is %q", got)
	}
	if said := p.refresh(c, false); said != "" {
		t.Errorf("said: %q", said)
	}
	p.holds(c, "a.txt", "two")

	p.write(c.Dir, "new.txt", "mine")
	p.push("a.txt", "three")
	if said := p.refresh(c, false); !strings.Contains(said, "changes that are not committed") {
		t.Errorf("with changes: %q", said)
	}
	if said := p.refresh(c, false); said != "" {
		t.Errorf("said again: %q", said)
	}
	p.holds(c, "a.txt", "two")
	p.holds(c, "new.txt", "mine")

	p.git(c.Dir, "checkout", "-q", "-b", "other")
	if said := p.refresh(c, false); !strings.Contains(said, "another branch") {
		t.Errorf("on another branch: %q", said)
	}
	p.git(c.Dir, "add", "-A")
	p.git(c.Dir, "commit", "-q", "-m", "mine")
	p.git(c.Dir, "checkout", "-q", "main")
	p.write(c.Dir, "ignored", "mine, too")
	p.push("b.txt", "b")
	if said := p.refresh(c, false); said != "" {
		t.Errorf("with what is ignored: %q", said)
	}
	p.holds(c, "a.txt", "three")
	p.write(p.upstream, ".gitignore", "")
	p.push("ignored", "theirs")
	if said := p.refresh(c, false); !strings.Contains(said, "stays at its commit") {
		t.Errorf("an ignored file is in the way: %q", said)
	}
	p.holds(c, "ignored", "mine, too")
	if err := os.Remove(filepath.Join(c.Dir, "ignored")); err != nil {
		t.Fatal(err)
	}

	p.git(c.Dir, "merge", "-q", "other")
	if said := p.refresh(c, false); !strings.Contains(said, "commits of its own") {
		t.Errorf("with commits: %q", said)
	}
	p.holds(c, "new.txt", "mine")
}

// A remote that does not answer is told, once for a while; its clone can be used meanwhile.
func TestRemoteIsAway(t *testing.T) {
	p := newPlace(t)
	p.open(p.bare)
	if err := os.Rename(p.bare, p.bare+".away"); err != nil {
		t.Fatal(err)
	}
	c := p.open(p.bare)
	if said := p.refresh(c, false); !strings.Contains(said, "work goes on with what is there") {
		t.Errorf("said: %q", said)
	}
	c.Refresh(t.Context(), func() bool { return false })
	if n := strings.Count(p.all(), "work goes on"); n != 1 {
		t.Errorf("said %d times", n)
	}
	p.holds(c, "a.txt", "one")
	if err := os.Rename(p.bare+".away", p.bare); err != nil {
		t.Fatal(err)
	}
	p.push("a.txt", "two")
	if said := p.refresh(c, false); said != "" {
		t.Errorf("said: %q", said)
	}
	p.holds(c, "a.txt", "two")
}

// What was written into the configuration of a clone runs no program when it is fetched, and
// neither do its hooks.
func TestCloneRunsNothingOfItsOwn(t *testing.T) {
	p := newPlace(t)
	c := p.open(p.bare)
	mark := filepath.Join(t.TempDir(), "mark")
	for _, name := range []string{"post-merge", "reference-transaction", "post-checkout"} {
		if err := os.WriteFile(filepath.Join(c.Dir, ".git", "hooks", name), []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.push("a.txt", "two")
	if said := p.refresh(c, false); said != "" {
		t.Errorf("said: %q", said)
	}
	p.holds(c, "a.txt", "two")
	for _, key := range []string{"remote." + p.bare + ".uploadpack", "remote.origin.uploadpack", "core.sshCommand", "credential.helper", "url." + "ext::sh.insteadOf", "include.path"} {
		p.git(c.Dir, "config", key, "touch "+mark)
		p.push("a.txt", "after "+key)
		if said := p.refresh(c, false); !strings.Contains(said, "own configuration has") {
			t.Errorf("%s: %q", key, said)
		}
		p.git(c.Dir, "config", "--unset-all", key)
	}
	if said := p.refresh(c, false); said != "" {
		t.Errorf("without them: %q", said)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something ran")
	}
}

// A clone comes over the network.
func TestCloneOverTheNetwork(t *testing.T) {
	p := newPlace(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			file, err := conn.(*net.TCPConn).File()
			if err == nil {
				cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--base-path="+filepath.Dir(p.bare), filepath.Dir(p.bare))
				cmd.Env, cmd.Stdin, cmd.Stdout = p.o.Environ, file, file
				_ = cmd.Run() // the client says what was wrong
				_ = file.Close()
			}
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	c := p.open("git://" + l.Addr().String() + "/app.git")
	p.holds(c, "a.txt", "one")
	p.push("a.txt", "two")
	if said := p.refresh(c, false); said != "" {
		t.Errorf("said: %q", said)
	}
	p.holds(c, "a.txt", "two")
}

// Credentials come from the person's helpers of git, nobody is asked for them, and they are
// not in the clone.
func TestCredentials(t *testing.T) {
	p := newPlace(t)
	backend := cgi.Handler{
		Path: filepath.Join(p.git(p.upstream, "--exec-path"), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(p.bare), "GIT_HTTP_EXPORT_ALL=1"},
	}
	if _, err := os.Stat(backend.Path); err != nil {
		t.Skip("git-http-backend is not installed here")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, pass, _ := r.BasicAuth(); name != "ann" || pass != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	defer server.Close()
	home := filepath.Dir(p.bare)
	mark := filepath.Join(home, "asked")
	p.write(home, "ask", "#!/bin/sh\ntouch "+mark+"\necho secret\n")
	if err := os.Chmod(filepath.Join(home, "ask"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.o.Environ = append(p.o.Environ, "GIT_ASKPASS="+filepath.Join(home, "ask"), "SSH_ASKPASS="+filepath.Join(home, "ask"), "GIT_CONFIG_NOSYSTEM=1")
	if c, err := p.try(server.URL + "/app.git"); err == nil || !strings.Contains(err.Error(), "could not be cloned") {
		t.Errorf("without credentials: %+v, %v", c, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("somebody was asked")
	}
	p.write(home, ".gitconfig", "[credential]\n\thelper = \"!f() { echo username=ann; echo password=secret; }; f\"\n")
	c := p.open(server.URL + "/app.git")
	p.push("a.txt", "two")
	if said := p.refresh(c, false); said != "" {
		t.Errorf("said: %q", said)
	}
	p.holds(c, "a.txt", "two")
	if config, err := os.ReadFile(filepath.Join(c.Dir, ".git", "config")); err != nil || strings.Contains(string(config), "secret") {
		t.Errorf("the configuration is %s, %v", config, err)
	}
}

// The directory of a machine's own clones stays the same, and no other machine has it.
func TestHome(t *testing.T) {
	data := t.TempDir()
	first, err := Home(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Home(data)
	if err != nil || again != first || filepath.Dir(first) != filepath.Join(data, "worktree") {
		t.Errorf("%q, then %q, %v", first, again, err)
	}
	if other, err := Home(t.TempDir()); err != nil || filepath.Base(other) == filepath.Base(first) {
		t.Errorf("another machine has %q, %v", other, err)
	}
	if err := os.MkdirAll(first, 0o700); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(first, "app")
	if got := WorktreesOf(filepath.Join(data, "worktree"), in); got != in+worktreesSuffix {
		t.Errorf("worktrees are in %q", got)
	}
	if got := WorktreesOf(filepath.Join(data, "worktree"), filepath.Join(t.TempDir(), "app")); got != "" {
		t.Errorf("worktrees of another checkout are in %q", got)
	}
}
