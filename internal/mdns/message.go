package mdns

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	ttl       = 120 // seconds, of what depends on addresses
	legacyTTL = 10  // of answers to plain DNS clients
	unique    = dnsmessage.Class(1 << 15)
	unicast   = unique // the same bit, in questions
	services  = "_services._dns-sd._udp.local."
)

// names are how one service is known.
type names struct{ service, instance, host dnsmessage.Name }

func newNames(s Service, n int) (names, error) {
	instance, host := s.Instance, strings.TrimSuffix(s.Host, ".local")
	if n > 1 {
		instance, host = fmt.Sprintf("%s-%d", instance, n), fmt.Sprintf("%s-%d", host, n)
	}
	var out names
	var err error
	for _, p := range []struct {
		to   *dnsmessage.Name
		text string
	}{{&out.service, s.Type + ".local."}, {&out.instance, instance + "." + s.Type + ".local."}, {&out.host, host + ".local."}} {
		if *p.to, err = dnsmessage.NewName(p.text); err != nil {
			return out, fmt.Errorf("name %q: %w", p.text, err)
		}
	}
	return out, nil
}

// query is what somebody asks of us.
type query struct {
	id        uint16
	questions []dnsmessage.Question
}

// parseQuery reads a message; it reports false for what is no query.
func parseQuery(msg []byte) (query, bool) {
	var p dnsmessage.Parser
	h, err := p.Start(msg)
	if err != nil || h.Response || h.OpCode != 0 {
		return query{}, false
	}
	q, err := p.AllQuestions()
	return query{h.ID, q}, err == nil
}

// claims reports whether a message says that somebody else has one of our names.
func (n names) claims(msg []byte) bool {
	var p dnsmessage.Parser
	if h, err := p.Start(msg); err != nil || !h.Response || p.SkipAllQuestions() != nil {
		return false
	}
	for {
		h, err := p.AnswerHeader()
		if err != nil || p.SkipAnswer() != nil {
			return false
		}
		if h.TTL > 0 && h.Type != dnsmessage.TypePTR && (same(h.Name, n.instance) || same(h.Name, n.host)) {
			return true
		}
	}
}

func same(a, b dnsmessage.Name) bool { return strings.EqualFold(a.String(), b.String()) }

// probe asks whether the names are taken.
func (n names) probe() ([]byte, error) {
	m := dnsmessage.Message{Questions: []dnsmessage.Question{
		{Name: n.instance, Type: dnsmessage.TypeALL, Class: dnsmessage.ClassINET},
		{Name: n.host, Type: dnsmessage.TypeALL, Class: dnsmessage.ClassINET},
	}}
	return m.Pack()
}

// records are all that is known of the service where these addresses are.
type records struct {
	names
	port  uint16
	text  []string
	addrs []netip.Addr
	ttl   uint32
	plain bool // for a plain DNS client, who does not know the bit for unique records
}

func (r records) header(name dnsmessage.Name, own bool) dnsmessage.ResourceHeader {
	h := dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: r.ttl}
	if own && !r.plain {
		h.Class |= unique
	}
	return h
}

func (r records) pointer() dnsmessage.Resource {
	return dnsmessage.Resource{Header: r.header(r.service, false), Body: &dnsmessage.PTRResource{PTR: r.instance}}
}

func (r records) place() []dnsmessage.Resource {
	return []dnsmessage.Resource{
		{Header: r.header(r.instance, true), Body: &dnsmessage.SRVResource{Port: r.port, Target: r.host}},
		{Header: r.header(r.instance, true), Body: &dnsmessage.TXTResource{TXT: r.text}},
	}
}

func (r records) addresses() []dnsmessage.Resource {
	var out []dnsmessage.Resource
	for _, a := range r.addrs {
		h := r.header(r.host, true)
		if a.Is4() {
			out = append(out, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		} else {
			out = append(out, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return out
}

// answer returns what we know about the questions, and whether everyone who asked
// wants it sent to them alone; nil when it is nothing.
func (r records) answer(q query) (msg []byte, alone bool, err error) {
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}}
	alone = true
	for _, question := range q.questions {
		before := len(m.Answers)
		r.one(question, &m)
		if len(m.Answers) > before && question.Class&unicast == 0 {
			alone = false
		}
	}
	if len(m.Answers) == 0 {
		return nil, false, nil
	}
	if r.plain {
		m.ID, m.Questions = q.id, q.questions
	}
	msg, err = m.Pack()
	return msg, alone, err
}

func (r records) one(q dnsmessage.Question, m *dnsmessage.Message) {
	if c := q.Class &^ unicast; c != dnsmessage.ClassINET && c != dnsmessage.ClassANY {
		return
	}
	wants := func(types ...dnsmessage.Type) bool {
		for _, t := range types {
			if q.Type == t {
				return true
			}
		}
		return q.Type == dnsmessage.TypeALL
	}
	switch {
	case strings.EqualFold(q.Name.String(), services) && wants(dnsmessage.TypePTR):
		h := r.header(q.Name, false)
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.PTRResource{PTR: r.service}})
	case same(q.Name, r.service) && wants(dnsmessage.TypePTR):
		m.Answers = append(m.Answers, r.pointer())
		m.Additionals = append(append(m.Additionals, r.place()...), r.addresses()...)
	case same(q.Name, r.instance):
		for i, t := range []dnsmessage.Type{dnsmessage.TypeSRV, dnsmessage.TypeTXT} {
			if wants(t) {
				m.Answers = append(m.Answers, r.place()[i])
			}
		}
		m.Additionals = append(m.Additionals, r.addresses()...)
	case same(q.Name, r.host):
		for _, a := range r.addresses() {
			if _, v4 := a.Body.(*dnsmessage.AResource); v4 && wants(dnsmessage.TypeA) || !v4 && wants(dnsmessage.TypeAAAA) {
				m.Answers = append(m.Answers, a)
			}
		}
	}
}

// announcement says all of it unasked; with a ttl of zero, that it is over.
func (r records) announcement() ([]byte, error) {
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}}
	m.Answers = append(append(append(m.Answers, r.pointer()), r.place()...), r.addresses()...)
	return m.Pack()
}
