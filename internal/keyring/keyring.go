// Package keyring keeps what each person of a team has for providers of models: sealed in
// the store, and opened only where that person's turns ask a model.
//
// A key is sealed with AES-256-GCM, bound to its person and provider: a row that is copied
// to another person opens for nobody. The secrets that seal it come from the environment or
// a file of the machine; a store, its dumps and its backups have none.
package keyring

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/store"
)

// Ring is the keys of a store's people. It is safe for concurrent use.
type Ring struct {
	keys    store.ProviderKeys
	secrets *source
	now     func() time.Time

	mu   sync.Mutex
	seen map[string]seen // by person
}

// seen is what was last read of a person.
type seen struct {
	own Own
	at  time.Time
}

const (
	// fresh is how long a key that was changed elsewhere may still be used.
	fresh = 5 * time.Second
	// stale is how long keys are used while the database cannot be reached.
	stale = 10 * time.Minute
	most  = 10_000 // people
)

// Own are the keys of one person.
type Own struct {
	// Entries are those that can be read here, by provider.
	Entries map[string]auth.Entry
	// Problems say of the others why not, and what to do.
	Problems map[string]error

	read *time.Time // when this was read; the same for what did not change since
}

// New returns the ring of a store. The secrets are asked for when they are needed, until there
// are some; until then their error is that of whatever needs them. They are asked for again,
// every few seconds at most, when a key needs a secret that is not among them.
func New(keys store.ProviderKeys, secrets func() (*Secrets, error), now func() time.Time) *Ring {
	return &Ring{keys: keys, secrets: &source{find: secrets, now: now}, now: now, seen: map[string]seen{}}
}

// Ready fails if this machine has nothing to seal a key with.
func (r *Ring) Ready() error {
	_, err := r.secrets.get()
	return err
}

// Set keeps what a person has for a provider, in place of what was there.
func (r *Ring) Set(ctx context.Context, person, provider string, e auth.Entry) error {
	provider = auth.ID(provider)
	switch e.(type) {
	case auth.API, auth.OAuth:
	default:
		return lathe.Errorf(lathe.CodeInvalid, "ask an owner to configure it for the server", "a person's own credential is a key or a login, not one of an organisation")
	}
	if provider == "" || len(provider) > 512 {
		return lathe.Errorf(lathe.CodeInvalid, "", "provider id %.40q cannot be stored", provider)
	}
	text, err := auth.Marshal(e)
	if err != nil {
		return err
	}
	secrets, err := r.secrets.get()
	if err != nil {
		return err
	}
	k := store.ProviderKey{Person: person, Provider: provider, Hint: hint(e)}
	k.Secret, k.Sealed = secrets.seal(place(k), text)
	err = r.keys.PutProviderKey(ctx, k)
	r.forget(person)
	if errors.Is(err, store.ErrNotFound) {
		return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe user list", "there is no person %q", person)
	}
	return err
}

// Remove forgets what a person has for a provider, and reports whether there was something.
// It needs no secret.
func (r *Ring) Remove(ctx context.Context, person, provider string) (bool, error) {
	err := r.keys.RemoveProviderKey(ctx, person, auth.ID(provider))
	r.forget(person)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// List tells what a person has; what all people have if it is "".
func (r *Ring) List(ctx context.Context, person string) ([]api.PersonKey, error) {
	all, err := r.keys.ProviderKeys(ctx, person)
	if err != nil {
		return nil, err
	}
	out := []api.PersonKey{}
	for _, k := range all {
		_, err := r.open(k)
		out = append(out, api.PersonKey{Person: k.Person, Provider: k.Provider, Hint: k.Hint, Changed: k.Changed, Readable: err == nil})
	}
	return out, nil
}

// Of returns the keys of a person. What was found is believed for a few seconds, and for ten
// minutes while the store cannot be reached.
func (r *Ring) Of(ctx context.Context, person string) (Own, error) {
	now := r.now()
	r.mu.Lock()
	last, ok := r.seen[person]
	r.mu.Unlock()
	if ok && now.Sub(last.at) < fresh {
		return last.own, nil
	}
	all, err := r.keys.ProviderKeys(ctx, person)
	if errors.Is(err, store.ErrAway) && ok && now.Sub(last.at) < stale {
		return last.own, nil
	}
	if err != nil {
		return Own{}, err
	}
	own := Own{Entries: map[string]auth.Entry{}, Problems: map[string]error{}, read: &now}
	for _, k := range all {
		if e, err := r.open(k); err != nil {
			own.Problems[k.Provider] = err
		} else {
			own.Entries[k.Provider] = e
		}
	}
	if ok && last.own.same(own) {
		own = last.own // whoever has made something of it keeps it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) >= most {
		r.seen = map[string]seen{}
	}
	r.seen[person] = seen{own, now}
	return own, nil
}

func (r *Ring) forget(person string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, person)
}

// Rotate seals all keys with the newest secret that older ones have sealed, and returns how
// many there were, and how many none of the secrets here opens.
func (r *Ring) Rotate(ctx context.Context) (changed, unreadable int, err error) {
	secrets, err := r.secrets.get()
	if err != nil {
		return 0, 0, err
	}
	all, err := r.keys.ProviderKeys(ctx, "")
	if err != nil {
		return 0, 0, err
	}
	for _, k := range all {
		if k.Secret == secrets.newest() {
			continue
		}
		text, known, err := secrets.open(k.Secret, place(k), k.Sealed)
		if err != nil || !known {
			unreadable++
			continue
		}
		next := k
		next.Secret, next.Sealed = secrets.seal(place(k), text)
		if err := r.keys.ResealProviderKey(ctx, k, next); err != nil {
			return changed, unreadable, err
		}
		changed++
	}
	return changed, unreadable, nil
}

// open reads a key, or says what is in the way.
func (r *Ring) open(k store.ProviderKey) (auth.Entry, error) {
	secrets, err := r.secrets.with(k.Secret)
	if err != nil {
		return nil, err
	}
	text, known, err := secrets.open(k.Secret, place(k), k.Sealed)
	switch {
	case !known:
		return nil, lathe.Errorf(lathe.CodeAuth, "give this machine that secret too, or store the key again", "the key of %s for %q is sealed with a secret that is not here", k.Person, k.Provider)
	case err != nil:
		return nil, lathe.Errorf(lathe.CodeAuth, "store it again", "the key of %s for %q was changed in the store and cannot be read", k.Person, k.Provider)
	}
	return auth.Unmarshal(text)
}

// place is what a key is bound to.
func place(k store.ProviderKey) []byte {
	return []byte("lathe provider key 1\x00" + k.Person + "\x00" + k.Provider)
}

// hint returns the last characters of a key: enough to recognise it, never much of it.
func hint(e auth.Entry) string {
	api, ok := e.(auth.API)
	if !ok {
		return ""
	}
	letters := []rune(api.Key.Reveal())
	return string(letters[len(letters)-min(4, len(letters)/8):])
}

// Is reports whether both are the same keys as they were read once.
func (o Own) Is(p Own) bool {
	return o.read != nil && o.read == p.read
}

func (o Own) same(p Own) bool {
	return maps.EqualFunc(o.Entries, p.Entries, auth.Same) &&
		maps.EqualFunc(o.Problems, p.Problems, func(a, b error) bool { return a.Error() == b.Error() })
}
