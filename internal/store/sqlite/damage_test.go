package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
	"lathe/internal/store/local"
	"lathe/internal/store/storetest"
)

// history is a store with sessions of every kind of part, and what it holds.
func history(t testing.TB, dir string, sessions int) map[lathe.SessionID][]lathe.Message {
	t.Helper()
	s, ctx := open(t, dir), t.Context()
	must(t, s.PutProject(ctx, lathe.Project{ID: "p1", Worktree: "/work", Created: epoch, Updated: epoch}))
	want := map[lathe.SessionID][]lathe.Message{}
	for i := range sessions {
		ses := seed(t, s, fmt.Sprintf("ses_%d", i))
		long := strings.Repeat(fmt.Sprintf("long %d. ", i), codec.Spill/6)
		for j := range 6 {
			id := fmt.Sprintf("%d_%d", i, j)
			m := storetest.UserMessage(ses, "msg_u"+id, storetest.Text("prt_u"+id, "question "+id))
			must(t, s.AddMessage(ctx, m))
			a := storetest.Assistant(ses, "msg_v"+id, lathe.Assistant{Completed: epoch, Agent: "build", Cwd: "/work", Root: "/work", Finish: lathe.FinishStop})
			span := lathe.Span{Start: epoch, End: epoch}
			a.Parts = []lathe.Part{
				{ID: lathe.PartID("prt_s" + id), Body: &lathe.StepStart{Snapshot: strings.Repeat("ab", 20)}},
				{ID: lathe.PartID("prt_r" + id), Body: &lathe.Reasoning{Text: strings.Repeat("thought ", 40), Time: span}},
				{ID: lathe.PartID("prt_t" + id), Body: &lathe.ToolCall{CallID: "c" + id, Tool: "bash", State: &lathe.ToolDone{
					Input: []byte(`{"command":"seq 9"}`), Output: strings.Repeat("output ", 300*j), Metadata: map[string]any{"exit": 0.0}, Time: span,
				}}},
				{ID: lathe.PartID("prt_x" + id), Body: &lathe.Text{Text: strings.Repeat("answer ", 30*j), Time: span}},
			}
			if j == 3 {
				a.Parts = append(a.Parts, lathe.Part{ID: lathe.PartID("prt_l" + id), Body: &lathe.Text{Text: long, Time: span}})
			}
			must(t, s.AddMessage(ctx, a))
			want[ses] = append(want[ses], *m, *a)
		}
		must(t, s.SetTodos(ctx, ses, []lathe.Todo{{ID: "1", Content: "do it", Status: "pending"}}))
		must(t, s.SetValue(ctx, ses, "k", []byte(`{"a":1}`)))
		must(t, s.SetDiffs(ctx, ses, "", []lathe.FileDiff{{File: "f", Patch: "p"}}))
	}
	whole(t, s)
	must(t, s.Close())
	return want
}

// aFileOf returns a blob file of the store.
func aFileOf(t testing.TB, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "blob", "??", "*"+local.BlobExt))
	must(t, err)
	if len(found) == 0 {
		t.Fatal("there is no blob")
	}
	return found[0]
}

func flip(t testing.TB, path string, at int64, mask byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	b := []byte{0}
	_, err = f.ReadAt(b, at)
	must(t, err)
	b[0] ^= mask
	_, err = f.WriteAt(b, at)
	must(t, err)
}

