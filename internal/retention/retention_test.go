package retention

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/bus"
	"lathe/internal/enginetest"
	"lathe/internal/job"
	"lathe/internal/session"
	"lathe/internal/shell"
	"lathe/internal/store"
)

const day = 24 * time.Hour

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// rig is an engine with sessions of some ages.
type rig struct {
	*enginetest.Engine
	t   *testing.T
	dir string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	home := t.TempDir()
	events := bus.New(bus.Options{})
	e, err := enginetest.Open(t.Context(), enginetest.Options{
		Env: map[string]string{"HOME": home, "LATHE_HOME": filepath.Join(home, "lathe")}, Session: session.Options{Bus: events},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{Engine: e, t: t, dir: home}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// add stores a session that was last used so many days ago.
func (r *rig) add(id string, days int, change func(*lathe.Session)) lathe.SessionID {
	r.t.Helper()
	at := now.Add(-time.Duration(days) * day)
	sess := lathe.Session{ID: lathe.SessionID(id), ProjectID: "global", Directory: r.dir, Title: id, Created: at, Updated: at}
	if change != nil {
		change(&sess)
	}
	r.must(r.Store.Batch(r.t.Context(), func(tx store.Tx) error { return tx.CreateSession(sess) }))
	return sess.ID
}

func below(parent string) func(*lathe.Session) {
	return func(s *lathe.Session) { s.ParentID = lathe.SessionID(parent) }
}

func (r *rig) left() (ids []string) {
	r.t.Helper()
	all, err := r.Store.Sessions(r.t.Context(), store.SessionFilter{})
	r.must(err)
	for _, s := range all {
		ids = append(ids, string(s.ID))
	}
	slices.Sort(ids)
	return ids
}

func (r *rig) retention(p Policy) *Retention {
	return &Retention{Policy: p, Store: r.Store, Expiry: session.NewExpiry(r.Service), Now: func() time.Time { return now }, From: "test"}
}

func nothing(session.Expired) {}

// world has sessions of every kind that stays, and some that go.
func world(t *testing.T) (*rig, map[string]string) {
	r := newRig(t)
	ctx := t.Context()
	r.add("ses_new", 179, nil)
	r.add("ses_old", 181, nil)
	r.add("ses_tree", 400, nil)
	r.add("ses_tree_a", 390, below("ses_tree"))
	r.add("ses_tree_b", 380, below("ses_tree_a"))
	r.add("ses_orphan", 300, below("ses_nobody"))
	r.add("ses_archived", 300, func(s *lathe.Session) { s.Archived = s.Updated })
	r.add("ses_shared", 500, func(s *lathe.Session) { s.Share = &lathe.Share{ID: "x", URL: "https://x"} })
	r.add("ses_child_used", 500, nil)
	r.add("ses_child_used_a", 3, below("ses_child_used"))
	r.add("ses_child_shared", 500, nil)
	r.add("ses_child_shared_a", 500, func(s *lathe.Session) { s.ParentID, s.Share = "ses_child_shared", &lathe.Share{ID: "y"} })
	marked, markedChild := r.add("ses_marked", 500, nil), r.add("ses_marked_below", 500, nil)
	markedChild = r.add("ses_marked_below_a", 500, below(string(markedChild)))
	for _, id := range []lathe.SessionID{marked, markedChild} {
		_, err := r.Service.Notes.Change(ctx, id, api.NotesChange{Mark: &api.Bookmark{Message: "msg_1", Text: "here"}})
		r.must(err)
	}
	noted := r.add("ses_looked", 500, nil)
	_, err := r.Service.Notes.Change(ctx, noted, api.NotesChange{Look: []string{"a.go"}})
	r.must(err)
	held := r.add("ses_held", 500, nil)
	lease, err := r.Store.Acquire(ctx, held, r.Self)
	r.must(err)
	t.Cleanup(func() { _ = lease.Release(context.WithoutCancel(ctx)) }) // the store may be closed
	busy := r.add("ses_job", 500, nil)
	_, err = r.Jobs.Start(job.Start{Session: busy, Directory: r.dir, Command: shell.Command{Script: "sleep 600", Dir: r.dir}})
	r.must(err)
	return r, map[string]string{
		"ses_old": "", "ses_tree": "", "ses_orphan": "", "ses_archived": "", "ses_looked": "",
		"ses_shared": session.KeptShared, "ses_child_used": session.KeptUsed, "ses_child_shared": session.KeptShared, "ses_marked": session.KeptBookmarked,
		"ses_marked_below": session.KeptBookmarked, "ses_held": session.KeptRunning, "ses_job": session.KeptJob,
	}
}

// What a run would remove is told beforehand, and is what it removes: whole trees that nobody
// works in, shares or marked.
func TestRunRemovesWhatPlanTells(t *testing.T) {
	r, want := world(t)
	told := map[string]string{}
	tell := func(one session.Expired) { told[string(one.ID)] = one.Kept }
	re := r.retention(Policy{Sessions: 180 * day})
	before := r.left()
	planned, err := re.Plan(t.Context(), tell)
	r.must(err)
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Due{Sessions: 7, Kept: 7}, planned); diff != "" {
		t.Errorf("the plan's sum (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, r.left()); diff != "" {
		t.Errorf("a plan removed something (-want +got):\n%s", diff)
	}
	clear(told)
	var deleted []string
	r.Bus.Subscribe(t.Context(), bus.Filter{Match: func(ev lathe.Event) bool {
		if gone, ok := ev.(lathe.SessionDeleted); ok {
			deleted = append(deleted, string(gone.Session.ID))
		}
		return false
	}}, bus.Limits{})
	due, err := re.Run(t.Context(), nil, tell)
	r.must(err)
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("the run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(planned, due); diff != "" {
		t.Errorf("the run's sum (-want +got):\n%s", diff)
	}
	left := []string{
		"ses_child_shared", "ses_child_shared_a", "ses_child_used", "ses_child_used_a", "ses_held", "ses_job", "ses_marked", "ses_marked_below", "ses_marked_below_a",
		"ses_new", "ses_shared",
	}
	if diff := cmp.Diff(left, r.left()); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	slices.Sort(deleted)
	if diff := cmp.Diff([]string{"ses_archived", "ses_looked", "ses_old", "ses_orphan", "ses_tree", "ses_tree_a", "ses_tree_b"}, deleted); diff != "" {
		t.Errorf("told to clients (-want +got):\n%s", diff)
	}
}

// A run is bounded, takes the oldest first, and the next one goes on; sessions that stay and
// many of one moment do not stop it.
func TestRunGoesOn(t *testing.T) {
	r := newRig(t)
	for i := range page + 30 { // they stay, and fill more than a page with one moment
		r.add("ses_shared_"+strconv.Itoa(i), 900, func(s *lathe.Session) { s.Share = &lathe.Share{ID: "x"} })
	}
	for i := range 5 {
		r.add("ses_old_"+strconv.Itoa(i), 500-i, nil)
	}
	re := r.retention(Policy{Sessions: 180 * day})
	re.Most = 2
	var gone []string
	var dues []Due
	for range 4 {
		due, err := re.Run(t.Context(), nil, func(one session.Expired) {
			if one.Kept == "" {
				gone = append(gone, string(one.ID))
			}
		})
		r.must(err)
		dues = append(dues, due)
	}
	if diff := cmp.Diff([]string{"ses_old_0", "ses_old_1", "ses_old_2", "ses_old_3", "ses_old_4"}, gone); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Due{{Sessions: 2, More: true}, {Sessions: 2, More: true}, {Sessions: 1}, {}}, dues, cmpopts.IgnoreFields(Due{}, "Kept")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without a policy nothing is looked at, and one who may not does nothing.
func TestRunWithoutPolicyOrClaim(t *testing.T) {
	r := newRig(t)
	r.add("ses_old", 5000, nil)
	none, err := r.retention(Policy{}).Run(t.Context(), nil, nothing)
	r.must(err)
	asked := 0
	other, err := r.retention(Policy{Sessions: day}).Run(t.Context(), func() (bool, error) { asked++; return false, nil }, nothing)
	r.must(err)
	if (none != Due{}) || (other != Due{}) || asked != 1 || len(r.left()) != 1 {
		t.Errorf("%+v, %+v, asked %d times, left %v", none, other, asked, r.left())
	}
	idle := newRig(t)
	if _, err := idle.retention(Policy{Sessions: day}).Run(t.Context(), func() (bool, error) { t.Error("asked with nothing to do"); return false, nil }, nothing); err != nil {
		t.Error(err)
	}
}

// usedMeanwhile lets somebody use a session between the look at it and its removal.
type usedMeanwhile struct {
	*session.Expiry
	use func()
}

func (u usedMeanwhile) Remove(ctx context.Context, top lathe.Session, before time.Time) (session.Expired, error) {
	u.use()
	return u.Expiry.Remove(ctx, top, before)
}

// What somebody begins to use after it was looked at stays.
func TestUsedMeanwhileStays(t *testing.T) {
	for name, use := range map[string]func(r *rig){
		"prompt": func(r *rig) {
			r.must(r.Store.Batch(r.t.Context(), func(tx store.Tx) error {
				_, err := tx.UpdateSession("ses_old", func(s *lathe.Session) error { s.Updated = now; return nil })
				return err
			}))
		},
		"child": func(r *rig) { r.add("ses_child", 0, below("ses_old")) },
		"lease": func(r *rig) {
			_, err := r.Store.Acquire(r.t.Context(), "ses_old", r.Self)
			r.must(err)
		},
		"bookmark": func(r *rig) {
			_, err := r.Service.Notes.Change(r.t.Context(), "ses_old", api.NotesChange{Mark: &api.Bookmark{Message: "msg_1"}})
			r.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.add("ses_old", 500, nil)
			re := r.retention(Policy{Sessions: day})
			re.Expiry = usedMeanwhile{session.NewExpiry(r.Service), func() { use(r) }}
			due, err := re.Run(t.Context(), nil, nothing)
			r.must(err)
			if diff := cmp.Diff(Due{Kept: 1}, due); diff != "" || !slices.Contains(r.left(), "ses_old") {
				t.Errorf("left %v (-want +got):\n%s", r.left(), diff)
			}
		})
	}
}
