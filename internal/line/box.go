package line

import (
	"crypto/ecdh"
	"errors"
)

// Box opens what others seal for this process. Its key is in memory alone, so that no copy of
// the database tells later what lay in it.
type Box struct{ key *ecdh.PrivateKey }

// NewBox returns a box with a new key.
func NewBox() (*Box, error) {
	key, err := newKey()
	return &Box{key}, err
}

// Key is what others seal with.
func (b *Box) Key() []byte { return b.key.PublicKey().Bytes() }

// Sealed is something that was sealed for one box, and the way to answer it.
type Sealed struct{ Key, Data []byte }

// Seal seals data for the box that has a key. Read opens the answer, once.
func Seal(key, data []byte) (out Sealed, read func(answer []byte) ([]byte, error), err error) {
	own, err := newKey()
	if err != nil {
		return out, nil, err
	}
	out.Key = own.PublicKey().Bytes()
	asked, answered, err := agree(own, key, out.Key)
	if err != nil {
		return out, nil, err
	}
	out.Data = asked.seal(data)
	return out, answered.open, nil
}

// Open returns what was sealed for the box. Answer seals the answer, once.
func (b *Box) Open(in Sealed) (data []byte, answer func(data []byte) []byte, err error) {
	asked, answered, err := agree(b.key, in.Key, in.Key)
	if err == nil {
		data, err = asked.open(in.Data)
	}
	if err != nil {
		return nil, nil, errors.New("what was sealed for another process, or changed, cannot be opened")
	}
	return data, answered.seal, nil
}
