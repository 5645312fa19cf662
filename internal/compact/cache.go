package compact

import (
	"fmt"
	"hash/maphash"

	"lathe/internal/llm"
	"lathe/internal/tokens"
)

// Print is the fingerprint of one piece of a request: a system block, the tools,
// or a message. Requests share a prefix as far as their prints are equal.
type Print struct {
	Label  string // for people: "system 1", "tools", "message 12 (tool read)"
	Sum    uint64 // valid in this process only
	Size   int
	Tokens int64 // estimated; 0 until a later request shares the piece
}

var seed = maphash.MakeSeed()

// Prints returns the fingerprints of a request in the order in which providers
// cache: tools, system, messages. A piece is weighed only when it is seen a
// second time, because only shared pieces are counted, and only once: earlier
// prints say what is already known.
func Prints(req *llm.Request, earlier []Print) []Print {
	out := make([]Print, 0, 1+len(req.System)+len(req.Messages))
	add := func(label func() string, weigh func() int64, p Print) {
		if i := len(out); i < len(earlier) && earlier[i].Sum == p.Sum && earlier[i].Size == p.Size {
			if p = earlier[i]; p.Tokens == 0 {
				p.Tokens = weigh()
			}
			out = append(out, p)
			return
		}
		p.Label = label()
		out = append(out, p)
	}
	var p Print
	for _, t := range req.Tools {
		p.add(t.Name)
		p.add(t.Description)
		p.addBytes(t.Schema)
	}
	add(func() string { return "tools" }, func() int64 { _, n := Fixed(nil, req.Tools); return n }, p)
	for i, s := range req.System {
		p = Print{}
		p.add(s)
		add(func() string { return fmt.Sprintf("system %d", i+1) }, func() int64 { return count(s) }, p)
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		p = Print{}
		p.message(m)
		add(func() string { return label(i+1, m) }, func() int64 { return weighMessage(m) }, p)
	}
	return out
}

func (p *Print) add(s string) { p.mix(maphash.String(seed, s), len(s)) }

func (p *Print) addBytes(b []byte) { p.mix(maphash.Bytes(seed, b), len(b)) }

// mix adds the next text; both the order of texts and where each one ends matter.
func (p *Print) mix(sum uint64, n int) {
	const odd = 0x9e3779b97f4a7c15
	p.Sum = (p.Sum^sum)*odd + uint64(n)
	p.Size += n + 1
}

func (p *Print) message(m *llm.Message) {
	p.add(string(m.Role))
	for _, c := range m.Content {
		switch c := c.(type) {
		case llm.Text:
			p.add(c.Text)
		case llm.Reasoning:
			p.add(c.Text)
		case llm.Media:
			p.add(c.MIME + c.Name + c.URL)
			p.addBytes(c.Data)
		case llm.ToolUse:
			p.add(c.ID + c.Name)
			p.addBytes(c.Input)
		case llm.ToolResult:
			p.add(c.ID + c.Output)
			for _, media := range c.Media {
				p.addBytes(media.Data)
			}
		}
	}
}

func weighMessage(m *llm.Message) int64 {
	sum := int64(messageWeight)
	for _, c := range m.Content {
		switch c := c.(type) {
		case llm.Text:
			sum += count(c.Text)
		case llm.Reasoning:
			sum += count(c.Text)
		case llm.Media:
			sum += imageWeight
		case llm.ToolUse:
			sum += callWeight + int64(tokens.Count(string(c.Input)))
		case llm.ToolResult:
			sum += count(c.Output) + imageWeight*int64(len(c.Media))
		}
	}
	return sum
}

func label(n int, m *llm.Message) string {
	what := string(m.Role)
	if len(m.Content) > 0 {
		if r, ok := m.Content[0].(llm.ToolResult); ok {
			what = "tool " + r.Name
		}
	}
	return fmt.Sprintf("message %d (%s)", n, what)
}

// Shared returns the tokens of the prefix that two requests have in common, and
// the first piece of the later one that differs, or "" when the earlier one is a
// prefix of it.
func Shared(earlier, later []Print) (shared int64, differs string) {
	for i := range earlier {
		if i >= len(later) {
			return shared, "the end of the conversation"
		}
		if earlier[i].Sum != later[i].Sum || earlier[i].Size != later[i].Size {
			return shared, later[i].Label
		}
		shared += later[i].Tokens
	}
	return shared, ""
}
