package job

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"lathe/internal/sandbox"
	"lathe/internal/shell"
)

// greet is a server that a job runs.
func greet() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("serving at", l.Addr())
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	fmt.Println(err)
	return 1
}

// The server of a job in a network of its own is reached from the machine, also when the
// job was left to the person and lathe is gone, and not when it has ended.
func TestServerOfKeptJobIsReached(t *testing.T) {
	box := sandbox.NewBox(sandbox.Options{Network: sandbox.OwnNetwork})
	if !box.HasNetwork() {
		t.Skip("there are no networks of one's own here: " + sandbox.Missing())
	}
	t.Cleanup(func() { box.Close() })
	r, _ := keeping(t)
	policy := sandbox.Policy{Write: []string{r.dir}}
	s := r.describe("ses_a", "exec "+os.Args[0]+" __greet")
	s.Runner = r.runner.Confined(func(shell.Kind) (*sandbox.Box, sandbox.Policy) { return box, policy })
	j, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	_, address, ok := strings.Cut(text(j, j.Look(t.Context(), until(`serving at \S+\n`))), "serving at ")
	if !ok {
		t.Fatalf("it does not serve: %+v", j.Info())
	}
	address = strings.TrimSpace(address)
	get := func() string {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Get("http://" + address)
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return string(body)
	}
	if got := get(); got != "hello" {
		t.Fatal(got)
	}
	if info := j.Info(); len(info.Ports) != 1 || len(info.Elsewhere) != 0 {
		t.Errorf("%+v", info)
	}
	k := r.handOver(j)
	r.leave()
	if got := get(); got != "hello" {
		t.Errorf("without lathe: %s", got)
	}
	if err := k.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := get(); got == "hello" {
		t.Error("it is still reached")
	}
}
