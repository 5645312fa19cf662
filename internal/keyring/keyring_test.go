package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/store"
)

// kept is a store of keys, in memory.
type kept struct {
	mu    sync.Mutex
	by    map[[2]string]store.ProviderKey
	fault error
	reads int
}

func (k *kept) PutProviderKey(_ context.Context, p store.ProviderKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.Person == "nobody" {
		return store.ErrNotFound
	}
	if k.by == nil {
		k.by = map[[2]string]store.ProviderKey{}
	}
	k.by[[2]string{p.Person, p.Provider}] = p
	return k.fault
}

func (k *kept) ResealProviderKey(_ context.Context, old, sealed store.ProviderKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := [2]string{old.Person, old.Provider}; bytes.Equal(k.by[at].Sealed, old.Sealed) {
		k.by[at] = sealed
	}
	return nil
}

func (k *kept) RemoveProviderKey(_ context.Context, person, provider string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := [2]string{person, provider}
	if _, ok := k.by[at]; !ok {
		return store.ErrNotFound
	}
	delete(k.by, at)
	return nil
}

func (k *kept) ProviderKeys(_ context.Context, person string) (all []store.ProviderKey, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reads++
	for _, at := range slices.SortedFunc(maps.Keys(k.by), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }) {
		if person == "" || at[0] == person {
			all = append(all, k.by[at])
		}
	}
	return all, k.fault
}

// ring is one with these secrets, the newest first.
func ring(t *testing.T, k store.ProviderKeys, now func() time.Time, secrets ...string) *Ring {
	t.Helper()
	return New(k, func() (*Secrets, error) { return ParseSecrets("the test", strings.Join(secrets, "\n")) }, now)
}

func apiKey(text string) auth.Entry { return auth.API{Key: auth.NewSecret(text)} }

const annsKey = "sk-ant-0123456789-0123456789-0123456789-anns"

// reads returns the keys of a person in clear, and what is wrong with the others.
func reads(t *testing.T, r *Ring, person string) map[string]string {
	t.Helper()
	own, err := r.Of(t.Context(), person)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for id, e := range own.Entries {
		out[id] = e.(auth.API).Key.Reveal()
	}
	for id, err := range own.Problems {
		out[id] = "problem: " + err.Error()
	}
	return out
}

// A person's key opens for that person and provider alone, and only with the secret; the
// store has nothing of it in clear but its last four characters.
func TestSealedForOnePersonAndProvider(t *testing.T) {
	k, one := &kept{}, NewSecret()
	ctx, r := t.Context(), ring(t, k, time.Now, one)
	for person, key := range map[string]string{"ann": annsKey, "bob": "sk-of-bob"} {
		if err := r.Set(ctx, person, "anthropic/", apiKey(key)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"anthropic": annsKey}, reads(t, r, "ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	row := k.by[[2]string{"ann", "anthropic"}]
	if whole := fmt.Sprintf("%q %q %q", row.Sealed, row.Hint, row.Secret); strings.Contains(whole, annsKey[:8]) || strings.Contains(whole, one) || row.Hint != "anns" {
		t.Errorf("the store has %s", whole)
	}
	want := []api.PersonKey{{Person: "ann", Provider: "anthropic", Hint: "anns", Readable: true}}
	got, err := r.List(ctx, "ann")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("listed, %v (-want +got):\n%s", err, diff)
	}

	stolen := row
	stolen.Person = "bob"
	k.by[[2]string{"bob", "anthropic"}] = stolen
	moved := row
	moved.Provider = "openai"
	k.by[[2]string{"ann", "openai"}] = moved
	broken := row
	broken.Provider, broken.Sealed = "google", []byte("x")
	k.by[[2]string{"ann", "google"}] = broken
	for person, providers := range map[string][]string{"bob": {"anthropic"}, "ann": {"google", "openai"}} {
		got := reads(t, ring(t, k, time.Now, one), person)
		for _, id := range providers {
			if !strings.Contains(got[id], "cannot be read") {
				t.Errorf("%s has for %s: %q", person, id, got[id])
			}
		}
	}
	if got := reads(t, ring(t, k, time.Now, NewSecret()), "ann")["anthropic"]; !strings.Contains(got, "sealed with a secret that is not here") {
		t.Errorf("with another secret: %q", got)
	}
	without := New(k, func() (*Secrets, error) { return nil, errors.New("there is no secret") }, time.Now)
	if got := reads(t, without, "ann")["anthropic"]; got != "problem: there is no secret" {
		t.Errorf("without a secret: %q", got)
	}
	if err := without.Set(ctx, "ann", "x", apiKey("k")); err == nil {
		t.Error("a key was stored without a secret")
	}
	if listed, err := without.List(ctx, "ann"); err != nil || len(listed) != 3 || listed[0].Readable {
		t.Errorf("without a secret: %+v, %v", listed, err)
	}
}

// Sealing the same key twice shows nobody that it is the same.
func TestSealedAnewEachTime(t *testing.T) {
	k := &kept{}
	r := ring(t, k, time.Now, NewSecret())
	var seen [][]byte
	for range 2 {
		if err := r.Set(t.Context(), "ann", "x", apiKey(annsKey)); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, k.by[[2]string{"ann", "x"}].Sealed)
	}
	if bytes.Equal(seen[0], seen[1]) {
		t.Error("the same bytes")
	}
}

