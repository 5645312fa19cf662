package codec

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// packFrom is the size from which a document is compressed in its row. The first
// byte distinguishes the forms; a document that starts with the mark itself is
// compressed too.
const (
	packFrom = 8 << 10
	packMark = 0x01
)

// Packer compresses documents. Its zero value is ready, and may be used concurrently.
type Packer struct{ zips sync.Pool } // of *flate.Writer

// Pack returns what to store for a document: text, or compressed bytes.
func (p *Packer) Pack(doc []byte) any {
	if len(doc) < packFrom && !bytes.HasPrefix(doc, []byte{packMark}) {
		return string(doc)
	}
	var b bytes.Buffer
	b.WriteByte(packMark)
	w, ok := p.zips.Get().(*flate.Writer)
	if !ok {
		w, _ = flate.NewWriter(io.Discard, flate.BestSpeed) // the level is valid
	}
	defer p.zips.Put(w)
	w.Reset(&b)
	w.Write(doc) // writing to a buffer cannot fail
	w.Close()
	return b.Bytes()
}

// Unpack returns the document given to [Packer.Pack].
func Unpack(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != packMark {
		return data, nil
	}
	r := flate.NewReader(bytes.NewReader(data[1:]))
	out, err := io.ReadAll(io.LimitReader(r, MaxBody))
	if err != nil {
		return nil, fmt.Errorf("decompress row: %w", err)
	}
	return out, nil
}
