package postgres_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// cutter is a way to a database on which a connection is lost once.
type cutter struct {
	left atomic.Int64 // messages until then; below 1: it was lost, or is not to be
	part func([]byte) []byte
}

func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &pgtest.Line{Conn: conn, Part: func(b []byte) []byte { return c.part(b) }, Strike: func() bool { return c.left.Add(-1) == 0 }}, nil
}

// parts are what of a message may arrive before its connection is lost: all but the last few bytes
// is without the end of the message (Sync), but with its COMMIT, if it has one.
var parts = map[string]func([]byte) []byte{
	"nothing": func([]byte) []byte { return nil },
	"half":    func(b []byte) []byte { return b[:len(b)/2] },
	"no end":  func(b []byte) []byte { return b[:max(0, len(b)-5)] },
	"all":     pgtest.All,
}

// change is something that is stored about people. Its numbers make each the only one of its kind.
type change struct {
	before, do func(s storetest.Store, i int) error
	look       func(s storetest.Store, i int) ([]string, error)
	want       []string
}

// What concerns people is stored once wherever the connection is lost (before a message, in the
// middle of it, before its last bytes, and after it, COMMIT included), nobody is told that it
// failed, and what takes something away finds it to take away.
func TestChangesOverLostConnections(t *testing.T) {
	url := pgtest.Schema(t)
	_, sound := open(t, postgres.Options{URL: url})
	must(t, sound.People.PutPerson(t.Context(), store.Person{Name: "ann", Role: people.Owner}))
	cut := &cutter{}
	_, s := open(t, postgres.Options{URL: url, Dial: cut.dial})
	n := 0
	for name, c := range changes(t) {
		t.Run(name, func(t *testing.T) {
			struck := 0
			for how, part := range parts {
				cut.part = part // nothing is under way
				for at, lost := int64(1), true; lost; at++ {
					n++
					if c.before != nil {
						must(t, c.before(sound, n))
					}
					cut.left.Store(at)
					if err := c.do(s, n); err != nil {
						t.Errorf("message %d, of which %s arrives: %v", at, how, err)
					}
					if lost = cut.left.Swap(0) <= 0; lost {
						struck++
					}
					got, err := c.look(sound, n)
					must(t, err)
					if diff := cmp.Diff(c.want, got); diff != "" {
						t.Errorf("message %d, of which %s arrives (-want +got):\n%s", at, how, diff)
					}
				}
			}
			if struck < 2*len(parts) { // one to begin with, and COMMIT
				t.Errorf("a connection was lost %d times", struck)
			}
		})
	}
}