// The newest secret seals, the others still open, and after a rotation they are not needed.
func TestRotate(t *testing.T) {
	k, first, second := &kept{}, NewSecret(), NewSecret()
	ctx := t.Context()
	if err := ring(t, k, time.Now, first).Set(ctx, "ann", "a", apiKey(annsKey)); err != nil {
		t.Fatal(err)
	}
	both := ring(t, k, time.Now, second, first)
	if err := both.Set(ctx, "bob", "b", apiKey("bobs")); err != nil {
		t.Fatal(err)
	}
	if got := reads(t, ring(t, k, time.Now, second), "bob"); got["b"] != "bobs" {
		t.Errorf("the newest does not seal: %v", got)
	}
	if err := ring(t, k, time.Now, NewSecret()).Set(ctx, "eve", "e", apiKey("lost")); err != nil {
		t.Fatal(err)
	}
	changed, unreadable, err := both.Rotate(ctx)
	if changed != 1 || unreadable != 1 || err != nil {
		t.Errorf("%d changed, %d unreadable, %v", changed, unreadable, err)
	}
	if diff := cmp.Diff(map[string]string{"a": annsKey}, reads(t, ring(t, k, time.Now, second), "ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if changed, _, err := both.Rotate(ctx); changed != 0 || err != nil {
		t.Errorf("again: %d changed, %v", changed, err)
	}
}

// What was read is believed for some seconds, for minutes while the store is away, and a
// change of one's own counts at once. What is the same stays the same.
func TestKeysAreReadAgain(t *testing.T) {
	k, now := &kept{}, time.Unix(1_800_000_000, 0)
	r := ring(t, k, func() time.Time { return now }, NewSecret())
	ctx := t.Context()
	if err := r.Set(ctx, "ann", "x", apiKey("one")); err != nil {
		t.Fatal(err)
	}
	first, err := r.Of(ctx, "ann")
	if err != nil {
		t.Fatal(err)
	}
	reads(t, r, "ann")
	if k.reads != 1 {
		t.Errorf("%d reads", k.reads)
	}
	now = now.Add(fresh)
	if again, err := r.Of(ctx, "ann"); err != nil || k.reads != 2 || !again.Is(first) {
		t.Errorf("%d reads, the same: %t, %v", k.reads, again.Is(first), err)
	}
	k.fault = store.ErrAway
	now = now.Add(stale - time.Second)
	if got := reads(t, r, "ann"); got["x"] != "one" {
		t.Errorf("while the store is away: %v", got)
	}
	now = now.Add(time.Second)
	if _, err := r.Of(ctx, "ann"); !errors.Is(err, store.ErrAway) {
		t.Errorf("when it is away for long: %v", err)
	}
	k.fault = nil
	if err := r.Set(ctx, "ann", "x", apiKey("two")); err != nil {
		t.Fatal(err)
	}
	if got := reads(t, r, "ann"); got["x"] != "two" {
		t.Errorf("after a change: %v", got)
	}
	for _, want := range []bool{true, false} {
		if found, err := r.Remove(ctx, "ann", "x"); found != want || err != nil {
			t.Errorf("removed: %t, %v", found, err)
		}
	}
	if got := reads(t, r, "ann"); len(got) != 0 {
		t.Errorf("after the removal: %v", got)
	}
}

// A server that runs while the secret changes opens what is sealed with the new one, and
// then seals with it. It looks for a secret that is nowhere every few seconds only, and keeps
// what it knows while the secrets cannot be read.
func TestSecretThatIsAddedLater(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	clock := func() time.Time { return now }
	text, looks := NewSecret(), 0
	var fault error
	k := &kept{}
	r := New(k, func() (*Secrets, error) {
		if looks++; fault != nil {
			return nil, fault
		}
		return ParseSecrets("the test", text)
	}, clock)
	old := text
	if err := r.Set(t.Context(), "ann", "one", apiKey("first")); err != nil {
		t.Fatal(err)
	}
	newer := NewSecret()
	if err := ring(t, k, clock, newer, old).Set(t.Context(), "ann", "two", apiKey("second")); err != nil {
		t.Fatal(err)
	}
	lacking := func(provider string) string {
		return fmt.Sprintf("problem: the key of ann for %q is sealed with a secret that is not here", provider)
	}
	fault = errors.New("the file is being written")
	for range 3 {
		r.forget("ann")
		if diff := cmp.Diff(map[string]string{"one": "first", "two": lacking("two")}, reads(t, r, "ann")); diff != "" {
			t.Errorf("before the secret is there (-want +got):\n%s", diff)
		}
	}
	if looks != 2 {
		t.Errorf("it was looked for %d times", looks)
	}
	r.forget("ann")
	fault, text, now = nil, newer+"\n"+old, now.Add(fresh)
	if diff := cmp.Diff(map[string]string{"one": "first", "two": "second"}, reads(t, r, "ann")); diff != "" {
		t.Errorf("with the secret (-want +got):\n%s", diff)
	}
	if err := r.Set(t.Context(), "ann", "three", apiKey("third")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"one": lacking("one"), "two": "second", "three": "third"}, reads(t, ring(t, k, clock, newer), "ann")); diff != "" {
		t.Errorf("sealed after that (-want +got):\n%s", diff)
	}
}

