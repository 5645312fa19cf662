package mdns

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func service() Service {
	return Service{Instance: "opencode-4096", Type: "_http._tcp", Host: "opencode.local", Port: 4096, Text: []string{"path=/"}, Addr: netip.IPv4Unspecified()}
}

func testRecords(t *testing.T) records {
	n, err := newNames(service(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return records{names: n, port: 4096, text: []string{"path=/"}, addrs: []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("fd00::7")}, ttl: ttl}
}

func question(name string, typ dnsmessage.Type, class dnsmessage.Class) query {
	return query{id: 7, questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: typ, Class: class}}}
}

func TestAnswers(t *testing.T) {
	const in = dnsmessage.ClassINET
	for _, tt := range []struct {
		name  string
		q     query
		want  []string
		alone bool
	}{
		{"kinds of services", question(services, dnsmessage.TypePTR, in), []string{"PTR _http._tcp.local."}, false},
		{"services", question("_http._tcp.local.", dnsmessage.TypePTR, in), []string{
			"PTR opencode-4096._http._tcp.local.", "+SRV opencode.local. 4096", "+TXT path=/", "+A 192.0.2.7", "+AAAA fd00::7",
		}, false},
		{"in capitals", question("_HTTP._tcp.LOCAL.", dnsmessage.TypePTR, in|unicast), []string{
			"PTR opencode-4096._http._tcp.local.", "+SRV opencode.local. 4096", "+TXT path=/", "+A 192.0.2.7", "+AAAA fd00::7",
		}, true},
		{"place", question("opencode-4096._http._tcp.local.", dnsmessage.TypeSRV, in), []string{"SRV opencode.local. 4096", "+A 192.0.2.7", "+AAAA fd00::7"}, false},
		{"anything of the host", question("opencode.local.", dnsmessage.TypeALL, in), []string{"A 192.0.2.7", "AAAA fd00::7"}, false},
		{"address", question("opencode.local.", dnsmessage.TypeA, in|unicast), []string{"A 192.0.2.7"}, true},
		{"another host", question("other.local.", dnsmessage.TypeA, in), nil, false},
		{"another kind", question("_ipp._tcp.local.", dnsmessage.TypePTR, in), nil, false},
		{"another class", question("opencode.local.", dnsmessage.TypeA, dnsmessage.ClassCHAOS), nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := testRecords(t)
			w := r.wants(tt.q)
			var msg []byte
			if w.answers != 0 {
				var err error
				if msg, err = r.answer(tt.q, w); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, said(t, msg)); diff != "" || w.answers != 0 && w.alone != tt.alone {
				t.Errorf("alone %v (-want +got):\n%s", w.alone, diff)
			}
		})
	}
}

// TestBuiltQuery sends a message of the greatest size that asks for everything, over
// and over, with names that are only pointers. What we say to it is no more than to
// one that asks once.
func TestBuiltQuery(t *testing.T) {
	r := testRecords(t)
	ask := func(n int) (query, wanted, []byte) {
		msg := dnsmessage.Message{}
		for i := range n {
			name := []dnsmessage.Name{r.service, r.instance, r.host, servicesName}[i%4]
			msg.Questions = append(msg.Questions, dnsmessage.Question{Name: name, Type: dnsmessage.TypeALL, Class: dnsmessage.ClassINET})
		}
		raw, err := msg.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > maxMessage {
			t.Fatalf("a message of %d bytes never arrives", len(raw))
		}
		q, ok := parseQuery(raw)
		if !ok {
			t.Fatal("no query")
		}
		w := r.wants(q)
		out, err := r.answer(q, w)
		if err != nil {
			t.Fatal(err)
		}
		return q, w, out
	}
	_, once, want := ask(4)
	q, often, got := ask(1400)
	if diff := cmp.Diff(said(t, want), said(t, got)); diff != "" || once != often || len(q.questions) != maxQuestions {
		t.Errorf("%d questions are looked at (-once +often):\n%s", len(q.questions), diff)
	}
}

// TestBuiltNames holds that names which point at themselves, or at each other, are
// no query and no claim.
func TestBuiltNames(t *testing.T) {
	head := func(flags byte, questions, answers byte) []byte {
		return []byte{0, 0, flags, 0, 0, questions, 0, answers, 0, 0, 0, 0}
	}
	for name, body := range map[string][]byte{
		"itself":     {0xc0, 12, 0, 255, 0, 1},
		"each other": {0xc0, 14, 0xc0, 12, 0, 255, 0, 1},
		"beyond":     {0xff, 0xff, 0, 255, 0, 1},
		"cut":        {63, 'a'},
	} {
		if _, ok := parseQuery(append(head(0, 1, 0), body...)); ok {
			t.Errorf("%s: taken for a query", name)
		}
		if testRecords(t).claims(append(head(0x84, 0, 1), body...)) {
			t.Errorf("%s: taken for a claim", name)
		}
	}
}

// TestFlood holds that no more than so many answers a second are made.
func TestFlood(t *testing.T) {
	var r Responder
	now, made := time.Unix(1e9, 0), 0
	for i := range 100 * perSecond {
		if r.mayAnswer(now.Add(time.Duration(i) * time.Millisecond / 10)) {
			made++
		}
	}
	if made != perSecond {
		t.Errorf("%d answers were made within a second, want %d", made, perSecond)
	}
	if !r.mayAnswer(now.Add(2 * time.Second)) {
		t.Error("silent for good after a flood")
	}
}

