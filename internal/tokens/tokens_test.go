package tokens

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// corpus holds what two public vocabularies make of each file of testdata/corpus.
// The counts were made once, with the gpt-tokenizer package.
var corpus = []struct {
	file          string
	o200k, cl100k int64
}{
	{"chinese.txt", 213, 322},
	{"code.go.txt", 469, 476},
	{"english.txt", 186, 186},
	{"japanese.txt", 253, 351},
	{"json.txt", 327, 332},
	{"minified.txt", 317, 313},
	{"output.txt", 326, 329},
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "corpus", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func off(got, want int64) float64 { return math.Abs(float64(got)/float64(want) - 1) }

// TestCorpus holds the bounds: within 15 % of o200k without any correction, and
// within 10 % of either vocabulary once the factor was learned from one report on
// a text of the same kind.
func TestCorpus(t *testing.T) {
	for _, c := range corpus {
		text := read(t, c.file)
		n := int64(Count(text))
		quarter := int64(utf8.RuneCountInString(text) / 4)
		t.Logf("%-14s estimate %4d, o200k %4d (%+.0f %%), cl100k %4d, characters/4 %4d (%+.0f %%)", c.file, n, c.o200k,
			100*(float64(n)/float64(c.o200k)-1), c.cl100k, quarter, 100*(float64(quarter)/float64(c.o200k)-1))
		if off(n, c.o200k) > 0.15 {
			t.Errorf("%s: estimate %d is more than 15 %% off %d", c.file, n, c.o200k)
		}
		for _, ref := range []int64{c.o200k, c.cl100k} {
			var k Correction
			half := len(text) / 2
			for !utf8.RuneStart(text[half]) {
				half++
			}
			k.Observe(n, ref)
			if got := k.Apply(int64(Count(text[:half]) + Count(text[half:]))); off(got, ref) > 0.10 {
				t.Errorf("%s: corrected estimate %d is more than 10 %% off %d", c.file, got, ref)
			}
		}
	}
}

func TestCountKnown(t *testing.T) {
	for text, want := range map[string]int{"": 0, "hello": 2, "你好": 2, "    ": 2} {
		if got := Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}

// TestCountOfParts holds that a text costs about what its lines cost, so that
// counting part by part is right.
func TestCountOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		whole, sum := Count(a+"\n"+b), Count(a)+Count(b)
		if whole > sum+3 || sum > whole+4 {
			t.Errorf("%d whole, %d in parts", whole, sum)
		}
	})
}

func TestCorrection(t *testing.T) {
	c := NewCorrection(99)
	if c.Factor() != 1 {
		t.Errorf("an implausible factor was kept: %v", c.Factor())
	}
	c.Observe(1000, 0)
	c.Observe(1000, 10)
	c.Observe(1000, 9000)
	if c.Factor() != 1 {
		t.Errorf("implausible reports taught %v", c.Factor())
	}
	c.Observe(1000, 1500)
	if got := c.Apply(100); got != 150 {
		t.Errorf("after one report Apply(100) = %d, want 150", got)
	}
	for range 20 {
		c.Observe(1000, 800)
	}
	if got := c.Apply(100); got != 80 {
		t.Errorf("after many reports Apply(100) = %d, want 80", got)
	}
}

func FuzzCount(f *testing.F) {
	for _, c := range corpus {
		f.Add(read(f, c.file))
	}
	f.Add("\xff\xfe\x80aB9é \n\t")
	f.Fuzz(func(t *testing.T, s string) {
		if n := Count(s); n < 0 || n > 3*len(s)+1 {
			t.Errorf("Count of %d bytes is %d", len(s), n)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	for _, c := range corpus {
		text := strings.Repeat(read(b, c.file), 20)
		b.Run(c.file, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Count(text)
			}
		})
	}
}