// TestDamagedTextIsToldInItsPlace damages one long text. The rest of its session
// reads as before, what writes the part leaves what is stored, the check tells of
// it, and the text is there again once its file is.
func TestDamagedTextIsToldInItsPlace(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"missing": func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"flipped": func(t *testing.T, path string) { flip(t, path, 150, 0x40) },
		"cut":     func(t *testing.T, path string) { must(t, os.Truncate(path, 150)) },
		"empty":   func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
		"another": func(t *testing.T, path string) {
			other := open(t, t.TempDir())
			must(t, other.blobs.Save(strings.Repeat("0", 64), strings.Repeat("x", 1000)))
			must(t, os.Rename(other.blobs.Path(strings.Repeat("0", 64)), path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, ctx := t.TempDir(), t.Context()
			want := history(t, dir, 1)["ses_0"]
			path := aFileOf(t, dir)
			body, err := os.ReadFile(path)
			must(t, err)
			damage(t, path)

			s := open(t, dir)
			got, err := s.Tail(ctx, "ses_0")
			must(t, err)
			lost := &got[7].Parts[4]
			if told := lost.Body.(*lathe.Text).Text; lost.Damage == "" || !strings.HasPrefix(told, "[lathe: a text of ") || !strings.Contains(told, "cannot be read") {
				t.Errorf("in its place stands %q, damage %q", told, lost.Damage)
			}
			must(t, s.PutPart(ctx, lost))
			must(t, s.UpdateMessage(ctx, &got[7]))
			lost.Body, lost.Damage = want[7].Parts[4].Body, ""
			equal(t, want, got)

			found, err := s.Check(ctx)
			must(t, err)
			if len(found) != 1 || !strings.Contains(found[0].What, path) || !strings.Contains(found[0].Hint, "--repair") {
				t.Errorf("found: %+v", found)
			}
			must(t, os.WriteFile(path, body, 0o600))
			got, err = s.Tail(ctx, "ses_0")
			must(t, err)
			equal(t, want, got)
			whole(t, s)
		})
	}
}

// TestDamagedRowsAreToldInTheirPlace damages rows of each kind of document.
func TestDamagedRowsAreToldInTheirPlace(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	history(t, dir, 2)
	s := open(t, dir)
	for _, q := range []string{
		`UPDATE part SET data = substr(data, 1, 9) WHERE id IN ('prt_s0_0', 'prt_t0_1', 'prt_x0_2')`,
		`UPDATE part SET data = x'01ff00ff' WHERE id = 'prt_r0_3'`,
		`UPDATE message SET data = '{' WHERE id IN ('msg_u0_1', 'msg_v0_1')`,
		`UPDATE message SET seq = 'x' WHERE id = 'msg_u0_5'`,
		`UPDATE session SET data = '{"rules":7}' WHERE id = 'ses_1'`,
		`UPDATE todo SET data = '[' WHERE session = 1`,
		`UPDATE session_diff SET data = '[' WHERE session = 1`,
		`UPDATE session_value SET data = x'01ff' WHERE session = 1`,
		`UPDATE project SET data = '{'`,
	} {
		_, err := s.conn.ExecContext(ctx, q)
		must(t, err)
	}
	got, err := s.Tail(ctx, "ses_0")
	must(t, err)
	damaged := map[string]string{}
	for _, m := range got {
		if m.Damage != "" {
			damaged[string(m.ID)] = fmt.Sprintf("%T", m.Info)
		}
		for _, p := range m.Parts {
			if p.Damage != "" {
				damaged[string(p.ID)] = fmt.Sprintf("%T", p.Body)
			}
		}
	}
	equal(t, map[string]string{
		"msg_u0_1": "*lathe.User", "msg_v0_1": "*lathe.Assistant",
		"prt_s0_0": "*lathe.StepStart", "prt_t0_1": "*lathe.Text", "prt_x0_2": "*lathe.Text", "prt_r0_3": "*lathe.Text",
	}, damaged)
	if len(got) != 11 {
		t.Errorf("%d messages", len(got))
	}
	// A session whose rules are not known is read, but nothing runs in it.
	if all, err := s.Sessions(ctx, store.SessionFilter{}); err != nil || len(all) != 2 {
		t.Errorf("listed: %v, %v", all, err)
	}
	if _, err := s.Acquire(ctx, "ses_1", Self()); err == nil || !strings.Contains(err.Error(), "settings of session ses_1 are damaged") {
		t.Errorf("acquired: %v", err)
	}
	if _, err := s.Recover(ctx, "ses_0"); err != nil {
		t.Error(err)
	}
	found, err := s.Check(ctx)
	must(t, err)
	if len(found) != 12 {
		t.Errorf("%d injuries:", len(found))
		for _, i := range found {
			t.Error(i.What)
		}
	}
	must(t, s.Close())

	out, err := Repair(ctx, Options{Dir: dir})
	must(t, err)
	if out.Noted != 8 || out.Lost["message"] != 1 || out.Lost["todo"]+out.Lost["session_diff"]+out.Lost["session_value"] != 3 {
		t.Errorf("repaired: %+v", out)
	}
	s = open(t, dir)
	whole(t, s)
	lease, err := s.Acquire(ctx, "ses_1", Self())
	must(t, err)
	must(t, lease.Release(ctx))
	again, err := s.Tail(ctx, "ses_0")
	must(t, err)
	for i := range got {
		got[i].Damage = ""
		for j := range got[i].Parts {
			got[i].Parts[j].Damage = ""
		}
	}
	equal(t, got, slices.DeleteFunc(again, func(m lathe.Message) bool { return m.Seq == 11 })) // it stands in for the one that is lost
}

