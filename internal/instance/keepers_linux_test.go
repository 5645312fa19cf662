package instance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/sandbox"
	"lathe/internal/tool"
)

// keeperRow is a command that needs what keeps a person's keys or containers.
type keeperRow struct {
	name, command string
	path          string // the person is asked for it, below their home directory
	once          string // what the command prints once that is allowed
	program       string // that it needs; "" for a stand-in, which needs perl alone
}

const dials = `use IO::Socket::UNIX; my $at = shift; sub dial { IO::Socket::UNIX->new(Peer => $at) } `

var keeperRows = []keeperRow{
	{"docker", "docker ps", "docker.sock", "CONTAINER ID", "docker"},
	{"docker, by a stand-in", "./docker.pl $HOME/docker.sock", "docker.sock", "CONTAINER ID", ""},
	{"podman", "./podman.pl $XDG_RUNTIME_DIR/podman/podman.sock", "run/podman/podman.sock", "CONTAINER ID", ""},
	{"signed commit", "git commit -q -S --allow-empty -m signed && git log -1 --format=%G?", ".gnupg", "U|G", "gpg"},
	{"clear signature", "echo text | gpg --clearsign", ".gnupg", "BEGIN PGP SIGNATURE", "gpg"},
	{"keys of ssh", "ssh-add -l", "agent.sock", "agent has no identities", "ssh-add"},
	{"keys of ssh, by a stand-in", "./ssh-add.pl $SSH_AUTH_SOCK", "agent.sock", "agent has no identities", ""},
}

// standIns are the programs of the rows that no machine of tests has.
var standIns = map[string]string{
	"docker.pl":  dials + `dial or die "permission denied while trying to connect to the Docker daemon socket at unix://$at: connect: permission denied\n"; print "CONTAINER ID\n"`,
	"podman.pl":  dials + `dial or die "Cannot connect to Podman. Error: unable to connect to Podman socket: dial unix $at: connect: no such file or directory\n"; print "CONTAINER ID\n"`,
	"ssh-add.pl": dials + `dial or die "Could not open a connection to your authentication agent.\n"; print "The agent has no identities.\n"`,
}

// TestKeepersAreAskedFor holds that a command which needs an agent's socket, a key ring or
// containers is refused in words that name it, that the person is asked for it and for
// nothing more, and that it works once they agree.
func TestKeepersAreAskedFor(t *testing.T) {
	if sandbox.Detect() < sandbox.Full {
		t.Skip("sockets are only out of reach with namespaces: " + sandbox.Missing())
	}
	home, vars := keepersHome(t)
	dir := filepath.Join(home, "work")
	plant(t, dir, vars)
	for _, row := range keeperRows {
		t.Run(row.name, func(t *testing.T) {
			for _, name := range []string{row.program, "perl"} {
				if _, err := exec.LookPath(name); name != "" && err != nil {
					t.Skip(name + " is not installed")
				}
			}
			_, _, bash := everydayInstance(t, dir, vars)
			path := filepath.Join(home, row.path)
			for _, answer := range []error{errors.New("no"), nil} {
				res, reasons := askedAgain(t, bash, row.command, answer)
				want := "the command failed since it may not read " + path + "; allowed, it runs again"
				if len(reasons) != 1 || reasons[0] != want {
					t.Errorf("asked %q, want %q\n%s", reasons, want, res.Output)
				}
				refusal := "Not allowed by the sandbox: read " + path
				if answer != nil && !strings.Contains(res.Output, refusal) {
					t.Errorf("the refusal does not name %s:\n%s", path, res.Output)
				}
				if answer == nil && !contains(res.Output, row.once) {
					t.Errorf("allowed, it prints\n%s", res.Output)
				}
			}
		})
	}
}

// contains reports whether a text has one of several words, which bars separate.
func contains(text, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// askedAgain runs a command, answers the ask whether it may run again, and returns the
// reasons that were given for it.
func askedAgain(t *testing.T, bash tool.Tool, command string, answer error) (res tool.Result, reasons []string) {
	t.Helper()
	input, err := json.Marshal(map[string]any{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	res, err = bash.Run(t.Context(), &tool.Call{
		SessionID: "ses_1", MessageID: "msg_1", CallID: "call_1", Agent: "build", Input: input,
		Ask: func(_ context.Context, req tool.Request) error {
			if req.Metadata["again"] != true {
				return nil
			}
			reasons = append(reasons, fmt.Sprint(req.Metadata["reason"]))
			return answer
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res, reasons
}

// keepersHome is the home of a person with an agent for ssh, a key of GnuPG, and servers of
// containers.
func keepersHome(t *testing.T) (home string, vars []string) {
	t.Helper()
	home, vars = everydayHome(t)
	run := filepath.Join(home, "run")
	if err := errors.Join(os.Mkdir(filepath.Join(home, ".gnupg"), 0o700), os.MkdirAll(filepath.Join(run, "podman"), 0o700)); err != nil {
		t.Fatal(err)
	}
	docker, agent := filepath.Join(home, "docker.sock"), filepath.Join(home, "agent.sock")
	containers(t, docker)
	containers(t, filepath.Join(run, "podman", "podman.sock"))
	vars = append(vars, "DOCKER_HOST=unix://"+docker, "XDG_RUNTIME_DIR="+run, "SSH_AUTH_SOCK="+agent)
	if _, err := exec.LookPath("ssh-agent"); err == nil {
		startAgent(t, agent)
	} else {
		containers(t, agent)
	}
	if _, err := exec.LookPath("gpg"); err == nil {
		makeKey(t, vars)
	}
	return home, vars
}

// containers answers like a server of containers that has none, until the test ends.
func containers(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, "[]")
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
}

func startAgent(t *testing.T, path string) {
	t.Helper()
	agent := exec.CommandContext(t.Context(), "ssh-agent", "-D", "-a", path)
	out, err := agent.StdoutPipe()
	if err == nil {
		err = agent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { agent.Process.Kill(); agent.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // it listens before it says where
		t.Fatal(err)
	}
}

func makeKey(t *testing.T, vars []string) {
	t.Helper()
	for _, args := range [][]string{
		{"gpg", "--batch", "--passphrase", "", "--quick-gen-key", "Somebody <s@example.org>", "ed25519", "sign", "never"},
		{"gpgconf", "--kill", "all"},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = vars
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

// plant makes a project with the programs that stand in.
func plant(t *testing.T, dir string, vars []string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git := exec.CommandContext(t.Context(), "git", "init", "-q", dir)
	git.Env = vars
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range standIns {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/usr/bin/perl\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKeepersAreAskedForAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the tests are run by an ordinary user already")
	}
	asOrdinaryUser(t, "^TestKeepersAreAskedFor$")
}
