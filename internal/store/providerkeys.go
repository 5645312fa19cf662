package store

import (
	"context"
	"time"
)

// ProviderKey is a key that a person has for a provider of models, sealed so that the store
// cannot read it.
type ProviderKey struct {
	Person, Provider string
	Secret           string // names what it is sealed with
	Sealed           []byte
	Hint             string // the last characters of the key, at most four
	Changed          time.Time
}

// ProviderKeys keeps what people have for providers.
type ProviderKeys interface {
	// PutProviderKey stores a key in place of the one that the person has for the provider.
	// The error is [ErrNotFound] if there is no such person.
	PutProviderKey(ctx context.Context, k ProviderKey) error
	// ResealProviderKey replaces a key by the same one, sealed with another secret, unless it
	// has changed since it was read.
	ResealProviderKey(ctx context.Context, old, sealed ProviderKey) error
	// RemoveProviderKey removes a key. The error is [ErrNotFound] for one that is not there.
	RemoveProviderKey(ctx context.Context, person, provider string) error
	// ProviderKeys returns the keys of a person by provider; of all people if it is "".
	ProviderKeys(ctx context.Context, person string) ([]ProviderKey, error)
}
