package postgres_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe/internal/people"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// A token is good for what its person may and what it was made for, until it is over; only
// its hash is stored.
func TestTokens(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := open(t, postgres.Options{URL: url})
	ctx := t.Context()
	must(t, s.People.PutPerson(ctx, store.Person{Name: "ann", Role: people.Owner}))
	must(t, s.People.PutPerson(ctx, store.Person{Name: "ann", Role: people.Author, Projects: []string{"/a"}}))
	ann, err := s.People.Person(ctx, "ann")
	must(t, err)
	if diff := cmp.Diff(store.Person{Name: "ann", Role: people.Author, Projects: []string{"/a"}}, ann, cmpopts.IgnoreFields(store.Person{}, "Created")); diff != "" || ann.Created.IsZero() {
		t.Errorf("ann (-want +got):\n%s", diff)
	}
	if _, err := s.People.Person(ctx, "bob"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
	made := map[string][]byte{}
	for name, tok := range map[string]store.Token{
		"valid": {}, "reads": {Role: people.Reader}, "more": {Role: people.Owner}, "over": {Expires: time.Now().Add(-time.Second)},
		"later": {Expires: time.Now().Add(time.Hour)}, "revoked": {},
	} {
		text, id, hash := people.NewToken()
		if name == "valid" && len(text) < 50 {
			t.Errorf("a token is %q", text)
		}
		tok.ID, tok.Person = id, "ann"
		must(t, s.People.AddToken(ctx, tok, hash))
		if name == "revoked" {
			must(t, s.People.RevokeToken(ctx, id))
		}
		made[name] = hash
	}
	got := map[string]string{}
	for name, hash := range made {
		g, err := s.People.Grant(ctx, hash)
		switch {
		case err == nil:
			got[name] = g.Name + " " + g.Role + " " + g.Projects[0]
		case errors.Is(err, store.ErrNotFound):
			got[name] = "none"
		default:
			t.Errorf("%s: %v", name, err)
		}
	}
	want := map[string]string{"valid": "ann author /a", "reads": "ann reader /a", "more": "ann author /a", "over": "none", "later": "ann author /a", "revoked": "none"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("granted (-want +got):\n%s", diff)
	}
	if err := s.People.AddToken(ctx, store.Token{ID: "tok_x", Person: "bob"}, []byte("x")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a token of nobody: %v", err)
	}
	if err := s.People.RevokeToken(ctx, "tok_x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown token: %v", err)
	}
	must(t, s.People.RemovePerson(ctx, "ann"))
	must(t, s.People.PutPerson(ctx, store.Person{Name: "ann", Role: people.Owner})) // another one
	if g, err := s.People.Grant(ctx, made["valid"]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a token of one who was removed: %+v, %v", g, err)
	}
}

// A session belongs to whom the nearest claim says, and to its project when that person is
// removed.
func TestBelongings(t *testing.T) {
	_, s := open(t, postgres.Options{URL: pgtest.Schema(t)})
	ctx := t.Context()
	top, below := storetest.Session("ses_top"), storetest.Session("ses_below")
	below.ParentID = top.ID
	must(t, s.CreateSession(ctx, top))
	must(t, s.CreateSession(ctx, below))
	must(t, s.People.PutPerson(ctx, store.Person{Name: "ann", Role: people.Author}))
	whose := func() []string {
		var out []string
		for _, ses := range []string{"ses_top", "ses_below", "ses_none"} {
			who, err := s.Belongings.Claimant(ctx, storetest.Session(ses).ID)
			must(t, err)
			out = append(out, who)
		}
		return out
	}
	got := [][]string{whose()}
	must(t, s.Belongings.Claim(ctx, top.ID, "ann"))
	got = append(got, whose())
	must(t, s.Belongings.Claim(ctx, below.ID, "bob"))
	got = append(got, whose())
	must(t, s.People.RemovePerson(ctx, "ann"))
	got = append(got, whose())
	must(t, s.Belongings.Claim(ctx, below.ID, ""))
	got = append(got, whose())
	want := [][]string{{"", "", ""}, {"ann", "ann", ""}, {"ann", "bob", ""}, {"", "bob", ""}, {"", "", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The audit tells what was done, the newest first.
func TestAudit(t *testing.T) {
	_, s := open(t, postgres.Options{URL: pgtest.Schema(t)})
	ctx := t.Context()
	one := store.Change{Person: "ann", Token: "tok_1", From: "10.0.0.1:5", What: "POST /session", About: "/session"}
	two := store.Change{Person: "bob", What: "PATCH /session/{sessionID}", About: "/session/ses_1", Session: "ses_1", Refused: true}
	must(t, s.Audit.Record(ctx, one))
	must(t, s.Audit.Record(ctx, two))
	for name, tt := range map[string]struct {
		f    store.ChangeFilter
		want []store.Change
	}{
		"all": {store.ChangeFilter{}, []store.Change{two, one}}, "ann": {store.ChangeFilter{Person: "ann"}, []store.Change{one}},
		"session": {store.ChangeFilter{Session: "ses_1"}, []store.Change{two}}, "newest": {store.ChangeFilter{Limit: 1}, []store.Change{two}},
		"later": {store.ChangeFilter{Since: time.Now().Add(time.Hour)}, nil},
	} {
		got, err := s.Audit.Changes(ctx, tt.f)
		must(t, err)
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(store.Change{}, "N", "At")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Of several servers that ask at the same time one may do what is to be done once, and what is
// removed of the audit is its oldest entries.
func TestAuditOnceAndForget(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := open(t, postgres.Options{URL: url})
	_, other := open(t, postgres.Options{URL: url})
	ctx := t.Context()
	must(t, s.Audit.Record(ctx, store.Change{What: "one"}))
	var first atomic.Int32
	var asked sync.WaitGroup
	for _, at := range []*store.Store{s.Store, other.Store, s.Store, other.Store} {
		asked.Go(func() {
			ok, err := at.AuditUpkeep.RecordOnce(ctx, store.Change{What: "chore"}, time.Hour)
			if err != nil {
				t.Error(err)
			}
			if ok {
				first.Add(1)
			}
		})
	}
	asked.Wait()
	if n := first.Load(); n != 1 {
		t.Errorf("%d may do it", n)
	}
	if ok, err := s.AuditUpkeep.RecordOnce(ctx, store.Change{What: "chore"}, 0); err != nil || !ok {
		t.Errorf("after its time: %v, %v", ok, err)
	}
	all := func() (what []string) {
		got, err := s.Audit.Changes(ctx, store.ChangeFilter{})
		must(t, err)
		for _, c := range got {
			what = append(what, c.What)
		}
		return what
	}
	later := time.Now().Add(time.Hour)
	n, err := s.AuditUpkeep.CountBefore(ctx, later)
	must(t, err)
	none, err := s.AuditUpkeep.Forget(ctx, time.Now().Add(-time.Hour), 10)
	must(t, err)
	gone, err := s.AuditUpkeep.Forget(ctx, later, 2)
	must(t, err)
	if diff := cmp.Diff([]string{"chore"}, all()); diff != "" || n != 3 || none != 0 || gone != 2 {
		t.Errorf("%d counted, %d and %d removed (-want +got):\n%s", n, none, gone, diff)
	}
}
