package mdns

import (
	"errors"
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

	// maxQuestions is how many questions of a message are looked at. Devices that
	// batch theirs send some dozens; a built message has room for over a thousand.
	maxQuestions = 64
)

var servicesName = dnsmessage.MustNewName(services)

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

// parseQuery reads the first [maxQuestions] questions of a message; it reports
// false for what is no query.
func parseQuery(msg []byte) (query, bool) {
	var p dnsmessage.Parser
	h, err := p.Start(msg)
	if err != nil || h.Response || h.OpCode != 0 {
		return query{}, false
	}
	q := query{id: h.ID}
	for len(q.questions) < maxQuestions {
		one, err := p.Question()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			break
		}
		if err != nil {
			return query{}, false
		}
		q.questions = append(q.questions, one)
	}
	return q, true
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

// records are all that is known about the service where these addresses are.
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

// sets names some of the six sets of records that a service has: each is told
// once in a message, however often it is asked for.
type sets uint8

const (
	kindsSet   sets = 1 << iota // that there are services of our type
	pointerSet                  // the service's instance
	srvSet                      // its host and port
	txtSet
	aSet // the host's addresses
	aaaaSet

	placeSets   = srvSet | txtSet
	addressSets = aSet | aaaaSet
)

// of returns the records of the sets.
func (r records) of(s sets) []dnsmessage.Resource {
	var out []dnsmessage.Resource
	add := func(set sets, h dnsmessage.ResourceHeader, body dnsmessage.ResourceBody) {
		if s&set != 0 {
			out = append(out, dnsmessage.Resource{Header: h, Body: body})
		}
	}
	add(kindsSet, r.header(servicesName, false), &dnsmessage.PTRResource{PTR: r.service})
	add(pointerSet, r.header(r.service, false), &dnsmessage.PTRResource{PTR: r.instance})
	add(srvSet, r.header(r.instance, true), &dnsmessage.SRVResource{Port: r.port, Target: r.host})
	add(txtSet, r.header(r.instance, true), &dnsmessage.TXTResource{TXT: r.text})
	for _, a := range r.addrs {
		if a.Is4() {
			add(aSet, r.header(r.host, true), &dnsmessage.AResource{A: a.As4()})
		} else {
			add(aaaaSet, r.header(r.host, true), &dnsmessage.AAAAResource{AAAA: a.As16()})
		}
	}
	return out
}

// wanted is what a query asks us for.
type wanted struct {
	answers, more sets // more is what they who ask would ask for next
	alone         bool // everyone who asked wants it sent to them alone
}

// wants looks a query through, which costs little whatever stands in it.
func (r records) wants(q query) wanted {
	w := wanted{alone: true}
	for _, question := range q.questions {
		answers, more := r.one(question)
		if answers == 0 {
			continue
		}
		w.answers, w.more = w.answers|answers, w.more|more
		w.alone = w.alone && question.Class&unicast != 0
	}
	w.more &^= w.answers
	return w
}

// answer returns the message that says what is wanted.
func (r records) answer(q query, w wanted) ([]byte, error) {
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}}
	m.Answers, m.Additionals = r.of(w.answers), r.of(w.more)
	if r.plain {
		m.ID, m.Questions = q.id, q.questions
	}
	return m.Pack()
}

// one returns what a question asks us for; nothing when it is not about us.
func (r records) one(q dnsmessage.Question) (answers, more sets) {
	if c := q.Class &^ unicast; c != dnsmessage.ClassINET && c != dnsmessage.ClassANY {
		return 0, 0
	}
	switch {
	case same(q.Name, servicesName):
		answers = kindsSet
	case same(q.Name, r.service):
		answers, more = pointerSet, placeSets|addressSets
	case same(q.Name, r.instance):
		answers, more = placeSets, addressSets
	case same(q.Name, r.host):
		answers = addressSets
	}
	if answers &= ofType(q.Type); answers == 0 || r.of(answers) == nil {
		return 0, 0
	}
	return answers, more
}

// ofType returns the sets whose records are of a type.
func ofType(t dnsmessage.Type) sets {
	switch t {
	case dnsmessage.TypePTR:
		return kindsSet | pointerSet
	case dnsmessage.TypeSRV:
		return srvSet
	case dnsmessage.TypeTXT:
		return txtSet
	case dnsmessage.TypeA:
		return aSet
	case dnsmessage.TypeAAAA:
		return aaaaSet
	case dnsmessage.TypeALL:
		return ^sets(0)
	}
	return 0
}

// announcement says all of it unasked; with a ttl of zero, that it is over.
func (r records) announcement() ([]byte, error) {
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}}
	m.Answers = r.of(pointerSet | placeSets | addressSets)
	return m.Pack()
}