func TestWhatIsNoKeyOfAPerson(t *testing.T) {
	r := ring(t, &kept{}, time.Now, NewSecret())
	for name, tt := range map[string]struct {
		person, provider string
		e                auth.Entry
	}{
		"of an organisation": {"ann", "https://x.example", auth.WellKnown{Key: "K", Token: auth.NewSecret("t")}},
		"empty":              {"ann", "x", apiKey("")},
		"no provider":        {"ann", " / ", apiKey("k")},
		"nobody":             {"nobody", "x", apiKey("k")},
	} {
		if err := r.Set(t.Context(), tt.person, tt.provider, tt.e); err == nil {
			t.Errorf("%s was stored", name)
		}
	}
}

func TestParseSecrets(t *testing.T) {
	good := NewSecret()
	for text, want := range map[string]int{
		good: 1, good + "\n" + NewSecret() + "\n": 2, " " + good + ", " + NewSecret(): 2, strings.TrimRight(good, "="): 1,
		"": 0, "\n": 0, "short": 0, good + " x": 0, good + good: 0, "password password": 0,
	} {
		s, err := ParseSecrets("here", text)
		switch {
		case want == 0 && err == nil:
			t.Errorf("%q is taken", text)
		case want == 0 && len(text) > 3 && strings.Contains(err.Error(), strings.TrimSpace(text)):
			t.Errorf("the error repeats it: %v", err)
		case want > 0 && (err != nil || len(s.all) != want):
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Whatever bytes a store has, opening them ends with an error or with a key.
func FuzzOpen(f *testing.F) {
	k := &kept{}
	r := New(k, func() (*Secrets, error) { return ParseSecrets("", strings.Repeat("A", 43)) }, time.Now)
	if err := r.Set(context.Background(), "ann", "x", apiKey(annsKey)); err != nil {
		f.Fatal(err)
	}
	row := k.by[[2]string{"ann", "x"}]
	f.Add(row.Sealed, "ann")
	f.Add([]byte(nil), "")
	f.Fuzz(func(t *testing.T, sealed []byte, person string) {
		got := row
		got.Sealed, got.Person = sealed, person
		e, err := r.open(got)
		if (err == nil) != (bytes.Equal(sealed, row.Sealed) && person == "ann") {
			t.Errorf("%v, %v", e, err)
		}
	})
}
