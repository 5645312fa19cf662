package terminal

import (
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"lathe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTerminal(t *testing.T) {
	var mu sync.Mutex
	var kinds []string
	m := NewManager(Options{IDs: lathe.NewIDs(nil, nil), Publish: func(k Kind, _ Info) {
		mu.Lock()
		defer mu.Unlock()
		kinds = append(kinds, string(k))
	}})
	defer m.Close()
	term, err := m.Create(Create{Command: "sh", Dir: t.TempDir(), Directory: "/d", Env: []string{"PS1=", "PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := term.Change("mine", 40, 100); err != nil {
		t.Fatal(err)
	}
	r := term.Attach()
	defer r.Close()
	if err := term.Write([]byte("stty size; echo do''ne; exit 3\n")); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for {
		data, ok := r.Next(nil)
		if !ok {
			break
		}
		out.Write(data)
	}
	if !strings.Contains(out.String(), "40 100") || !strings.Contains(out.String(), "done") {
		t.Errorf("output %q", out.String())
	}
	<-term.done
	if info := term.Info(); !info.Exited || info.Code != 3 || info.Title != "mine" {
		t.Errorf("info %+v", info)
	}
	if got := m.List(""); len(got) != 0 {
		t.Errorf("still listed: %+v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(kinds, " "); got != "created updated exited" {
		t.Errorf("changes: %s", got)
	}
}

func TestCloseEndsThem(t *testing.T) {
	m := NewManager(Options{IDs: lathe.NewIDs(nil, nil), Publish: func(Kind, Info) {}})
	for range 3 {
		if _, err := m.Create(Create{Command: "sleep", Args: []string{"1000"}, Dir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
	}
	all := m.List("")
	term, err := m.Get(all[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	term.Remove()
	if err := m.Close(); err != nil || len(m.List("")) != 0 {
		t.Errorf("after close: %v, %v", err, m.List(""))
	}
	if _, err := m.Create(Create{Command: "sh"}); err == nil {
		t.Error("opened after close")
	}
}
