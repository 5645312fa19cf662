package session

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoders
	"image/jpeg"
	"image/png"

	"lathe/internal/config"
)

const (
	maxPixels     = 80 << 20 // of a picture that is decoded
	imageSide     = 2000
	imageBytes    = 5 << 20 // of base64
	imageAttempts = 32
)

// imageLimits bound the pictures sent to a model.
type imageLimits struct {
	resize        bool
	width, height int
	base64        int
}

func limitsOfImages(c config.Attachment) imageLimits {
	l := imageLimits{resize: true, width: imageSide, height: imageSide, base64: imageBytes}
	if r := c.Image.AutoResize; r != nil {
		l.resize = *r
	}
	if n := c.Image.MaxWidth; n > 0 {
		l.width = n
	}
	if n := c.Image.MaxHeight; n > 0 {
		l.height = n
	}
	if n := c.Image.MaxBase64Bytes; n > 0 {
		l.base64 = n
	}
	return l
}

func (l imageLimits) fits(data []byte) bool {
	return base64.StdEncoding.EncodedLen(len(data)) <= l.base64
}

// normalise returns a picture within the limits: unchanged if it fits, else a
// smaller one as PNG or JPEG.
func (l imageLimits) normalise(data []byte, mime string) ([]byte, string, error) {
	if mime == "application/pdf" {
		return data, mime, nil
	}
	conf, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		if mime == "image/webp" && l.fits(data) { // cannot be measured here; models can read it
			return data, mime, nil
		}
		return nil, "", fmt.Errorf("the picture (%s) cannot be read: %w", mime, err)
	}
	if conf.Width <= l.width && conf.Height <= l.height && l.fits(data) {
		return data, mime, nil
	}
	if !l.resize {
		return nil, "", fmt.Errorf("the picture has %d × %d pixels and %d bytes; the limit is %d × %d and %d bytes of base64",
			conf.Width, conf.Height, len(data), l.width, l.height, l.base64)
	}
	if conf.Width <= 0 || conf.Height <= 0 || int64(conf.Width)*int64(conf.Height) > maxPixels {
		return nil, "", fmt.Errorf("a picture of %d × %d pixels is too large to make smaller", conf.Width, conf.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, "", fmt.Errorf("the picture (%s) cannot be read: %w", mime, err)
	}
	return l.shrink(img)
}

// shrink makes a picture smaller until it fits.
func (l imageLimits) shrink(img image.Image) ([]byte, string, error) {
	size := img.Bounds().Size()
	scale := min(1, float64(l.width)/float64(size.X), float64(l.height)/float64(size.Y))
	for range imageAttempts {
		w, h := max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale))
		small := resize(img, w, h)
		if data, mime, ok := l.encode(small); ok {
			return data, mime, nil
		}
		if w == 1 && h == 1 {
			break
		}
		scale *= 0.75
	}
	return nil, "", errors.New("the picture cannot be made small enough")
}

// encode tries formats from the best to the smallest.
func (l imageLimits) encode(img image.Image) ([]byte, string, bool) {
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err == nil && l.fits(buf.Bytes()) {
		return buf.Bytes(), "image/png", true
	}
	for _, quality := range []int{80, 85, 70, 55, 40} {
		buf = bytes.Buffer{}
		if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: quality}); err == nil && l.fits(buf.Bytes()) {
			return buf.Bytes(), "image/jpeg", true
		}
	}
	return nil, "", false
}

// resize scales a picture down: each new pixel is the mean of the old ones that
// it covers.
func resize(src image.Image, w, h int) image.Image {
	b := src.Bounds()
	if b.Dx() == w && b.Dy() == h {
		return src
	}
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := b.Min.Y+y*b.Dy()/h, b.Min.Y+max((y+1)*b.Dy()/h, y*b.Dy()/h+1)
		for x := range w {
			x0, x1 := b.Min.X+x*b.Dx()/w, b.Min.X+max((x+1)*b.Dx()/w, x*b.Dx()/w+1)
			dst.SetRGBA(x, y, mean(src, x0, y0, x1, y1))
		}
	}
	return dst
}

func mean(src image.Image, x0, y0, x1, y1 int) color.RGBA {
	var r, g, b, a, n uint64
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			pr, pg, pb, pa := src.At(x, y).RGBA()
			r, g, b, a, n = r+uint64(pr), g+uint64(pg), b+uint64(pb), a+uint64(pa), n+1
		}
	}
	return color.RGBA{uint8(r / n >> 8), uint8(g / n >> 8), uint8(b / n >> 8), uint8(a / n >> 8)}
}
