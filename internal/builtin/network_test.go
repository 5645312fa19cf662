package builtin

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/judge"
	"lathe/internal/permission"
	"lathe/internal/sandbox/proxy"
	"lathe/internal/tool"
)

// internet is a proxy behind which every name leads to one server, but for those that
// have an address here.
func internet(t *testing.T, addresses map[string]string) (OpenWay, *[]*proxy.Door) {
	t.Helper()
	s := serve(t, map[string]http.HandlerFunc{
		"/page": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			answer("text/plain", "the page")(w, r)
		},
	})
	p := proxy.New(proxy.Options{
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			if ip, ok := addresses[host]; ok {
				return []netip.Addr{netip.MustParseAddr(ip)}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
		},
	})
	t.Cleanup(func() { p.Close() })
	var doors []*proxy.Door
	return func(j proxy.Judge) (*proxy.Door, map[string]string, error) {
		d := p.Open(j)
		doors = append(doors, d)
		at, err := d.Local()
		if err != nil {
			return nil, nil, err
		}
		return d, proxy.Env(at, nil, func(string) string { return "" }), nil
	}, &doors
}

// A host that a command's words name is asked about before it runs, another when it is
// reached, and each once.
func TestCommandsReachByRule(t *testing.T) {
	open, doors := internet(t, map[string]string{"inside.example": "10.1.2.3"})
	r := newRig(t, func(e *Env) { e.Network = open })
	r.put("fetch.sh", "curl -s http://hidden.example:81/page; curl -s http://hidden.example:81/page; curl -sd 12345 http://other.example/page")
	for _, tt := range []struct {
		command string
		asks    []string
		out     string
	}{
		{"curl -s http://example.org/page", []string{"bash curl -s http://example.org/page", `network example.org`}, "the page"},
		{"sh fetch.sh", []string{"bash sh fetch.sh", "network hidden.example:81", "network other.example"}, "the pagethe pagethe page"},
		{"curl -s http://inside.example/page", []string{"bash curl -s http://inside.example/page", "network inside.example", "network inside.example !"}, "the page"},
		{"echo http://example.org/page", []string{"bash echo http://example.org/page"}, "http://example.org/page"},
	} {
		r.asked()
		r.asks = nil
		res := r.ok("bash", m{"command": tt.command})
		if got := strings.ReplaceAll(strings.TrimSpace(res.Output), "\n", ""); got != tt.out {
			t.Errorf("%s: %s", tt.command, res.Output)
		}
		var asks []string
		for _, a := range r.asks {
			line := a.Permission + " " + strings.Join(a.Patterns, " ")
			if a.Metadata[tool.MetaProtected] == true {
				line += " !"
			}
			if a.Permission == permission.Network && a.Metadata["command"] != tt.command {
				t.Errorf("%s: the ask names %v", tt.command, a.Metadata["command"])
			}
			if a.Permission != "read" && a.Permission != permission.Change {
				asks = append(asks, line)
			}
		}
		if diff := cmp.Diff(tt.asks, asks); diff != "" {
			t.Errorf("%s asks (-want +got):\n%s", tt.command, diff)
		}
	}
	if len(*doors) != 4 {
		t.Errorf("%d doors", len(*doors))
	}
}

// What the person is told of a host is how much went out before.
func TestHostAskTellsWhatWasSent(t *testing.T) {
	open, _ := internet(t, nil)
	r := newRig(t, func(e *Env) { e.Network = open })
	r.put("send.sh", "curl -s --data-binary @- http://one.example/page < big; curl -s http://two.example/page")
	r.put("big", strings.Repeat("x", 5000))
	res := r.ok("bash", m{"command": "sh send.sh"})
	var reason any
	for _, a := range r.asks {
		if a.Permission == permission.Network && a.Patterns[0] == "two.example" {
			reason = a.Metadata["reason"]
		}
	}
	var sent int
	if _, err := fmt.Sscanf(strings.ReplaceAll(fmt.Sprint(reason), ",", ""), "it has sent %d bytes", &sent); err != nil || sent < 5000 || sent > 6000 {
		t.Errorf("reason %v", reason)
	}
	list, _ := res.Metadata["network"].([]any)
	if len(list) != 2 || list[0].(m)["host"] != "one.example" || list[0].(m)["sent"].(int64) < 5000 || list[1].(m)["received"].(int64) < 50 {
		t.Errorf("metadata %v", res.Metadata["network"])
	}
}

// A refusal is told to the program, to the model and in the result's data.
func TestHostRefused(t *testing.T) {
	open, _ := internet(t, nil)
	r := newRig(t, func(e *Env) { e.Network = open })
	r.put("fetch.sh", "curl -s http://hidden.example/page; exit 7")
	refuse := func(err error) func(tool.Request) error {
		return func(req tool.Request) error {
			if req.Permission == permission.Network {
				return err
			}
			return nil
		}
	}
	for _, tt := range []struct {
		err error
		why string
	}{
		{&permission.Unanswered{Why: "Refused: nobody can be asked."}, "Refused: nobody can be asked"},
		{&permission.Rejected{}, "the user refused it"},
		{&permission.Corrected{Feedback: "use the mirror"}, "the user refused it: use the mirror"},
	} {
		r.deny = refuse(tt.err)
		res := r.ok("bash", m{"command": "sh fetch.sh"})
		for _, want := range []string{
			"lathe: hidden.example was not reached: " + tt.why, "exit code 7\nhidden.example was not reached: " + tt.why,
			`The user can allow one: "network": {"hidden.example": "allow"}`,
		} {
			if !strings.Contains(res.Output, want) {
				t.Errorf("%v: want %q in\n%s", tt.err, want, res.Output)
			}
		}
		if got := fmt.Sprint(res.Metadata["unreached"]); !strings.Contains(got, "host:hidden.example") {
			t.Errorf("metadata %v", got)
		}
	}
	r.deny = refuse(&permission.Reporting{})
	if res := r.ok("bash", m{"command": "sh fetch.sh"}); res.Metadata["unreached"] != nil || strings.Count(res.Output, "was not reached") != 1 {
		t.Errorf("a report is told: %v\n%s", res.Metadata, res.Output)
	}
	if _, err := r.run("bash", m{"command": "curl http://example.org/"}); err == nil {
		t.Error("a command that names a refused host ran")
	}
}

// What a person types has the machine's network.
func TestPersonsCommandHasNoProxy(t *testing.T) {
	open, doors := internet(t, nil)
	r := newRig(t, func(e *Env) { e.Network = open })
	call := r.call(m{"command": "env"})
	call.UserAsked = true
	bash, _ := r.tools.Lookup("bash")
	res, err := bash.Run(t.Context(), call)
	if err != nil || strings.Contains(res.Output, "PROXY") || len(*doors) != 0 {
		t.Errorf("%v, %d doors\n%s", err, len(*doors), res.Output)
	}
}

func TestHostsInWords(t *testing.T) {
	for script, want := range map[string]string{
		"curl https://a.example/x http://b.example:81": "a.example b.example:81",
		"git clone ssh://git@c.example/r.git":          "c.example:22",
		"git clone https://user:pass@d.example/r":      "d.example",
		"curl http://localhost:3000 http://127.0.0.1":  "",
		"curl http://10.1.2.3/":                        "10.1.2.3",
		"echo https://a.example":                       "",
		"curl -F a=@x file:///etc/passwd":              "",
		"sudo wget https://e.example":                  "e.example",
		"curl $URL":                                    "",
	} {
		var got []string
		for _, h := range hosts(judge.Analyze(script, judge.Env{Dir: "/r"})) {
			got = append(got, h.Label())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", script, got, want)
		}
	}
}
