package session

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

func picture(t *testing.T, w, h int, noise bool) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	rng := rand.New(rand.NewPCG(1, 2))
	for y := range h {
		for x := range w {
			c := color.RGBA{uint8(x), uint8(y), 0, 255}
			if noise {
				c = color.RGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestNormaliseImages(t *testing.T) {
	small := picture(t, 10, 20, false)
	l := imageLimits{resize: true, width: 50, height: 50, base64: 4000}
	got, mime, err := l.normalise(small, "image/png")
	if err != nil || mime != "image/png" || !bytes.Equal(got, small) {
		t.Errorf("a picture within the limits was changed: %s, %v", mime, err)
	}
	for name, in := range map[string][]byte{"too wide": picture(t, 200, 10, false), "too many bytes": picture(t, 50, 50, true)} {
		got, mime, err := l.normalise(in, "image/png")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		conf, format, err := image.DecodeConfig(bytes.NewReader(got))
		if err != nil || "image/"+format != mime || conf.Width > 50 || conf.Height > 50 || !l.fits(got) {
			t.Errorf("%s: %s %dx%d, %d bytes, %v", name, mime, conf.Width, conf.Height, len(got), err)
		}
	}
	l.resize = false
	if _, _, err := l.normalise(picture(t, 200, 10, false), "image/png"); err == nil {
		t.Error("a large picture passed although it must not be resized")
	}
	if _, _, err := l.normalise([]byte("no picture"), "image/png"); err == nil {
		t.Error("garbage passed")
	}
}

func TestMeanColour(t *testing.T) {
	img := image.NewRGBA(image.Rect(5, 5, 7, 6))
	img.SetRGBA(5, 5, color.RGBA{0, 100, 200, 255})
	img.SetRGBA(6, 5, color.RGBA{100, 200, 0, 255})
	if got := resize(img, 1, 1).At(0, 0); got != (color.RGBA{50, 150, 100, 255}) {
		t.Errorf("mean is %v", got)
	}
}
