// Package mdns makes one service known on the local network, over multicast DNS
// and DNS-SD (RFC 6762, RFC 6763): as much as a responder for a single service
// needs. It sends over IPv4; the addresses it tells are of both kinds.
//
// A name that somebody else has gets a number. Questions are answered only to
// hosts of the networks that this machine is on.
package mdns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/ipv4"
)

const (
	maxMessage = 9000
	probes     = 3
	probeEvery = 250 * time.Millisecond
	tries      = 9
	// perSecond bounds the answers to questions: those above are not even made.
	perSecond = 50
)

var group = &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: 5353}

// Service is what is made known.
type Service struct {
	Instance string // such as "opencode-4096"
	Type     string // such as "_http._tcp"
	Host     string // such as "opencode.local"
	Port     uint16
	Text     []string
	// Addr is the address that the service listens on; the unspecified one means
	// all of this machine's.
	Addr netip.Addr
	Log  *slog.Logger
}

// Responder answers for a service until it is closed.
type Responder struct {
	svc    Service
	conn   *net.UDPConn
	packet *ipv4.PacketConn
	links  map[int]link
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	names  names
	taken  bool // somebody claims the names
	known  bool // announced
	second time.Time
	sent   int // in that second
}

// link is a network that this machine is on.
type link struct {
	ifi   net.Interface
	nets  []netip.Prefix
	addrs []netip.Addr
}

// Announce makes a service known on every network that carries multicast and that
// the service can be reached from. It returns at once; the names are probed for
// and announced in the meantime. Close the responder.
func Announce(s Service) (*Responder, error) {
	links, err := findLinks(s.Addr)
	if err != nil {
		return nil, err
	}
	return announce(s, links)
}

func announce(s Service, links []link) (*Responder, error) {
	if len(links) == 0 {
		return nil, errors.New("no network of this machine carries multicast")
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	n, err := newNames(s, 1)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenMulticastUDP("udp4", &links[0].ifi, group)
	if err != nil {
		return nil, fmt.Errorf("listen for multicast DNS: %w", err)
	}
	r := &Responder{svc: s, conn: conn, packet: ipv4.NewPacketConn(conn), links: map[int]link{}, names: n}
	for i, l := range links {
		if i > 0 && r.packet.JoinGroup(&l.ifi, group) != nil {
			continue
		}
		r.links[l.ifi.Index] = l
	}
	err = errors.Join(r.packet.SetControlMessage(ipv4.FlagInterface, true), r.packet.SetMulticastLoopback(true), r.packet.SetMulticastTTL(255))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("multicast DNS: %w", err), conn.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.wg.Go(r.listen)
	r.wg.Go(func() { r.introduce(ctx) })
	return r, nil
}

// findLinks returns the networks that an address is reached from.
func findLinks(addr netip.Addr) ([]link, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	var out []link
	for _, ifi := range all {
		if ifi.Flags&net.FlagUp == 0 || ifi.Flags&net.FlagMulticast == 0 || ifi.Flags&net.FlagLoopback != 0 {
			continue
		}
		l := link{ifi: ifi}
		addrs, err := ifi.Addrs()
		if err != nil {
			continue
		}
		reached := addr.IsUnspecified()
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue
			}
			l.nets = append(l.nets, p.Masked())
			if here := p.Addr().Unmap(); addr.IsUnspecified() || here == addr.Unmap() {
				l.addrs, reached = append(l.addrs, here), true
			}
		}
		if reached && len(l.addrs) > 0 {
			out = append(out, l)
		}
	}
	return out, nil
}

// listen answers questions until the socket is closed.
func (r *Responder) listen() {
	buf := make([]byte, maxMessage)
	for {
		n, cm, src, err := r.packet.ReadFrom(buf)
		if err != nil {
			return
		}
		from, ok := src.(*net.UDPAddr)
		if !ok || cm == nil {
			continue
		}
		if l, ok := r.links[cm.IfIndex]; ok && l.has(from.AddrPort().Addr().Unmap()) {
			r.receive(buf[:n], l, from)
		}
	}
}

func (l link) has(a netip.Addr) bool {
	for _, p := range l.nets {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func (r *Responder) receive(msg []byte, l link, from *net.UDPAddr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		r.taken = r.taken || r.names.claims(msg)
		return
	}
	q, ok := parseQuery(msg)
	if !ok {
		return
	}
	rec := r.records(l, ttl)
	if rec.plain = from.Port != group.Port; rec.plain {
		rec.ttl = legacyTTL
	}
	w := rec.wants(q)
	if w.answers == 0 || !r.mayAnswer(time.Now()) {
		return
	}
	out, err := rec.answer(q, w)
	if err != nil || len(out) > maxMessage {
		return
	}
	if w.alone || rec.plain {
		_, _ = r.packet.WriteTo(out, &ipv4.ControlMessage{IfIndex: l.ifi.Index}, from)
		return
	}
	r.send(out, l)
}

// mayAnswer bounds the rate of answers.
func (r *Responder) mayAnswer(now time.Time) bool {
	if now.Sub(r.second) >= time.Second {
		r.second, r.sent = now, 0
	}
	r.sent++
	return r.sent <= perSecond
}

func (r *Responder) records(l link, ttl uint32) records {
	return records{names: r.names, port: r.svc.Port, text: r.svc.Text, addrs: l.addrs, ttl: ttl}
}

func (r *Responder) send(msg []byte, l link) {
	if _, err := r.packet.WriteTo(msg, &ipv4.ControlMessage{IfIndex: l.ifi.Index}, group); err != nil {
		r.svc.Log.Debug("multicast DNS could not be sent", "interface", l.ifi.Name, "err", err)
	}
}

// introduce finds names that are free and announces them, twice.
func (r *Responder) introduce(ctx context.Context) {
	for n := 1; n <= tries; n++ {
		if !r.rename(n) || !r.probe(ctx) {
			if ctx.Err() != nil {
				return
			}
			continue
		}
		for i := range 2 {
			if i > 0 && !sleep(ctx, time.Second) {
				return
			}
			r.tell(ttl)
		}
		return
	}
	r.svc.Log.Warn("the server is not made known: others have its name", "name", r.svc.Host)
}

func (r *Responder) rename(n int) bool {
	names, err := newNames(r.svc, n)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names, r.taken = names, false
	return true
}

// probe reports whether nobody claims the names, which are ours then.
func (r *Responder) probe(ctx context.Context) bool {
	for range probes {
		r.mu.Lock()
		msg, err := r.names.probe()
		if err == nil {
			for _, l := range r.links {
				r.send(msg, l)
			}
		}
		r.mu.Unlock()
		if !sleep(ctx, probeEvery) {
			return false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = !r.taken
	return r.known
}

// tell announces the service with a time to live; zero takes it back.
func (r *Responder) tell(ttl uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.links {
		if msg, err := r.records(l, ttl).announcement(); err == nil {
			r.send(msg, l)
		}
	}
}

// Host returns the name that the service is known by, and whether it is yet.
func (r *Responder) Host() (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names.host.String(), r.known
}

// Close takes the announcement back and waits for everything that runs.
func (r *Responder) Close() error {
	r.cancel()
	if _, known := r.Host(); known {
		r.tell(0)
	}
	err := r.conn.Close()
	r.wg.Wait()
	return err
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
