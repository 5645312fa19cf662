//go:build linux

package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/llm/llmtest"
)

// BenchmarkVersion is the time to start: `lathe --version`, beside a Go program
// that ends at once.
func BenchmarkVersion(b *testing.B) {
	p := newPlace(b)
	p.lathe("--version")
	var got, base cost
	n := 0
	for b.Loop() {
		got.add(p.lathe("--version"))
		base.add(p.floor("exit"))
		n++
	}
	report(b, n, "", got, base)
}

// BenchmarkHello is a one-shot `lathe run` with an answer of one word.
func BenchmarkHello(b *testing.B) {
	p := newPlace(b)
	s := p.serve(llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("hello")}, Times: 1 << 30}})
	p.lathe("run", "hello")
	var got, base cost
	n := 0
	for b.Loop() {
		got.add(p.lathe("run", "hello"))
		base.add(p.floor(s.URL))
		n++
	}
	report(b, n, "", got, base)
}

// BenchmarkToolStep is what one step with a command adds to a run.
func BenchmarkToolStep(b *testing.B) {
	const steps = 50
	p := newPlace(b)
	var got, base cost
	script := func() llmtest.Script {
		return llmtest.Script{
			{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"true","description":"nothing"}`}}, Times: steps},
			{Blocks: []llmtest.Block{llmtest.Text("done")}},
		}
	}
	args := []string{"run", "--permission", "allow", "work"}
	n := 0
	for b.Loop() {
		s := p.serve(append(script(), script()...))
		got.add(p.lathe(args...))
		base.add(p.floor(s.URL))
		p.serve(llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("done")}, Times: 2}})
		empty := p.lathe(args...)
		got.wall, got.cpu = got.wall-empty.wall, got.cpu-empty.cpu
		n += steps
	}
	report(b, n, "/step", got, base)
}

// BenchmarkStream is an answer of 20,000 deltas. Bytes written are all but those
// to standard output and error, and those that a run with a short answer writes
// as well (its request, the session).
func BenchmarkStream(b *testing.B) {
	const deltas = 20_000
	random := rand.New(rand.NewPCG(1, 2))
	// What repeats is compressed, and what was stored before is not stored again.
	fresh := func() string {
		var words strings.Builder
		for range deltas {
			fmt.Fprintf(&words, "%04x ", random.Uint32N(1<<16))
		}
		return words.String()
	}
	p := newPlace(b)
	p.serve(llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("hello")}}})
	p.lathe("run", "warm up")
	var got, short, base cost
	n := 0
	for b.Loop() {
		p.serve(llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("hello")}}})
		short.add(p.lathe("run", "talk"))
		s := p.serve(llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text(fresh())}, Times: 2}})
		got.add(p.lathe("run", "talk"))
		base.add(p.floor(s.URL))
		n++
	}
	report(b, n, "", got, base)
	b.ReportMetric(float64((got.wrote-got.out)-(short.wrote-short.out))/float64(n*deltas*len("0123 ")), "written/text")
}
