package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"lathe"
)

// secretSize is that of a secret, in bytes.
const secretSize = 32

// NewSecret returns a secret as [ParseSecrets] reads it: 256 random bits.
func NewSecret() string {
	var raw [secretSize]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return base64.StdEncoding.EncodeToString(raw[:])
}

// Secrets seal and open keys: the first seals, and all of them open what they have sealed.
// They are safe for concurrent use. None of them is ever shown.
type Secrets struct{ all []secret }

type secret struct {
	id   string // names it in the store, and tells nothing of it
	aead cipher.AEAD
}

// ParseSecrets reads secrets of 32 bytes in Base64, the newest first, with white space or
// commas between them. Where says in errors where the text comes from, which they never repeat.
func ParseSecrets(where, text string) (*Secrets, error) {
	s := &Secrets{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		raw, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(word, "=")))
		if err != nil || len(raw) != secretSize {
			return nil, lathe.Errorf(lathe.CodeInvalid, "make one with: lathe user key secret", "secret %d of %s is not 32 bytes in Base64", len(s.all)+1, where)
		}
		one, err := newSecret(raw)
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, one)
	}
	if len(s.all) == 0 {
		return nil, lathe.Errorf(lathe.CodeInvalid, "make one with: lathe user key secret", "%s holds no secret", where)
	}
	return s, nil
}

func newSecret(raw []byte) (s secret, err error) {
	id, err := hkdf.Key(sha256.New, raw, nil, "lathe provider keys: name", 8)
	if err != nil {
		return s, err
	}
	key, err := hkdf.Key(sha256.New, raw, nil, "lathe provider keys: AES-256-GCM", 32)
	if err != nil {
		return s, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return s, err
	}
	s.id = hex.EncodeToString(id)
	s.aead, err = cipher.NewGCMWithRandomNonce(block)
	return s, err
}

// newest returns the name of the secret that seals.
func (s *Secrets) newest() string { return s.all[0].id }

// has reports whether the secret of this name is there.
func (s *Secrets) has(id string) bool {
	return slices.ContainsFunc(s.all, func(one secret) bool { return one.id == id })
}

// seal encrypts a text for one place: it opens nowhere else.
func (s *Secrets) seal(place, text []byte) (id string, sealed []byte) {
	return s.all[0].id, s.all[0].aead.Seal(nil, nil, text, place)
}

// open decrypts what was sealed for a place. Known is false if the secret is not there.
func (s *Secrets) open(id string, place, sealed []byte) (text []byte, known bool, err error) {
	for _, one := range s.all {
		if one.id == id {
			text, err = one.aead.Open(nil, nil, sealed, place)
			return text, true, err
		}
	}
	return nil, false, nil
}
