package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/styled"
)

func encode(t testing.TB, img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBlocks(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 30, 20))
	for x := range 30 {
		for y := range 20 {
			switch {
			case x < 10 && y < 10:
				img.Set(x, y, color.RGBA{255, 0, 0, 255})
			case x < 20:
				img.Set(x, y, color.RGBA{0, 0, 255, 255})
			}
		}
	}
	p, err := Decode(encode(t, img), 7, Blocks)
	if err != nil {
		t.Fatal(err)
	}
	want := []styled.Line{{
		{Text: "▀", Style: "38;2;255;0;0;48;2;0;0;255"}, {Text: " ", Style: "48;2;0;0;255"}, {Text: " "},
	}}
	if diff := cmp.Diff(want, p.Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if p.Transmit() != "" {
		t.Error("half blocks are handed over")
	}
}

func TestKitty(t *testing.T) {
	p, err := Decode(encode(t, image.NewRGBA(image.Rect(0, 0, 4000, 100))), 0x01020300, Kitty)
	if err != nil {
		t.Fatal(err)
	}
	lines := p.Lines()
	if len(lines) != 1 || lines[0].Width(styled.Grapheme) != maxWidth || lines[0].Width(styled.WcWidth) != maxWidth || lines[0][0].Style != "38;2;2;3;1" {
		t.Errorf("%d lines, the first %d wide in %q", len(lines), lines[0].Width(styled.Grapheme), lines[0][0].Style)
	}
	seq := p.Transmit()
	if !strings.HasPrefix(seq, "\x1b_Ga=T,U=1,f=100,q=2,i=131841,c=40,r=1,m=0;") || !strings.HasSuffix(seq, "\x1b\\") {
		t.Errorf("it is handed over as %.80q", seq)
	}
}

func TestFit(t *testing.T) {
	for _, tt := range []struct{ w, h, x, y int }{
		{1, 1, 1, 1}, {400, 280, 40, 14}, {4000, 2800, 40, 14}, {280, 2800, 3, 14}, {100, 40, 10, 2}, {100000, 1, 40, 1},
	} {
		if got := fit(tt.w, tt.h); got != image.Pt(tt.x, tt.y) {
			t.Errorf("%dx%d takes %v, want %dx%d", tt.w, tt.h, got, tt.x, tt.y)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, image.NewGray(image.Rect(0, 0, 3, 70))))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00"))
	f.Add([]byte("\xff\xd8\xff\xe0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range []Mode{Blocks, Kitty} {
			p, err := Decode(data, 1, m)
			if err != nil {
				continue
			}
			for _, l := range p.Lines() {
				if w := l.Width(styled.WcWidth); w > maxWidth {
					t.Fatalf("a line is %d wide", w)
				}
			}
		}
	})
}
