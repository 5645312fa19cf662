//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// machineServer is a server of the machine's, which greets.
func machineServer(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "from the machine\n")
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func ownNetwork(t *testing.T) *Box {
	t.Helper()
	b := NewBox(Options{Network: OwnNetwork})
	if !b.HasNetwork() {
		t.Skip("there are no networks of one's own here: " + Missing())
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// lender says yes or no, notes what it was asked for, and passes connections on.
type lender struct {
	yes   bool
	mu    sync.Mutex
	asked []netip.AddrPort
	wg    sync.WaitGroup
	open  []net.Listener
}

func (l *lender) near(to netip.AddrPort) (func(net.Listener), bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, to)
	return func(in net.Listener) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open = append(l.open, in)
		l.wg.Go(func() {
			for {
				c, err := in.Accept()
				if err != nil {
					return
				}
				if host, err := net.Dial("tcp", to.String()); err == nil {
					_, _ = io.Copy(c, host)
					host.Close()
				}
				c.Close()
			}
		})
	}, l.yes
}

func (l *lender) close() {
	l.mu.Lock()
	for _, in := range l.open {
		in.Close()
	}
	l.mu.Unlock()
	l.wg.Wait()
}

// A command reaches a server of the machine's loopback when it may, and only then. What it
// serves itself, and where nothing is, nobody is asked about.
func TestNetworkLendsServers(t *testing.T) {
	b, w := ownNetwork(t), newWorld(t)
	at := machineServer(t)
	get := fmt.Sprintf("cat < /dev/tcp/127.0.0.1/%d || echo refused", at.Port())
	for _, tt := range []struct {
		name, script, want string
		yes                bool
		asked              []netip.AddrPort
	}{
		{"allowed", get, "from the machine\n", true, []netip.AddrPort{at}},
		{"refused", get, "refused\n", false, []netip.AddrPort{at}},
		{"by no address", fmt.Sprintf("cat < /dev/tcp/0.0.0.0/%d", at.Port()), "from the machine\n", true, []netip.AddrPort{at}},
		{"nothing is there", "(echo > /dev/tcp/127.0.0.1/1) 2>/dev/null || echo refused", "refused\n", true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &lender{yes: tt.yes}
			defer l.close()
			got := w.runNear(b, w.policy, l.near, "exec 2>/dev/null; "+tt.script, nil)
			if diff := cmp.Diff(tt.want, got.out); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.asked, l.asked, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
	// What was lent to one command is not there for another that nobody allowed.
	l := &lender{yes: true}
	defer l.close()
	stays := filepath.Join(w.work, "go-on")
	w.runNear(b, w.policy, l.near, get+"; until test -e "+stays+"; do sleep 0.05; done", func(*Run) {
		defer os.WriteFile(stays, nil, 0o600)
		for deadline := time.Now().Add(30 * time.Second); !b.isLent(at) && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		if !b.isLent(at) {
			t.Fatal("it was not lent")
		}
		if got := w.run(b, w.policy, "exec 2>/dev/null; "+get); got.out != "refused\n" {
			t.Errorf("another command got %q", got.out)
		}
	})
}

// Where a command goes although nothing leads there is noted.
func TestNetworkNotesWhatIsLost(t *testing.T) {
	b, w := ownNetwork(t), newWorld(t)
	got := w.run(b, w.policy, `(echo > /dev/tcp/192.0.2.1/81) 2>/dev/null; (echo > /dev/udp/192.0.2.2/53) 2>/dev/null; true`)
	want := []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:81"), netip.MustParseAddrPort("192.0.2.2:53")}
	if diff := cmp.Diff(want, got.lost, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// serve is a server that a command starts: it says at which port it is in a file, answers
// each line, and ends when it is told so by another file.
func serve(address string) int {
	l, err := net.Listen("tcp", address)
	if err == nil {
		err = os.WriteFile("port", fmt.Append(nil, l.Addr().(*net.TCPAddr).Port), 0o600)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				line, _ := bufio.NewReader(c).ReadString('\n')
				fmt.Fprint(c, "you said ", line)
			}()
		}
	}()
	for {
		if _, err := os.Stat("stop"); err == nil {
			return 0
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// What a published process listens on is found on the machine's loopback, at another port
// if that one is taken, and not any more when it has ended.
func TestNetworkPublishes(t *testing.T) {
	b, w := ownNetwork(t), newWorld(t)
	w.attacker()
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(address, late), func(t *testing.T) { publishes(t, b, w, address, late) })
		}
	}
	t.Run("taken", func(t *testing.T) {
		taken := machineServer(t)
		publishes(t, b, w, fmt.Sprint("127.0.0.1:", taken.Port()), false)
	})
}

func publishes(t *testing.T, b *Box, w *world, address string, late bool) {
	name := filepath.Join(w.work, "port")
	_ = os.Remove(name)
	stop := filepath.Join(w.work, "stop")
	_ = os.Remove(stop)
	var at int
	got := w.runNear(b, w.policy, nil, `SANDBOX_TEST_ATTACK=serve exec $SELF $PORT`, func(r *Run) {
		defer os.WriteFile(stop, nil, 0o600)
		if !late {
			r.Publish()
		}
		text := ""
		for deadline := time.Now().Add(30 * time.Second); text == "" && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			raw, _ := os.ReadFile(name)
			text = string(raw)
		}
		if late {
			r.Publish()
		}
		list := r.Published()
		if len(list) != 1 || fmt.Sprint(list[0].Port) != strings.TrimSpace(text) {
			t.Errorf("published %v, want %s", list, text)
			return
		}
		at = list[0].At
		for range 2 {
			c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", at))
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprintln(c, "hello")
			line, err := bufio.NewReader(c).ReadString('\n')
			c.Close()
			if line != "you said hello\n" {
				t.Errorf("%q, %v", line, err)
			}
		}
	}, "PORT="+address)
	if got.code != 0 {
		t.Errorf("%d: %s", got.code, got.out)
	}
	if c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", at)); err == nil {
		c.Close()
		t.Error("it is still reached")
	}
}

func TestHexAddress(t *testing.T) {
	table := `  sl  local_address rem_address   st tx_queue
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000
   1: 00000000:0016 00000000:0000 0A 00000000:00000000
   2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0
   3: 0000000000000000FFFF00000100007F:0051 00000000000000000000000000000000:0000 0A 0
   4: 0100007F:9999 0100007F:1F90 01 0
   5: nonsense:1F90 0 0A 0
`
	got := fmt.Sprint(listening(table))
	if diff := cmp.Diff("[127.0.0.1:8080 0.0.0.0:22 [::1]:80 127.0.0.1:81]", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