// TestEveryPage damages each page of a database in turn, in several ways. Either
// everything still reads as it was stored, or the check says that it does not;
// after the repair it is sound, and what was not on the page is as before.
func TestEveryPage(t *testing.T) {
	dir := t.TempDir()
	want := history(t, dir, 3)
	whole, err := os.ReadFile(filepath.Join(dir, "lathe.db"))
	must(t, err)
	const size = 4096
	// All of them takes minutes: some by chance, all with LATHE_TEST_EVERY_PAGE=1.
	some := 30
	if testing.Short() {
		some = 6
	}
	all := os.Getenv("LATHE_TEST_EVERY_PAGE") != ""
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	ways := map[string]func(page []byte){
		"zeroed":  func(page []byte) { clear(page) },
		"noise":   func(page []byte) { noise(random, page) },
		"flipped": func(page []byte) { page[random.IntN(len(page))] ^= 1 << random.IntN(8) },
		"header":  func(page []byte) { noise(random, page[:16]) },
		"halved":  func(page []byte) { clear(page[size/2:]) },
	}
	pages := len(whole)/size - 1
	for at := size; at < len(whole); at += size {
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			damage := ways[way]
			if !all && random.IntN(pages*len(ways)) >= some {
				continue
			}
			t.Run(fmt.Sprintf("%s page %d, seed %d", way, at/size, seed), func(t *testing.T) {
				data := append([]byte(nil), whole...)
				damage(data[at : at+size])
				must(t, os.WriteFile(filepath.Join(dir, "lathe.db"), data, 0o600))
				mended(t, dir, want)
			})
		}
	}
}

func noise(random *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(random.Uint32())
	}
}

func mended(t *testing.T, dir string, want map[lathe.SessionID][]lathe.Message) {
	ctx := t.Context()
	s, err := openTest(ctx, Options{Dir: dir, Now: func() time.Time { return epoch }})
	found := []Injury{{}}
	if err == nil {
		if found, err = s.Check(ctx); err != nil {
			t.Errorf("check: %v", err)
		}
		if _, bad := intact(ctx, s, want); bad != nil && len(found) == 0 {
			t.Errorf("what cannot be read is not found: %v", bad)
		}
		must(t, s.Close())
	}
	out, err := Repair(ctx, Options{Dir: dir, Now: func() time.Time { return epoch }})
	must(t, err)
	s, err = openTest(ctx, Options{Dir: dir, Now: func() time.Time { return epoch }})
	must(t, err)
	defer s.Close()
	whole(t, s)
	same, bad := intact(ctx, s, want)
	if bad != nil {
		t.Errorf("after the repair: %v", bad)
	}
	all := 0
	for _, messages := range want {
		all += len(messages)
	}
	// A page holds some tens of messages at most.
	if same < all*2/5 {
		t.Errorf("of %d messages %d are as they were: %+v, found %v", all, same, out, found)
	}
}

// intact counts the messages whose parts read as they were stored; bad is why something
// cannot be read at all.
func intact(ctx context.Context, s *testDB, want map[lathe.SessionID][]lathe.Message) (same int, bad error) {
	if _, err := s.Sessions(ctx, store.SessionFilter{}); err != nil {
		bad = err
	}
	for id, messages := range want {
		for _, m := range messages {
			got, err := s.Message(ctx, id, m.ID)
			switch {
			case err != nil && !errors.Is(err, store.ErrNotFound):
				bad = err
			case err == nil && cmp.Equal(m.Parts, got.Parts):
				same++
			}
		}
	}
	return same, bad
}

