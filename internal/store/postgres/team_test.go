package postgres_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/store"
	"lathe/internal/store/move"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
)

// A move takes people along with all that is theirs, again if it was ended half-way, and never
// replaces the people of another team.
func TestCarryTeam(t *testing.T) {
	db, s := open(t, postgres.Options{URL: pgtest.Schema(t)})
	ctx := t.Context()
	must(t, s.People.PutPerson(ctx, store.Person{Name: "änn", Role: people.Author, Projects: []string{"/a", "/b"}}))
	token, id, hash := people.NewToken()
	must(t, s.People.AddToken(ctx, store.Token{ID: id, Person: "änn", Role: people.Reader, Expires: time.Now().Add(time.Hour)}, hash))
	must(t, s.Logins.AddLogin(ctx, store.Login{ID: "login_1", Person: "änn", Token: hash, Expires: time.Now().Add(time.Hour)}, people.Hash("cookie")))
	must(t, s.Belongings.Claim(ctx, "ses_1", "änn"))
	must(t, s.Keys.PutProviderKey(ctx, store.ProviderKey{Person: "änn", Provider: "p", Secret: "s", Sealed: []byte{0, 1}, Hint: "x"}))
	at := store.Place{Owner: "project", Directory: "/a"}
	must(t, s.Allowances.Allow(ctx, at, []lathe.Rule{{Permission: "bash", Pattern: "make *", Action: lathe.Allow}}, "änn", 24*time.Hour))
	must(t, s.Allowances.Allow(ctx, at, []lathe.Rule{{Permission: "bash", Pattern: "go *", Action: lathe.Allow}}, "änn", 0))
	must(t, s.Audit.Record(ctx, store.Change{Person: "änn", What: "one"}))
	must(t, s.Audit.Record(ctx, store.Change{What: "two", Refused: true}))
	url := pgtest.Schema(t)
	fill := func() error {
		to, err := postgres.OpenTarget(ctx, postgres.Options{URL: url}, "there")
		if err != nil {
			return err
		}
		defer func() { must(t, to.Close()) }()
		if err := to.CarryTeam(ctx, db); err != nil {
			return err
		}
		must(t, s.Audit.Record(ctx, store.Change{What: "meanwhile"}))
		if err := to.CarryTeam(ctx, db); err == nil { // as if another one had put them there
			t.Error("people are replaced that no earlier move left")
		}
		return nil
	}
	must(t, fill())
	to, err := postgres.OpenTarget(ctx, postgres.Options{URL: url}, "there")
	must(t, err)
	must(t, to.CarryTeam(ctx, db))
	must(t, move.Run(ctx, db.Carrier(), to, func(move.Progress) {})) // which carries approvals, too, and compares them
	must(t, to.Close())
	other, moved := open(t, postgres.Options{URL: url})
	team, err := other.Team(ctx)
	must(t, err)
	if diff := cmp.Diff(postgres.Team{People: 1, Tokens: 1, Logins: 1, Claims: 1, Keys: 1, Changes: 3, Allowed: 2}, team); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	was, err := s.People.Grant(ctx, hash)
	must(t, err)
	is, err := moved.People.Grant(ctx, people.Hash(token))
	must(t, err)
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("what the token grants (-before +after):\n%s", diff)
	}
	before, err := s.Allowances.Allowed(ctx, at)
	must(t, err)
	after, err := moved.Allowances.Allowed(ctx, at)
	must(t, err)
	if diff := cmp.Diff(before, after); diff != "" || len(after) != 2 || after[0].Person != "änn" {
		t.Errorf("what is allowed (-before +after):\n%s%+v", diff, after)
	}
	must(t, moved.Allowances.Allow(ctx, at, []lathe.Rule{{Permission: "edit", Pattern: "*.md", Action: lathe.Allow}}, "änn", time.Hour))
	must(t, moved.Audit.Record(ctx, store.Change{What: "after"}))
	changes, err := moved.Audit.Changes(ctx, store.ChangeFilter{})
	must(t, err)
	want := []store.Change{{N: 4, What: "after"}, {N: 3, What: "meanwhile"}, {N: 2, What: "two", Refused: true}, {N: 1, Person: "änn", What: "one"}}
	if diff := cmp.Diff(want, changes, cmpopts.IgnoreFields(store.Change{}, "At")); diff != "" {
		t.Errorf("the audit (-want +got):\n%s", diff)
	}
}
