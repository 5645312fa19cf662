package catalog

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"sync"

	"lathe"
)

// The stored form: a line with the magic word, the length of the index and the
// CRC of everything after it; the index, one line of tab-separated fields for a
// provider; then for each provider a compressed chunk of lines, first the sets of
// variants its models share ("V" and JSON), then one line for a model.

const (
	magic        = "lathe-catalog-1"
	maxStored    = 32 << 20
	maxChunk     = 16 << 20 // of one provider, unpacked
	maxProviders = 5000
	infoFields   = 9
	modelFields  = 22
)

type chunk struct{ off, size, raw int }

//go:embed catalog.bin
var embedded []byte

var openEmbedded = sync.OnceValue(func() *Catalog {
	c, err := Decode(embedded)
	if err != nil {
		panic("catalog: the embedded copy: " + err.Error())
	}
	return c
})

// Embedded returns the catalogue that is part of the binary.
func Embedded() *Catalog { return openEmbedded() }

// Encode returns the stored form.
func Encode(providers []Provider) ([]byte, error) {
	var index, chunks bytes.Buffer
	for i := range providers {
		p := &providers[i]
		raw, err := encodeModels(p)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", p.ID, err)
		}
		off := chunks.Len()
		w, err := flate.NewWriter(&chunks, flate.BestCompression)
		if err != nil {
			return nil, err
		}
		_, _ = w.Write(raw) // to memory
		if err := w.Close(); err != nil {
			return nil, err
		}
		writeLine(&index, p.ID, p.Name, strings.Join(p.Env, ","), p.NPM, p.API,
			strconv.Itoa(len(p.Models)), strconv.Itoa(off), strconv.Itoa(chunks.Len()-off), strconv.Itoa(len(raw)))
	}
	body := append(index.Bytes(), chunks.Bytes()...)
	head := fmt.Sprintf("%s %d %08x\n", magic, index.Len(), crc32.ChecksumIEEE(body))
	return append([]byte(head), body...), nil
}

// Decode reads the stored form. It checks the whole text's sum and reads the
// index; chunks are read when they are asked for.
func Decode(data []byte) (*Catalog, error) {
	if len(data) > maxStored {
		return nil, errors.New("the stored catalogue is too large")
	}
	head, body, ok := bytes.Cut(data, []byte("\n"))
	var n int
	var sum uint32
	if _, err := fmt.Sscanf(string(head[:min(len(head), 64)]), magic+" %d %x", &n, &sum); !ok || err != nil || n < 0 || n > len(body) {
		return nil, errors.New("not a stored catalogue")
	}
	if crc32.ChecksumIEEE(body) != sum {
		return nil, errors.New("the stored catalogue is damaged")
	}
	return decodeIndex(string(body[:n]), body[n:])
}

func decodeIndex(index string, chunks []byte) (*Catalog, error) {
	count := min(strings.Count(index, "\n"), maxProviders)
	c := &Catalog{data: chunks, infos: make([]Info, 0, count), chunks: make([]chunk, 0, count),
		byID: make(map[string]int, count), cache: map[string]*Provider{}}
	for line := range strings.Lines(index) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != infoFields || len(c.infos) >= maxProviders {
			return nil, fmt.Errorf("index line of %d fields", len(f))
		}
		var nums [4]int
		for i := range nums {
			v, err := strconv.Atoi(f[5+i])
			if err != nil || v < 0 {
				return nil, fmt.Errorf("index of %q: bad number", f[0])
			}
			nums[i] = v
		}
		ch := chunk{nums[1], nums[2], nums[3]}
		if ch.off > len(chunks) || ch.size > len(chunks)-ch.off || ch.raw > maxChunk {
			return nil, fmt.Errorf("index of %q: out of bounds", f[0])
		}
		c.byID[f[0]] = len(c.infos)
		c.infos = append(c.infos, Info{f[0], f[1], splitList(f[2]), f[3], f[4], nums[0]})
		c.chunks = append(c.chunks, ch)
	}
	return c, nil
}

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func (c *Catalog) decodeProvider(i int) (*Provider, error) {
	info, ch := c.infos[i], c.chunks[i]
	p := &Provider{ID: info.ID, Name: info.Name, Env: info.Env, NPM: info.NPM, API: info.API}
	raw := make([]byte, ch.raw)
	r := flate.NewReader(bytes.NewReader(c.data[ch.off : ch.off+ch.size]))
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, errors.New("damaged chunk")
	}
	p.Models = make([]Model, 0, min(info.Count, ch.raw/modelFields))
	var sets variantSets
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if set, ok := strings.CutPrefix(line, "V\t"); ok {
			sets = append(sets, variantSet{raw: set})
			continue
		}
		m, err := decodeModel(line, sets)
		if err != nil {
			return nil, err
		}
		p.Models = append(p.Models, m)
	}
	return p, nil
}

func encodeModels(p *Provider) ([]byte, error) {
	var sets, lines bytes.Buffer
	index := map[string]int{}
	for i := range p.Models {
		m := &p.Models[i]
		variants := ""
		if m.HasVariants {
			set, err := encodeVariants(m.Variants)
			if err != nil {
				return nil, err
			}
			n, ok := index[set]
			if !ok {
				n = len(index)
				index[set] = n
				writeLine(&sets, "V", set)
			}
			variants = strconv.Itoa(n)
		}
		if err := encodeModel(&lines, m, variants); err != nil {
			return nil, fmt.Errorf("%s: %w", m.ID, err)
		}
	}
	return append(sets.Bytes(), lines.Bytes()...), nil
}

func encodeVariants(vs []Variant) (string, error) {
	pairs := make([][2]any, len(vs))
	for i, v := range vs {
		pairs[i] = [2]any{v.Name, v.Options}
	}
	b, err := json.Marshal(pairs)
	return string(b), err
}