// TestRepairIsAlone repairs nothing while the database is open elsewhere.
func TestRepairIsAlone(t *testing.T) {
	dir := t.TempDir()
	want := history(t, dir, 1)
	s := open(t, dir)
	if _, err := s.Session(t.Context(), "ses_0"); err != nil {
		t.Fatal(err)
	}
	_, err := Repair(t.Context(), Options{Dir: dir})
	if e, ok := errors.AsType[*lathe.Error](err); !ok || e.Code != lathe.CodeBusy {
		t.Errorf("repaired beside an open one: %v", err)
	}
	must(t, s.Close())
	if _, err = Repair(t.Context(), Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	whole(t, s)
	if same, bad := intact(t.Context(), s, want); bad != nil || same != 12 {
		t.Errorf("%d messages are the same, %v", same, bad)
	}
}

// TestDatabaseThatIsGone finds long texts beside a database that was removed or
// emptied. Nothing sweeps them, and they serve again when it is brought back.
func TestDatabaseThatIsGone(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, ctx := t.TempDir(), t.Context()
			want := history(t, dir, 2)
			path := filepath.Join(dir, "lathe.db")
			kept, err := os.ReadFile(path)
			must(t, err)
			old := time.Now().Add(-time.Hour)
			files, err := filepath.Glob(filepath.Join(dir, "blob", "??", "*"))
			must(t, err)
			for _, f := range files {
				must(t, os.Chtimes(f, old, old))
			}
			must(t, lose(path))
			must(t, os.WriteFile(path+"-wal", []byte("what was not folded in yet"), 0o600))

			s := open(t, dir)
			if !s.Restarted() {
				t.Error("nothing tells that it starts empty")
			}
			if _, err := s.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			found, err := s.Check(ctx)
			must(t, err)
			if len(found) != 1 || !strings.Contains(found[0].What, "2 long texts") {
				t.Errorf("found: %+v", found)
			}
			must(t, s.Close())
			if left, _ := filepath.Glob(filepath.Join(dir, "damaged", "*", "lathe.db-wal")); len(left) != 1 {
				t.Errorf("the log of the lost database: %q", left)
			}

			must(t, os.Remove(path))
			os.Remove(path + "-wal")
			must(t, os.WriteFile(path, kept, 0o600))
			s = open(t, dir)
			whole(t, s)
			if same, bad := intact(ctx, s, want); bad != nil || same != 24 || s.Restarted() {
				t.Errorf("%d messages came back, %v", same, bad)
			}
		})
	}
	fresh := open(t, t.TempDir())
	if fresh.Restarted() {
		t.Error("a new directory seems to have lost something")
	}
	whole(t, fresh)
}

func TestStraysGoWhenAPersonSaysSo(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	history(t, dir, 1)
	must(t, os.Remove(filepath.Join(dir, "lathe.db")))
	file := aFileOf(t, dir)
	must(t, os.Chtimes(file, time.Unix(0, 0), time.Unix(0, 0)))
	s := open(t, dir)
	if out, err := s.SweepStrays(ctx); err != nil || out.Files != 1 || out.Bytes == 0 {
		t.Errorf("removed %+v, %v", out, err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("it is still there")
	}
	whole(t, s)
}

// TestRepairWithoutADatabase puts the newest backup in the place of a file that is
// no database any more, and changes nothing where there is none.
func TestRepairWithoutADatabase(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	want := history(t, dir, 1)
	path := filepath.Join(dir, "lathe.db")
	good, err := os.ReadFile(path)
	must(t, err)
	junk := []byte(strings.Repeat("junk", 4096))
	must(t, os.WriteFile(path, junk, 0o600))
	_, err = Repair(ctx, Options{Dir: dir})
	if e, ok := errors.AsType[*lathe.Error](err); !ok || e.Hint == "" {
		t.Errorf("without a backup: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(junk) {
		t.Errorf("the file was changed: %v", err)
	}
	must(t, os.MkdirAll(filepath.Join(dir, "backup"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "backup", "lathe-v4.db"), good, 0o600))
	out, err := Repair(ctx, Options{Dir: dir})
	must(t, err)
	if kept, err := os.ReadFile(filepath.Join(out.Copy, "lathe.db")); err != nil || string(kept) != string(junk) || out.Backup == "" {
		t.Errorf("the copy: %v, %+v", err, out)
	}
	s := open(t, dir)
	whole(t, s)
	if same, bad := intact(ctx, s, want); bad != nil || same != 12 {
		t.Errorf("%d messages came back, %v", same, bad)
	}
}
