package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lathe/internal/store"
	"lathe/internal/store/local"
	"lathe/internal/store/storetest"
)

// TestContract tests what every store has to do.
func TestContract(t *testing.T) {
	storetest.Run(t, storetest.Under{
		New:    func(t testing.TB) storetest.Place { return directory(t.TempDir()) },
		Living: livingOwner,
		Unseen: func() store.Owner { return local.Process{PID: 1, Host: "elsewhere"}.Owner() },
		Old: func(t testing.TB) map[string]storetest.Old {
			all := map[string]storetest.Old{}
			for version := int64(1); version < schema; version++ {
				all[fmt.Sprint("schema ", version)] = storetest.Old{
					Place: directory(oldStore(t, version, 10)), Session: "ses_old", Messages: 10,
					Text: func(i int) string { return fmt.Sprintf("word%d said", i) },
				}
			}
			return all
		},
		Crash: crash,
	})
}

// directory is a place for a database.
type directory string

func (d directory) Open(_ testing.TB, o storetest.Options) (*storetest.Opened, error) {
	db, err := Open(context.Background(), Options{Dir: string(d), Now: o.Now, Fault: o.Fault})
	if err != nil {
		return nil, err
	}
	return &storetest.Opened{
		Store: storetest.Store{Store: db.Store()}, Self: Self(), Close: db.Close,
		Whole: func(t testing.TB) { whole(t, asTest(db)) },
	}, nil
}

func livingOwner(t testing.TB) (store.Owner, func()) {
	sleeper := exec.CommandContext(t.Context(), "sleep", "60")
	must(t, sleeper.Start())
	return local.ProcessAt(sleeper.Process.Pid).Owner(), func() {
		must(t, sleeper.Process.Kill())
		_ = sleeper.Wait() // killed
	}
}

// crashRole is what the test binary does as the process that is to crash: the writes of
// the suite, telling of each.
func crashRole(dir string) error {
	s, err := directory(dir).Open(nil, storetest.Options{Now: func() time.Time { return epoch }})
	if err != nil {
		return err
	}
	if err := storetest.Crashing(context.Background(), s, func(name string) { fmt.Println(name) }); err != nil {
		return err
	}
	return s.Close()
}

// crashing is a command for the process that is to crash, and what it told so far.
func crashing(at storetest.Place) (*exec.Cmd, func() []string) {
	cmd := exec.Command(os.Args[0], string(at.(directory)), "")
	cmd.Env = append(os.Environ(), roleEnv+"=crash")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	return cmd, func() []string {
		told := strings.Split(strings.TrimSpace(out.String()), "\n")
		if told[0] == "" {
			return nil
		}
		return told
	}
}
