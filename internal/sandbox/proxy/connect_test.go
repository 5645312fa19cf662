package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConnect(t *testing.T) {
	w := newWorld(t, echoHost, nil)
	d := w.Open(func(_ context.Context, a Attempt) error {
		if a.Host != "example.org" {
			return errors.New("it is not allowed")
		}
		return nil
	})
	defer d.Close()
	at, err := d.Local()
	if err != nil {
		t.Fatal(err)
	}
	get := func(name string) string { return map[string]string{Variable: at.String()}[name] }
	var out bytes.Buffer
	in := strings.NewReader("GET /ssh HTTP/1.0\r\nHost: h\r\n\r\n")
	if err := Connect(t.Context(), []string{"example.org", "22"}, get, in, &out); err != nil || !strings.HasSuffix(out.String(), `GET h /ssh ""`) {
		t.Errorf("%q, %v", out.String(), err)
	}
	for want, args := range map[string][]string{
		"connect to other.org:22: 403 Forbidden: lathe: other.org:22 was not reached: it is not allowed": {"other.org", "22"},
		"connect: a host and a port are needed":                                                          {"one"},
	} {
		if err := Connect(t.Context(), args, get, in, &out); err == nil || err.Error() != want {
			t.Errorf("%v: %v", args, err)
		}
	}
	if err := Connect(t.Context(), []string{"a", "1"}, func(string) string { return "" }, in, &out); err == nil {
		t.Error("without a proxy it connected")
	}
}

func TestEnv(t *testing.T) {
	at := &url.URL{Scheme: "http", Host: "127.0.0.1:61"}
	get := func(name string) string { return map[string]string{"MAVEN_OPTS": "-Xmx1g"}[name] }
	got := Env(at, []string{"/opt/my tools/lathe", "__connect"}, get)
	java := "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=61 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=61 -Dhttp.nonProxyHosts='localhost|127.*|[::1]'"
	want := map[string]string{
		"LATHE_PROXY": at.String(), "ALL_PROXY": at.String(), "all_proxy": at.String(), "HTTP_PROXY": at.String(), "http_proxy": at.String(),
		"HTTPS_PROXY": at.String(), "https_proxy": at.String(), "NO_PROXY": near, "no_proxy": near, "NODE_USE_ENV_PROXY": "1",
		"YARN_HTTP_PROXY": at.String(), "YARN_HTTPS_PROXY": at.String(),
		"MAVEN_OPTS": "-Xmx1g " + java, "GRADLE_OPTS": java, "SBT_OPTS": java,
		"GIT_SSH_COMMAND": `ssh -o 'ProxyCommand='\''/opt/my tools/lathe'\'' __connect %h %p'`,
	}
	for _, name := range silent {
		if got[name] != "1" && got[name] != "0" {
			t.Errorf("%s is %q", name, got[name])
		}
		delete(got, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	at.User = url.UserPassword("token", "x")
	if got := Env(at, nil, get); got["MAVEN_OPTS"] != "" || got["GIT_SSH_COMMAND"] != "" || got["HTTP_PROXY"] != "http://token:x@127.0.0.1:61" {
		t.Errorf("%v", got)
	}
}

// Curl, wget and git, by which most other programs fetch, take the way that the
// variables tell, with the name that they have to give.
func TestEnvLeadsPrograms(t *testing.T) {
	var mu sync.Mutex
	var got []string
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Host+r.URL.Path)
	}), nil)
	d := w.Open(allowAll)
	defer d.Close()
	at, err := d.Local()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	for name, value := range Env(at, nil, func(string) string { return "" }) {
		env = append(env, name+"="+value)
	}
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"curl", "-sS", "http://example.org/a"}, []string{"example.org/a"}},
		{[]string{"curl", "-sS", "-p", "http://example.org:81/b"}, []string{"example.org:81/b"}},
		{[]string{"curl", "-sS", "--proxy", "socks5h://" + at.User.String() + "@" + at.Host, "http://example.org/c"}, []string{"example.org/c"}},
		{[]string{"wget", "-q", "-O", "-", "http://example.org/d"}, []string{"example.org/d"}},
		{[]string{"git", "ls-remote", "http://example.org/e.git"}, []string{"example.org/e.git/info/refs", "example.org/e.git/HEAD"}},
	} {
		path, err := exec.LookPath(tt.args[0])
		if err != nil {
			t.Logf("%s is not installed", tt.args[0])
			continue
		}
		mu.Lock()
		got = nil
		mu.Unlock()
		cmd := exec.CommandContext(t.Context(), path, tt.args[1:]...)
		cmd.Env, cmd.Dir = env, t.TempDir()
		out, err := cmd.CombinedOutput()
		mu.Lock()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v: %s, %v (-want +got):\n%s", tt.args, out, err, diff)
		}
		mu.Unlock()
	}
}

// Git's ssh reaches its host through the proxy, and by rule.
func TestGitOverSSH(t *testing.T) {
	for _, name := range []string{"git", "ssh"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " is not installed")
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	banner := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		line, _ := bufio.NewReader(conn).ReadString('\n')
		banner <- line
	}()
	w := newWorld(t, echoHost, nil)
	w.server = l.Addr().String()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"example.org": "", "secure.example": "secure.example:22 was not reached: no rule allows it"} {
		d := w.Open(func(_ context.Context, a Attempt) error {
			if a.Label() != "example.org:22" {
				return errors.New("no rule allows it")
			}
			return nil
		})
		at, err := d.Local()
		if err != nil {
			t.Fatal(err)
		}
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		for name, value := range Env(at, []string{self, "__connect"}, func(string) string { return "" }) {
			env = append(env, name+"="+value)
		}
		cmd := exec.CommandContext(t.Context(), "git", "ls-remote", "ssh://git@"+host+"/r.git")
		cmd.Env, cmd.Dir = env, t.TempDir()
		out, _ := cmd.CombinedOutput() // nobody serves git here
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: %s", host, out)
		}
		if want == "" {
			if line := <-banner; !strings.HasPrefix(line, "SSH-2.0-") {
				t.Errorf("the server heard %q\n%s", line, out)
			}
		}
		d.Close()
	}
	if diff := cmp.Diff([]string{public + ":22"}, w.dialled); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
}

// BenchmarkDoor is what a command pays that reaches nothing.
func BenchmarkDoor(b *testing.B) {
	p := New(Options{})
	defer p.Close()
	for b.Loop() {
		d := p.Open(allowAll)
		at, err := d.Local()
		if err != nil {
			b.Fatal(err)
		}
		Env(at, []string{"lathe", "__connect"}, func(string) string { return "" })
		d.Close()
	}
}