// changes are those that are tried.
func changes(t *testing.T) map[string]change {
	ctx := t.Context()
	hash := func(i int) []byte { return fmt.Append(nil, "hash ", i) }
	login := func(s storetest.Store, i int) error {
		return s.Logins.AddLogin(ctx, store.Login{ID: fmt.Sprint("login_", i), Person: "ann", Role: people.Author, Expires: time.Now().Add(time.Hour)}, hash(i))
	}
	logins := func(s storetest.Store, i int) (got []string, err error) {
		all, err := s.Logins.Logins(ctx, "ann")
		for _, l := range all {
			if l.ID == fmt.Sprint("login_", i) {
				got = append(got, l.Role)
			}
		}
		return got, err
	}
	key := func(s storetest.Store, i int) error {
		return s.Keys.PutProviderKey(ctx, store.ProviderKey{Person: "ann", Provider: fmt.Sprint("p", i), Secret: "one", Sealed: hash(i), Hint: "1234"})
	}
	keys := func(s storetest.Store, i int) (got []string, err error) {
		all, err := s.Keys.ProviderKeys(ctx, "ann")
		for _, k := range all {
			if k.Provider == fmt.Sprint("p", i) {
				got = append(got, k.Secret+" "+k.Hint)
			}
		}
		return got, err
	}
	place := func(i int) store.Place {
		return store.Place{Owner: fmt.Sprint("project_", i), Directory: fmt.Sprint("/", i)}
	}
	rules := []lathe.Rule{{Permission: "bash", Pattern: "ls", Action: lathe.Allow}, {Permission: "edit", Pattern: "*", Action: lathe.Allow}}
	allow := func(lasts time.Duration) func(storetest.Store, int) error {
		return func(s storetest.Store, i int) error { return s.Allowances.Allow(ctx, place(i), rules, "ann", lasts) }
	}
	allowed := func(s storetest.Store, i int) (got []string, err error) {
		all, err := s.Allowances.Allowed(ctx, place(i))
		for _, a := range all {
			got = append(got, fmt.Sprint(a.Rule.Permission, " ", a.Rule.Pattern, " ", a.Person, " ", a.Until.IsZero()))
		}
		return got, err
	}
	disallow := func(s storetest.Store, i int) error { return s.Allowances.Disallow(ctx, place(i), rules[0]) }
	record := func(s storetest.Store, i int) error {
		return s.Audit.Record(ctx, store.Change{Person: "ann", What: fmt.Sprint("change ", i)})
	}
	audit := func(s storetest.Store, i int) (got []string, err error) {
		all, err := s.Audit.Changes(ctx, store.ChangeFilter{Person: "ann"})
		for _, c := range all {
			if c.What == fmt.Sprint("change ", i) {
				got = append(got, c.Person)
			}
		}
		return got, err
	}
	return map[string]change{
		"login":         {do: login, look: logins, want: []string{people.Author}},
		"end of login":  {before: login, do: func(s storetest.Store, i int) error { return s.Logins.EndLogin(ctx, fmt.Sprint("login_", i)) }, look: logins},
		"key":           {do: key, look: keys, want: []string{"one 1234"}},
		"key once more": {before: key, do: key, look: keys, want: []string{"one 1234"}},
		"key sealed anew": {before: key, do: func(s storetest.Store, i int) error {
			return s.Keys.ResealProviderKey(ctx, store.ProviderKey{Person: "ann", Provider: fmt.Sprint("p", i), Sealed: hash(i)}, store.ProviderKey{Secret: "two", Sealed: hash(-i)})
		}, look: keys, want: []string{"two 1234"}},
		"key removed": {before: key, do: func(s storetest.Store, i int) error {
			return s.Keys.RemoveProviderKey(ctx, "ann", fmt.Sprint("p", i))
		}, look: keys},
		"approval":             {do: allow(0), look: allowed, want: []string{"bash ls ann true", "edit * ann true"}},
		"approval taken back":  {before: allow(0), do: disallow, look: allowed, want: []string{"edit * ann true"}},
		"allowance":            {do: allow(time.Hour), look: allowed, want: []string{"bash ls ann false", "edit * ann false"}},
		"allowance once more":  {before: allow(time.Hour), do: allow(time.Hour), look: allowed, want: []string{"bash ls ann false", "edit * ann false"}},
		"allowance taken back": {before: allow(time.Hour), do: disallow, look: allowed, want: []string{"edit * ann false"}},
		"audit":                {do: record, look: audit, want: []string{"ann"}},
		"audit, once": {do: func(s storetest.Store, i int) error {
			first, err := s.AuditUpkeep.RecordOnce(ctx, store.Change{Person: "ann", What: fmt.Sprint("change ", i)}, time.Hour)
			if err == nil && !first {
				err = fmt.Errorf("somebody else did it")
			}
			return err
		}, look: audit, want: []string{"ann"}},
		"audit, removed": {before: func(s storetest.Store, i int) error {
			if _, err := s.AuditUpkeep.Forget(ctx, time.Now().Add(time.Hour), 1000); err != nil {
				return err
			}
			return record(s, i)
		}, do: func(s storetest.Store, i int) error {
			n, err := s.AuditUpkeep.Forget(ctx, time.Now().Add(time.Hour), 1000)
			if err == nil && n != 1 {
				err = fmt.Errorf("%d are gone", n)
			}
			return err
		}, look: audit},
		"token": {do: func(s storetest.Store, i int) error {
			return s.People.AddToken(ctx, store.Token{ID: fmt.Sprint("tok_", i), Person: "ann"}, hash(i))
		}, look: func(s storetest.Store, i int) ([]string, error) {
			g, err := s.People.Grant(ctx, hash(i))
			return []string{g.Name}, err
		}, want: []string{"ann"}},
	}
}

// A server that loses its connection while it starts to follow the others calls the journal what they
// call it: numbers of one that is called otherwise mean nothing to clients.
func TestJournalHasOneName(t *testing.T) {
	url := pgtest.Schema(t)
	_, sound := open(t, postgres.Options{URL: url})
	want := follow(t, sound)
	for how, part := range parts {
		cut := &cutter{part: part}
		_, s := open(t, postgres.Options{URL: url, Dial: cut.dial})
		for at, lost := int64(1), true; lost; at++ {
			cut.left.Store(at)
			got := follow(t, s)
			lost = cut.left.Swap(0) <= 0
			if got != want {
				t.Errorf("lost at message %d, of which %s arrives, it is %q, want %q", at, how, got, want)
			}
		}
	}
}

// follow returns the name of the journal when a server has begun to follow it.
func follow(t *testing.T, s storetest.Store) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Journal.Follow(ctx, func(func(context.Context) ([]store.Fact, error)) error {
		cancel()
		return nil
	})
	return s.Journal.Name()
}
