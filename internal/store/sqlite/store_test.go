package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store/storetest"
)

var epoch = time.UnixMilli(1795182093288).UTC()

func open(t testing.TB, dir string) *testDB {
	t.Helper()
	s, err := openTest(t.Context(), Options{Dir: dir, Now: func() time.Time { return epoch }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// whole fails the test unless everything is as it was stored.
func whole(t testing.TB, s *testDB) {
	t.Helper()
	found, err := s.Check(t.Context())
	must(t, err)
	for _, i := range found {
		t.Errorf("damaged: %s %s", i.Session, i.What)
	}
}

func equal(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func openText1(ses, msg, id string) *lathe.Part {
	return &lathe.Part{
		ID: lathe.PartID(id), SessionID: lathe.SessionID(ses), MessageID: lathe.MessageID(msg),
		Body: &lathe.Text{Time: lathe.Span{Start: epoch}},
	}
}

func seed(t testing.TB, s *testDB, id string) lathe.SessionID {
	t.Helper()
	must(t, s.CreateSession(t.Context(), storetest.Session(id)))
	return lathe.SessionID(id)
}

// topFiles returns, for each file below the directories, the directory it is in.
func topFiles(t testing.TB, dir string, subs ...string) (found []string) {
	t.Helper()
	for _, sub := range subs {
		filepath.WalkDir(filepath.Join(dir, sub), func(_ string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, sub)
			}
			return nil
		})
	}
	return found
}
