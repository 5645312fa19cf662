package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"lathe/internal/people"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
)

// A login counts at every server until it is over, is ended or its person is removed, and what
// is stored of it lets nobody in.
func TestPageLogins(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := open(t, postgres.Options{URL: url})
	_, other := open(t, postgres.Options{URL: url})
	ctx, now := t.Context(), time.Now()
	must(t, s.People.PutPerson(ctx, store.Person{Name: "ann", Role: people.Owner}))
	add := func(name string, l store.Login) {
		l.ID = "login_" + name
		must(t, s.Logins.AddLogin(ctx, l, []byte(name)))
	}
	later := now.Add(time.Hour)
	add("password", store.Login{Proof: []byte("proof"), Expires: later})
	add("token", store.Login{Person: "ann", Token: []byte("hash"), Expires: later})
	add("issuer", store.Login{Person: "ann", Role: people.Reader, Expires: later})
	add("over", store.Login{Person: "ann", Expires: now.Add(-time.Second)})
	add("ended", store.Login{Person: "ann", Expires: later})
	must(t, other.Logins.EndLogin(ctx, "login_ended"))
	found := func() map[string]store.Login {
		out := map[string]store.Login{}
		for _, name := range []string{"password", "token", "issuer", "over", "ended", "none"} {
			switch l, err := other.Logins.Login(ctx, []byte(name)); {
			case err == nil:
				out[name] = l
			case !errors.Is(err, store.ErrNotFound):
				t.Errorf("%s: %v", name, err)
			}
		}
		return out
	}
	want := map[string]store.Login{
		"password": {ID: "login_password", Proof: []byte("proof"), Expires: later},
		"token":    {ID: "login_token", Person: "ann", Token: []byte("hash"), Expires: later},
		"issuer":   {ID: "login_issuer", Person: "ann", Role: people.Reader, Expires: later},
	}
	same := cmp.Options{cmpopts.EquateApproxTime(time.Millisecond), cmpopts.IgnoreFields(store.Login{}, "Created", "Used")}
	if diff := cmp.Diff(want, found(), same); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	listed, err := s.Logins.Logins(ctx, "ann")
	must(t, err)
	if diff := cmp.Diff([]store.Login{want["issuer"], want["token"]}, listed, same); diff != "" || listed[0].Used.IsZero() || listed[0].Created.IsZero() {
		t.Errorf("listed %+v (-want +got):\n%s", listed, diff)
	}
	must(t, s.People.RemovePerson(ctx, "ann"))
	if diff := cmp.Diff(map[string]store.Login{"password": want["password"]}, found(), same); diff != "" {
		t.Errorf("after ann was removed (-want +got):\n%s", diff)
	}
	if err := s.Logins.EndLogin(ctx, "login_none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown login: %v", err)
	}
}

// Only so many logins of a person count, and what has long been over is not kept.
func TestPageLoginsAreBounded(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := open(t, postgres.Options{URL: url})
	ctx, later := t.Context(), time.Now().Add(time.Hour)
	conn, err := pgx.Connect(ctx, url)
	must(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `INSERT INTO login (hash, id, person, role, created, expires)
		SELECT convert_to('old' || i, 'UTF8'), 'login_' || i, '', '', clock_timestamp() - interval '1 day', clock_timestamp() + interval '1 day' FROM generate_series(1, $1) i`, store.MostLogins)
	must(t, err)
	_, err = conn.Exec(ctx, `UPDATE login SET expires = clock_timestamp() - interval '31 days' WHERE id IN ('login_1', 'login_2')`)
	must(t, err)
	for i := range 5 {
		must(t, s.Logins.AddLogin(ctx, store.Login{ID: fmt.Sprintf("login_new%d", i), Expires: later}, fmt.Appendf(nil, "new%d", i)))
	}
	count := func(where string) (n int) {
		must(t, conn.QueryRow(ctx, `SELECT count(*) FROM login WHERE `+where).Scan(&n))
		return n
	}
	all, err := s.Logins.Logins(ctx, "")
	must(t, err)
	got := []int{len(all), count("ended IS NOT NULL"), count("id IN ('login_1', 'login_2')")}
	if diff := cmp.Diff([]int{store.MostLogins, 3, 0}, got); diff != "" || all[0].ID != "login_new4" {
		t.Errorf("that count, were ended, are kept though long over (-want +got):\n%s", diff)
	}
}
