package line

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
)

// sealer seals what goes one way, each piece with its number: a piece that is missing, doubled
// or out of order cannot be opened.
type sealer struct {
	aead cipher.AEAD
	n    uint64
}

// nonce is that of the next piece.
func (s *sealer) nonce() []byte {
	out := make([]byte, s.aead.NonceSize())
	binary.BigEndian.PutUint64(out[len(out)-8:], s.n)
	s.n++
	return out
}

func (s *sealer) seal(data []byte) []byte { return s.aead.Seal(nil, s.nonce(), data, nil) }

func (s *sealer) open(sealed []byte) ([]byte, error) { return s.aead.Open(nil, s.nonce(), sealed, nil) }

// newKey is one end's part of a key. It is used for one line.
func newKey() (*ecdh.PrivateKey, error) { return ecdh.X25519().GenerateKey(rand.Reader) }

// agree returns what seals both ways of a line, from the key of this end and that of the other.
// Asked is the key of the end that asked for the line.
func agree(own *ecdh.PrivateKey, other, asked []byte) (typed, shown *sealer, err error) {
	theirs, err := ecdh.X25519().NewPublicKey(other)
	if err != nil {
		return nil, nil, err
	}
	secret, err := own.ECDH(theirs)
	if err != nil {
		return nil, nil, err
	}
	if typed, err = oneWay(secret, asked, "lathe terminal, typed"); err == nil {
		shown, err = oneWay(secret, asked, "lathe terminal, shown")
	}
	return typed, shown, err
}

func oneWay(secret, salt []byte, way string) (*sealer, error) {
	key, err := hkdf.Key(sha256.New, secret, salt, way, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{aead: aead}, err
}
