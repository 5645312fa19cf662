package instance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/tool"
)

// Commands have a network of their own, of which the one way out is the proxy.
func TestCommandsHaveANetworkOfTheirOwn(t *testing.T) {
	for _, mode := range []string{"on", "required"} {
		t.Run(mode, func(t *testing.T) { ownNetwork(t, mode) })
	}
}

func ownNetwork(t *testing.T, mode string) {
	if sandbox.Detect() < sandbox.Full {
		t.Skip("there are no namespaces here: " + sandbox.Missing())
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "from outside") }))
	defer s.Close()
	outside := strings.TrimPrefix(s.URL, "http://")
	database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "from the database") }))
	defer database.Close()
	lent := database.URL[strings.LastIndexByte(database.URL, ':')+1:]
	port := outside[strings.LastIndexByte(outside, ':')+1:]
	home, vars := everydayHome(t)
	vars = append(vars, `LATHE_CONFIG_CONTENT={"sandbox":"`+mode+`","network":{"`+outside+`":"allow","localhost:`+lent+`":"allow"},"shell":{"limits":{"memory":200}}}`)
	dir := filepath.Join(home, "work")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	inst, agent, bash := everydayInstance(t, dir, vars)
	for _, tt := range []struct{ name, command, want, not string }{
		{"no other interface", "cat /proc/net/dev | wc -l", "3\n", ""},
		{"no way to this machine", "curl -sS --noproxy '*' " + s.URL + " || true", "Failed to connect", "from outside"},
		{"which is told", "curl -sS --noproxy '*' " + s.URL, "localhost:" + port + " was not reached", "from outside"},
		{"but where a rule allows it", "curl -sS --noproxy '*' " + database.URL, "from the database", ""},
		{"a way past the proxy is told", "curl -sS --noproxy '*' -m 2 http://93.184.216.34/", "It tried to reach 93.184.216.34:80 by itself", ""},
		{"nor to another", "curl -sS --noproxy '*' -m 2 http://93.184.216.34/ || true", "curl: (7)", ""},
		{"nor to a server of names", "getent hosts example.org; echo looked", "looked", "2606"},
		{"but by the proxy, where a rule allows it", "curl -sS --noproxy '' " + s.URL, "from outside", ""},
		{"not elsewhere", "curl -sS --noproxy '' http://127.0.0.1:9/; true", "was not reached", ""},
		{"limits are told", "perl -e '$x = \"x\" x (300 << 20)'", "Each process of a command may have 200 MB of data.", ""},
		{"a server of its own", "(python3 -m http.server 3217 --bind 127.0.0.1 >/dev/null 2>&1 &); curl -s --retry 9 --retry-connrefused --retry-delay 1 http://127.0.0.1:3217/", "Directory listing", ""},
	} {
		if strings.Contains(tt.command, "python3") {
			if _, err := exec.LookPath("python3"); err != nil {
				continue
			}
		}
		input, err := json.Marshal(map[string]any{"command": tt.command})
		if err != nil {
			t.Fatal(err)
		}
		res, err := bash.Run(t.Context(), &tool.Call{
			SessionID: "ses_1", MessageID: "msg_1", CallID: "call_1", Agent: "build", Input: input,
			Ask: func(ctx context.Context, req tool.Request) error {
				if req.Permission != permission.Network {
					return nil
				}
				one, done := context.WithCancel(ctx)
				done()
				return inst.Permission.Ask(one, permission.AskInput{SessionID: "ses_1", Request: req, Policy: agent.Policy()})
			},
		})
		if err != nil || !strings.Contains(res.Output+"\n", tt.want) || tt.not != "" && strings.Contains(res.Output, tt.not) {
			t.Errorf("%s: %v, want %q in\n%s", tt.name, err, tt.want, res.Output)
		}
	}
}
