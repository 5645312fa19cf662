// Package picture draws pictures on terminals: with the kitty protocol where a
// terminal understands its placeholders, else with half blocks in colour, which
// are text and survive multiplexers, scrolling and resizing.
package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoders
	_ "image/jpeg"
	"image/png"
	"strings"

	"github.com/charmbracelet/x/ansi/kitty"

	"lathe/internal/tui/styled"
)

const (
	maxBytes  = 16 << 20
	maxPixels = 40 << 20
	// Cells that a picture takes at most.
	maxWidth, maxHeight = 40, 14
	// Pixels of a cell that are sent with the kitty protocol.
	cellWidth, cellHeight = 10, 20
	chunk                 = 4096 // bytes of base64 in one sequence
)

// Mode is how a terminal shows pictures.
type Mode int

// The modes.
const (
	None   Mode = iota // not at all
	Blocks             // as half blocks
	Kitty              // with the kitty protocol
)

// Picture is a picture that was made small enough to show.
type Picture struct {
	id    uint32
	cells image.Point // its size
	half  *image.RGBA // one pixel for each half of a cell
	fine  *image.RGBA // for the kitty protocol
}

// Decode reads a PNG, JPEG or GIF. The id identifies the picture on the terminal.
func Decode(data []byte, id uint32, m Mode) (*Picture, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the picture has more than %d MB", maxBytes>>20)
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read a picture: %w", err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxPixels/c.Height {
		return nil, errors.New("the picture is too large to be shown")
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read a picture: %w", err)
	}
	p := &Picture{id: id&0xffffff | 1, cells: fit(c.Width, c.Height)}
	if m == Kitty {
		p.fine = scale(img, p.cells.X*cellWidth, p.cells.Y*cellHeight)
	} else {
		p.half = scale(img, p.cells.X, p.cells.Y*2)
	}
	return p, nil
}

// fit returns the size of a picture in cells: its own size, or the largest allowed.
// A cell is twice as high as it is wide.
func fit(w, h int) image.Point {
	k := min(1, float64(maxWidth*cellWidth)/float64(w), float64(maxHeight*cellHeight)/float64(h))
	return image.Pt(max(1, int(float64(w)*k/cellWidth+0.5)), max(1, int(float64(h)*k/cellHeight+0.5)))
}

// scale returns the picture with another size. A pixel is the mean of at most
// sixteen of the picture.
func scale(img image.Image, w, h int) *image.RGBA {
	b := img.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			x0, x1 := b.Min.X+x*b.Dx()/w, b.Min.X+max((x+1)*b.Dx()/w, x*b.Dx()/w+1)
			y0, y1 := b.Min.Y+y*b.Dy()/h, b.Min.Y+max((y+1)*b.Dy()/h, y*b.Dy()/h+1)
			out.SetRGBA(x, y, mean(img, x0, y0, x1, y1))
		}
	}
	return out
}

func mean(img image.Image, x0, y0, x1, y1 int) color.RGBA {
	var sum [4]uint32
	n := uint32(0)
	for y := y0; y < y1; y += max(1, (y1-y0)/4) {
		for x := x0; x < x1; x += max(1, (x1-x0)/4) {
			r, g, b, a := img.At(x, y).RGBA()
			for i, v := range []uint32{r, g, b, a} {
				sum[i] += v >> 8
			}
			n++
		}
	}
	return color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), uint8(sum[3] / n)}
}

// Lines returns the picture as lines of text.
func (p *Picture) Lines() []styled.Line {
	if p.fine != nil {
		return p.placeholders()
	}
	out := make([]styled.Line, p.cells.Y)
	for y := range out {
		for x := range p.cells.X {
			s := block(p.half.RGBAAt(x, 2*y), p.half.RGBAAt(x, 2*y+1))
			if n := len(out[y]); n > 0 && out[y][n-1].Style == s.Style && out[y][n-1].Text[:1] == s.Text[:1] {
				out[y][n-1].Text += s.Text
				continue
			}
			out[y] = append(out[y], s)
		}
	}
	return out
}

// block draws the two halves of a cell.
func block(top, bottom color.RGBA) styled.Span {
	up, down := top.A >= 128, bottom.A >= 128
	paint := func(what string, c color.RGBA) styled.Style {
		return styled.Style(fmt.Sprintf("%s;2;%d;%d;%d", what, c.R, c.G, c.B))
	}
	switch {
	case !up && !down:
		return styled.Span{Text: " "}
	case !up:
		return styled.Span{Text: "▄", Style: paint("38", bottom)}
	case !down:
		return styled.Span{Text: "▀", Style: paint("38", top)}
	case top == bottom:
		return styled.Span{Text: " ", Style: paint("48", top)}
	}
	return styled.Span{Text: "▀", Style: paint("38", top).With(paint("48", bottom))}
}

// placeholders stand for the cells of a picture that the terminal holds; their
// colour says which picture.
func (p *Picture) placeholders() []styled.Line {
	style := styled.Style(fmt.Sprintf("38;2;%d;%d;%d", p.id>>16&255, p.id>>8&255, p.id&255))
	out := make([]styled.Line, p.cells.Y)
	for y := range out {
		var b strings.Builder
		for x := range p.cells.X {
			b.WriteRune(kitty.Placeholder)
			b.WriteRune(kitty.Diacritic(y))
			b.WriteRune(kitty.Diacritic(x))
		}
		out[y] = styled.Line{{Text: b.String(), Style: style}}
	}
	return out
}

// Transmit returns the sequence that sends the picture to the terminal, before
// its lines are shown; nothing if the lines are all there is.
func (p *Picture) Transmit() string {
	if p.fine == nil {
		return ""
	}
	var data bytes.Buffer
	if png.Encode(&data, p.fine) != nil {
		return ""
	}
	text := base64.StdEncoding.EncodeToString(data.Bytes())
	var b strings.Builder
	head := fmt.Sprintf("a=T,U=1,f=100,q=2,i=%d,c=%d,r=%d,", p.id, p.cells.X, p.cells.Y)
	for text != "" {
		n := min(chunk, len(text))
		more := 0
		if n < len(text) {
			more = 1
		}
		fmt.Fprintf(&b, "\x1b_G%sm=%d;%s\x1b\\", head, more, text[:n])
		head, text = "", text[n:]
	}
	return b.String()
}
