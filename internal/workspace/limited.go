package workspace

import "bytes"

// Limited keeps the first Max bytes that are written to it. Writes never fail, so
// that a program whose output it takes is not disturbed.
type Limited struct {
	Max int
	buf bytes.Buffer // not embedded: its ReadFrom knows no limit
	cut bool
}

func (l *Limited) Write(p []byte) (int, error) {
	room := l.Max - l.buf.Len()
	l.cut = l.cut || len(p) > room
	l.buf.Write(p[:min(len(p), room)])
	return len(p), nil
}

// Bytes returns what was kept; it is valid until the next write.
func (l *Limited) Bytes() []byte { return l.buf.Bytes() }

// String returns what was kept.
func (l *Limited) String() string { return l.buf.String() }

// Cut reports whether more was written than was kept.
func (l *Limited) Cut() bool { return l.cut }
