package printable

// Colour is one that a program asked for. The zero value is the terminal's own.
type Colour uint32

const (
	fromPalette Colour = 1 << 24
	fromRGB     Colour = 2 << 24
)

// Indexed returns a colour of the palette of 256.
func Indexed(n int) Colour { return fromPalette | Colour(min(max(n, 0), 255)) }

// RGB returns a colour by its components.
func RGB(r, g, b uint8) Colour {
	return fromRGB | Colour(r)<<16 | Colour(g)<<8 | Colour(b)
}

// Index returns the number of a colour of the palette.
func (c Colour) Index() (n int, ok bool) { return int(c & 0xff), c&fromPalette != 0 }

// Components returns the components of a colour; those of the palette's first sixteen and of
// the terminal's own colour are the terminal's affair.
func (c Colour) Components() (r, g, b uint8, ok bool) {
	if c&fromRGB != 0 {
		return uint8(c >> 16), uint8(c >> 8), uint8(c), true
	}
	n, ok := c.Index()
	switch {
	case !ok || n < 16:
		return 0, 0, 0, false
	case n >= 232:
		v := uint8(8 + 10*(n-232))
		return v, v, v, true
	}
	level := func(i int) uint8 {
		if i == 0 {
			return 0
		}
		return uint8(55 + 40*i)
	}
	n -= 16
	return level(n / 36), level(n / 6 % 6), level(n % 6), true
}

// Grey is what [Colour.Basic] returns for a grey that sets text back.
const Grey = 8

// Basic returns the one of six colours that comes nearest, by its number in every palette: 1 red,
// 2 green, 3 yellow, 4 blue, 5 magenta, 6 cyan; [Grey] for a grey; 0 for the terminal's own colour,
// black and white, which programs choose for a background that they do not know.
func (c Colour) Basic() int {
	if n, ok := c.Index(); ok && n < 16 {
		if n%8 == 7 {
			return 0
		}
		if n == Grey {
			return Grey
		}
		return n % 8
	}
	r, g, b, ok := c.Components()
	if !ok {
		return 0
	}
	top, low := max(r, g, b), min(r, g, b)
	if top-low < 40 {
		if top < 64 || top >= 192 {
			return 0
		}
		return Grey
	}
	half, n := (int(top)+int(low))/2, 0
	for i, v := range []uint8{r, g, b} {
		if int(v) > half {
			n += 1 << i
		}
	}
	return n
}