// said names the records of a message; additional ones have a plus.
func said(t *testing.T, msg []byte) (out []string) {
	t.Helper()
	if msg == nil {
		return nil
	}
	var m dnsmessage.Message
	if err := m.Unpack(msg); err != nil {
		t.Fatal(err)
	}
	name := func(plus string, r dnsmessage.Resource) string {
		switch b := r.Body.(type) {
		case *dnsmessage.PTRResource:
			return plus + "PTR " + b.PTR.String()
		case *dnsmessage.SRVResource:
			return plus + "SRV " + b.Target.String() + " " + "4096"
		case *dnsmessage.TXTResource:
			return plus + "TXT " + strings.Join(b.TXT, " ")
		case *dnsmessage.AResource:
			return plus + "A " + netip.AddrFrom4(b.A).String()
		case *dnsmessage.AAAAResource:
			return plus + "AAAA " + netip.AddrFrom16(b.AAAA).String()
		}
		return "?"
	}
	for _, r := range m.Answers {
		out = append(out, name("", r))
	}
	for _, r := range m.Additionals {
		out = append(out, name("+", r))
	}
	return out
}

func TestClaims(t *testing.T) {
	r := testRecords(t)
	taken, err := r.announcement()
	if err != nil {
		t.Fatal(err)
	}
	r.ttl = 0
	over, err := r.announcement()
	if err != nil {
		t.Fatal(err)
	}
	asked, err := r.probe()
	if err != nil {
		t.Fatal(err)
	}
	if !r.claims(taken) || r.claims(over) || r.claims(asked) || r.claims([]byte("x")) {
		t.Error("a claim is an answer with our name that is not taken back")
	}
	second, err := newNames(service(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if second.claims(taken) || second.host.String() != "opencode-2.local." || second.instance.String() != "opencode-4096-2._http._tcp.local." {
		t.Errorf("the second name is %s, %s", second.host, second.instance)
	}
}

func FuzzReceive(f *testing.F) {
	n, err := newNames(service(), 1)
	if err != nil {
		f.Fatal(err)
	}
	probe, err := n.probe()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(probe)
	told, err := records{names: n, port: 1, addrs: []netip.Addr{netip.MustParseAddr("192.0.2.7")}}.announcement()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(told)
	f.Fuzz(func(t *testing.T, msg []byte) {
		n.claims(msg)
		q, ok := parseQuery(msg)
		if !ok {
			return
		}
		for _, plain := range []bool{false, true} {
			r := records{names: n, port: 1, text: []string{"path=/"}, plain: plain}
			w := r.wants(q)
			if out, err := r.answer(q, w); err == nil {
				if len(out) > len(msg)+1024 {
					t.Errorf("%d bytes are answered with %d", len(msg), len(out))
				}
				var m dnsmessage.Message
				if err := m.Unpack(out); err != nil {
					t.Errorf("answer %q: %v", out, err)
				}
			}
		}
	})
}

// A real query over multicast finds the service, and a second service of the same
// name gets another.
func TestOnTheNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	links, err := findLinks(netip.IPv4Unspecified())
	if err != nil {
		t.Fatal(err)
	}
	links = slices.DeleteFunc(links, func(l link) bool { return l.ifi.Name == "" || !has4(l) })
	if len(links) == 0 {
		t.Skip("no network here carries multicast")
	}
	s := service()
	s.Instance, s.Host = "lathe-test-"+time.Now().Format("150405.000000")[7:], "lathe-test-"+time.Now().Format("150405.000000")[7:]+".local"
	if err := carries(t, links[0]); err != nil {
		t.Skipf("the network here does not carry multicast: %v", err)
	}
	first, err := announce(s, links)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	got := ask(t, links[0], s.Host+".", func() bool { _, known := first.Host(); return known })
	if !slices.Contains(got, "A "+links[0].four().String()) {
		t.Fatalf("the host is known as %v", got)
	}
	second, err := announce(s, links)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	other := strings.TrimSuffix(s.Host, ".local") + "-2.local."
	if got := ask(t, links[0], other, func() bool { _, known := second.Host(); return known }); len(got) == 0 {
		t.Error("the second one has no name of its own")
	}
}

func has4(l link) bool { return l.four().IsValid() }

func (l link) four() netip.Addr {
	for _, a := range l.addrs {
		if a.Is4() {
			return a
		}
	}
	return netip.Addr{}
}

// ask asks for the addresses of a host, as a plain DNS client does, until there is
// an answer.
func ask(t *testing.T, l link, host string, ready func() bool) []string {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: l.four().AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := ipv4.NewPacketConn(c)
	if err := p.SetMulticastInterface(&l.ifi); err != nil {
		t.Fatal(err)
	}
	if err := p.SetMulticastLoopback(true); err != nil {
		t.Fatal(err)
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 99}, Questions: question(host, dnsmessage.TypeA, dnsmessage.ClassINET).questions}
	msg, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, maxMessage)
	for range 100 {
		if _, err := c.WriteTo(msg, group); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if n, err := c.Read(buf); err == nil {
			if !ready() {
				t.Error("answered before the name was known to be free")
			}
			return said(t, buf[:n])
		}
	}
	t.Fatalf("nobody answers for %s", host)
	return nil
}

// carries sends a packet to the group, without the responder, and reports why it
// does not come back.
func carries(t *testing.T, l link) error {
	t.Helper()
	in, err := net.ListenMulticastUDP("udp4", &l.ifi, group)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := net.ListenUDP("udp4", &net.UDPAddr{IP: l.four().AsSlice()})
	if err != nil {
		return err
	}
	defer out.Close()
	p := ipv4.NewPacketConn(out)
	if err := errors.Join(p.SetMulticastInterface(&l.ifi), p.SetMulticastLoopback(true)); err != nil {
		return err
	}
	probe, buf := []byte("lathe test"), make([]byte, maxMessage)
	_ = in.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := out.WriteTo(probe, group); err != nil {
		return err
	}
	for {
		n, err := in.Read(buf)
		if err != nil || string(buf[:n]) == string(probe) {
			return err
		}
	}
}