// variantSets are decoded once each; models share them.
type variantSets []variantSet

type variantSet struct {
	raw  string
	list []Variant
	done bool
}

func (s variantSets) get(n int) (list []Variant, err error) {
	if !s[n].done {
		if s[n].list, err = decodeVariants(s[n].raw); err != nil {
			return nil, err
		}
		s[n].done = true
	}
	return s[n].list, nil
}

func decodeVariants(set string) ([]Variant, error) {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal([]byte(set), &pairs); err != nil {
		return nil, errors.New("variants are not JSON")
	}
	vs := make([]Variant, len(pairs))
	for i, p := range pairs {
		if json.Unmarshal(p[0], &vs[i].Name) != nil || json.Unmarshal(p[1], &vs[i].Options) != nil {
			return nil, errors.New("a variant is not a name and options")
		}
	}
	return vs, nil
}

func encodeModel(buf *bytes.Buffer, m *Model, variants string) error {
	var caps strings.Builder
	for i, on := range []bool{m.Attachment, m.Reasoning, m.Temperature, m.ToolCall} {
		if on {
			caps.WriteByte("arte"[i])
		}
	}
	over := ""
	if m.Cost.Over200K != nil {
		over = encodePrices(*m.Cost.Over200K)
	}
	var tiers []string
	for _, t := range m.Cost.Tiers {
		tiers = append(tiers, strconv.FormatInt(t.Size, 10)+" "+encodePrices(t.Prices))
	}
	options, err := encodeJSON(len(m.Options), m.Options)
	headers, err2 := encodeJSON(len(m.Headers), m.Headers)
	reasoning, err3 := encodeJSON(len(m.ReasoningOptions), m.ReasoningOptions)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	writeLine(buf, m.ID, m.APIID, m.Name, m.Family, m.Released, m.Status, m.NPM, m.API, caps.String(), m.Interleaved,
		strconv.Itoa(int(m.Input)), strconv.Itoa(int(m.Output)),
		strconv.Itoa(m.Limit.Context), strconv.Itoa(m.Limit.Input), strconv.Itoa(m.Limit.Output),
		encodePrices(m.Cost.Prices), over, strings.Join(tiers, ";"), options, headers, reasoning, variants)
	return nil
}

func encodeJSON(n int, v any) (string, error) {
	if n == 0 {
		return "", nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}

func decodeModel(line string, sets variantSets) (Model, error) {
	f := strings.Split(line, "\t")
	if len(f) != modelFields {
		return Model{}, fmt.Errorf("model line of %d fields", len(f))
	}
	r := fieldReader{}
	m := Model{
		ID: f[0], APIID: f[1], Name: f[2], Family: f[3], Released: f[4], Status: f[5], NPM: f[6], API: f[7],
		Attachment: strings.Contains(f[8], "a"), Reasoning: strings.Contains(f[8], "r"),
		Temperature: strings.Contains(f[8], "t"), ToolCall: strings.Contains(f[8], "e"),
		Interleaved: f[9], Input: Modality(r.num(f[10], 255)), Output: Modality(r.num(f[11], 255)),
		Limit: Limit{r.num(f[12], maxLimit), r.num(f[13], maxLimit), r.num(f[14], maxLimit)},
	}
	m.Cost.Prices = r.prices(f[15])
	if f[16] != "" {
		p := r.prices(f[16])
		m.Cost.Over200K = &p
	}
	for _, t := range strings.FieldsFunc(f[17], func(c rune) bool { return c == ';' }) {
		size, rest, _ := strings.Cut(t, " ")
		m.Cost.Tiers = append(m.Cost.Tiers, Tier{int64(r.num(size, maxLimit)), r.prices(rest)})
	}
	r.json(f[18], &m.Options)
	r.json(f[19], &m.Headers)
	r.json(f[20], &m.ReasoningOptions)
	if f[21] != "" {
		n := r.num(f[21], len(sets)-1)
		if r.err == nil {
			m.HasVariants = true
			m.Variants, r.err = sets.get(n)
		}
	}
	return m, r.err
}

const maxLimit = 1 << 40

// fieldReader remembers the first field that did not decode.
type fieldReader struct{ err error }

func (r *fieldReader) num(s string, limit int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > limit {
		r.err = fmt.Errorf("bad number %.20q", s)
		return 0
	}
	return n
}

func (r *fieldReader) prices(s string) lathe.Prices {
	var n [5]lathe.Price
	i := 0
	for part := range strings.SplitSeq(s, ",") {
		if i < len(n) && part != "" {
			n[i] = lathe.Price(r.num(part, 1e12))
		}
		i++
	}
	return lathe.Prices{Input: n[0], Output: n[1], CacheRead: n[2], CacheWrite: n[3], Reasoning: n[4]}
}

func (r *fieldReader) json(s string, v any) {
	if s == "" || r.err != nil {
		return
	}
	if json.Unmarshal([]byte(s), v) != nil {
		r.err = errors.New("a field is not the JSON it should be")
	}
}

func encodePrices(p lathe.Prices) string {
	var b strings.Builder
	for i, n := range []lathe.Price{p.Input, p.Output, p.CacheRead, p.CacheWrite, p.Reasoning} {
		if i > 0 {
			b.WriteByte(',')
		}
		if n != 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
		}
	}
	return strings.TrimRight(b.String(), ",")
}

func writeLine(buf *bytes.Buffer, fields ...string) {
	for i, f := range fields {
		if i > 0 {
			buf.WriteByte('\t')
		}
		buf.WriteString(strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(f))
	}
	buf.WriteByte('\n')
}
