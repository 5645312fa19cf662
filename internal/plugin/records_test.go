package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/plugin"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.Local)

func records(t *testing.T) plugin.Records {
	return plugin.Records{Path: filepath.Join(t.TempDir(), "hook-calls.jsonl")}
}

func keep(t *testing.T, r plugin.Records, at time.Time, dir string, accounts ...plugin.Account) {
	t.Helper()
	if err := r.Add(t.Context(), at, dir, accounts); err != nil {
		t.Fatal(err)
	}
}

func sum(t *testing.T, r plugin.Records, since time.Time, dir string) []plugin.Account {
	t.Helper()
	out, err := r.Sum(since, dir)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What hooks cost is summed over processes, and told by day and directory.
func TestRecords(t *testing.T) {
	r := records(t)
	if got := sum(t, r, time.Time{}, ""); len(got) != 0 {
		t.Errorf("before anything: %+v", got)
	}
	a := plugin.Account{Plugin: "p", Hook: "event", Calls: 2, Failed: 1, Time: 3 * time.Second, Longest: 2 * time.Second, LastError: "old"}
	b := plugin.Account{Plugin: "p", Hook: "event", Calls: 1, Failed: 1, Time: time.Second, Longest: time.Second, LastError: "new"}
	c := plugin.Account{Plugin: "o", Hook: "chat.params", Calls: 1, Time: 1}
	keep(t, r, noon.AddDate(0, 0, -2), "/a", a)
	keep(t, r, noon, "/a", b, c)
	keep(t, r, noon, "/b", c)
	f, err := os.OpenFile(r.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"day":"2026-03-04","dir":"/a","plug`) // cut short
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	both := plugin.Account{Plugin: "p", Hook: "event", Calls: 3, Failed: 2, Time: 4 * time.Second, Longest: 2 * time.Second, LastError: "new"}
	twice := plugin.Account{Plugin: "o", Hook: "chat.params", Calls: 2, Time: 2, Longest: 0}
	for name, one := range map[string]struct {
		since time.Time
		dir   string
		want  []plugin.Account
	}{
		"all":          {want: []plugin.Account{twice, both}},
		"a directory":  {dir: "/a", want: []plugin.Account{c, both}},
		"a day":        {since: noon.Add(-12 * time.Hour), want: []plugin.Account{twice, b}},
		"another":      {dir: "/c", want: []plugin.Account{}},
		"from its day": {since: noon.AddDate(0, 0, -2), dir: "/a", want: []plugin.Account{c, both}},
	} {
		if diff := cmp.Diff(one.want, sum(t, r, one.since, one.dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The file stays bounded: it is summed up, and what is oldest goes first.
func TestRecordsStaySmall(t *testing.T) {
	r := records(t)
	keep(t, r, noon.AddDate(-2, 0, 0), "/a", plugin.Account{Plugin: "gone", Hook: "event", Calls: 1})
	one := plugin.Account{Plugin: "p", Hook: "event", Calls: 1, Failed: 1, LastError: strings.Repeat("x", 250)}
	const rounds = 4000
	for range rounds / 50 {
		accounts := make([]plugin.Account, 50)
		for i := range accounts {
			accounts[i] = one
		}
		keep(t, r, noon, "/a", accounts...)
	}
	keep(t, r, noon, "/a", one)
	info, err := os.Stat(r.Path)
	if err != nil || info.Size() > 1<<20+64<<10 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	want := []plugin.Account{{Plugin: "p", Hook: "event", Calls: rounds + 1, Failed: rounds + 1, LastError: one.LastError}}
	if diff := cmp.Diff(want, sum(t, r, time.Time{}, "")); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
}

// Several processes add at the same time; nothing is lost.
func TestRecordsAtOnce(t *testing.T) {
	r := records(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := r.Add(t.Context(), noon, "/a", []plugin.Account{{Plugin: "p", Hook: "event", Calls: 1}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := sum(t, r, time.Time{}, ""); len(got) != 1 || got[0].Calls != 160 {
		t.Errorf("sum %+v", got)
	}
}

// Accounts are handed over after many calls, after a minute, and when somebody wants
// them; a hook that is not meant counts as not there.
func TestAccountsAreHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var took []int
		c := plugin.NewChain(nil, plugin.Hooks{Name: "p", TextComplete: func(context.Context, plugin.TextInput, *string) error { return nil }},
			plugin.Hooks{Name: "other", TextComplete: func(context.Context, plugin.TextInput, *string) error { return plugin.ErrNotMeant }})
		c.OnAccounts(func() {
			mu.Lock()
			defer mu.Unlock()
			for _, a := range c.Take() {
				if a.Plugin != "p" {
					t.Errorf("account %+v", a)
				}
				took = append(took, a.Calls)
			}
		})
		call := func(n int) {
			for range n {
				c.TextComplete(t.Context(), plugin.TextInput{}, "x")
			}
		}
		call(300)
		time.Sleep(59 * time.Second)
		call(1)
		time.Sleep(time.Second)
		synctest.Wait()
		call(3)
		c.HandOver()
		c.HandOver()
		time.Sleep(time.Hour)
		c.OnAccounts(nil)
		call(1)
		c.HandOver()
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]int{256, 45, 3}, took); diff != "" {
			t.Errorf("handed over (-want +got):\n%s", diff)
		}
	})
}

func notMeant(_ context.Context, _ plugin.ToolInput, args *json.RawMessage) error {
	*args = nil
	return plugin.ErrNotMeant
}

// A hook before a call that is not meant leaves the call as it is.
func TestNotMeantBeforeACall(t *testing.T) {
	c := plugin.NewChain(func(_ string, err error) { t.Error(err) }, plugin.Hooks{Name: "p", ToolBefore: notMeant})
	args, err := c.ToolBefore(t.Context(), plugin.ToolInput{Tool: "bash", Args: []byte(`{"a":1}`), SessionID: lathe.SessionID("s")})
	if err != nil || string(args) != `{"a":1}` || len(c.Take()) != 0 {
		t.Errorf("arguments %s, %v", args, err)
	}
}
