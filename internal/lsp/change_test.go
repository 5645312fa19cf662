package lsp

import (
	cmp2 "cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/shell"
	"lathe/internal/workspace"
)

// desk is a directory whose .fake files a fake server serves.
type desk struct {
	t       *testing.T
	dir     string
	log     string
	pool    *Pool
	start   func(shell.Program) (*shell.Service, error)
	servers *Servers
	mu      sync.Mutex
	told    []string
}

func newDesk(t *testing.T, how string, change ...func(*Options)) *desk {
	t.Helper()
	dir, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir, log: filepath.Join(t.TempDir(), "log")}
	runner := shell.New(shell.Options{})
	d.pool = NewPool(PoolOptions{})
	d.start = runner.Open
	d.servers = d.open(dir, how, change...)
	t.Cleanup(func() {
		d.servers.Close()
		d.pool.Close()
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *desk) open(dir, how string, change ...func(*Options)) *Servers {
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	o := Options{
		Place: Place{Dir: dir, Worktree: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "LSP_FAKE_LOG=" + d.log}, Trusted: true},
		Pool:  d.pool, Open: d.start, Repository: "one", Wait: time.Minute,
		Specs: Configure([]Setting{{ID: "fake", Command: []string{self}, Extensions: []string{".fake"}, Env: map[string]string{"LSP_FAKE": how}, Initial: map[string]any{"fake": map[string]any{"level": 3}}}}, false),
		Notice: func(text string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.told = append(d.told, text)
		},
	}
	for _, c := range change {
		c(&o)
	}
	return New(o)
}

func (d *desk) notices() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.told
}

func (d *desk) file(name, text string) File {
	return File{Path: filepath.Join(d.dir, name), Text: text}
}

// change makes a file hold another text, as a tool does.
func (d *desk) change(name, before, after string) Report {
	d.t.Helper()
	return d.changeWithin(d.t.Context(), name, before, after)
}

func (d *desk) changeWithin(ctx context.Context, name, before, after string) Report {
	d.t.Helper()
	from := d.file(name, before)
	from.Missing = before == ""
	ch := d.servers.Before(from)
	if err := os.WriteFile(from.Path, []byte(after), 0o644); err != nil {
		d.t.Fatal(err)
	}
	return ch.After(ctx, d.file(name, after))
}

// brief is what a report says in few words.
func (d *desk) brief(r Report) []string {
	out := []string{}
	each := func(what string, all map[string][]Found) {
		for path, list := range all {
			for _, f := range list {
				out = append(out, fmt.Sprintf("%s %s %d:%d %s|%s", what, filepath.Base(path), f.Range.Start.Line, f.Range.Start.Character, f.Message, f.Line))
			}
		}
	}
	each("new", r.New)
	each("fixed", r.Fixed)
	if r.Older > 0 {
		out = append(out, fmt.Sprintf("older %d", r.Older))
	}
	for _, id := range r.Waiting {
		out = append(out, "waiting "+id)
	}
	slices.SortFunc(out, func(a, b string) int {
		order := func(s string) int { return strings.Index("new fixed older waiting", strings.Fields(s)[0]) }
		return cmp2.Or(cmp2.Compare(order(a), order(b)), strings.Compare(a, b))
	})
	return out
}

func (d *desk) expect(what string, r Report, want ...string) {
	d.t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, d.brief(r)); diff != "" {
		d.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// What a change brings is told, what was there before is counted, what it mends is said.
func TestReportTellsWhatTheChangeBrought(t *testing.T) {
	for _, how := range []string{"push", "pull", "push incremental", "pull incremental", "noise stale", "bytes", "registers"} {
		t.Run(how, func(t *testing.T) {
			d := newDesk(t, how)
			d.expect("an error", d.change("a.fake", "old bad\nfine\n", "old bad\nthe 😀 bad one\npoor\n"), "new a.fake 1:7 bad word|the 😀 bad one", "older 1")
			d.expect("moved down", d.change("a.fake", "old bad\nthe 😀 bad one\npoor\n", "x\nold bad\nthe 😀 bad one\n"), "older 2")
			d.expect("mended", d.change("a.fake", "x\nold bad\nthe 😀 bad one\n", "x\nthe 😀 bad one\n"), "fixed a.fake 1:4 bad word|", "older 1")
			d.expect("nothing", d.change("a.fake", "x\nthe 😀 bad one\n", "x\nthe 😀 bad one\n"), "older 1")
			d.expect("a new file", d.change("b.fake", "", "bad"), "new b.fake 0:0 bad word|bad")
			d.expect("Windows line ends", d.change("c.fake", "a\r\nb\r\n", "a\r\nb\r\nbad\r\n"), "new c.fake 2:0 bad word|bad")
			d.expect("no file of the server", d.change("d.txt", "", "bad"))
		})
	}
}

func TestReportTellsOfOtherFiles(t *testing.T) {
	d := newDesk(t, "others")
	d.expect("first", d.change("a.fake", "fine", "well"))
	d.servers.Read(d.file("b.fake", "fine too"))
	d.expect("broken", d.change("a.fake", "well", "bad"), "new a.fake 0:0 bad word|bad", "new b.fake 0:0 bad word|")
	d.expect("mended", d.change("a.fake", "bad", "well"), "fixed a.fake 0:0 bad word|", "fixed b.fake 0:0 bad word|")
}

func TestReportOfEverything(t *testing.T) {
	d := newDesk(t, "push", func(o *Options) { o.Everything = true })
	d.expect("all", d.change("a.fake", "bad\n", "bad\nx\n"), "new a.fake 0:0 bad word|bad")
}

// Five hundred files of one change are one exchange with the server.
func TestManyFilesAreOneChange(t *testing.T) {
	d := newDesk(t, "push")
	var before, after []File
	for i := range 500 {
		f := d.file(fmt.Sprintf("%d.fake", i), "fine")
		before = append(before, f)
		f.Text = "bad"
		after = append(after, f)
	}
	r := d.servers.Before(before...).After(t.Context(), after...)
	if len(r.New) != 500 || len(r.Waiting) != 0 {
		t.Errorf("%d files with errors, waiting for %v", len(r.New), r.Waiting)
	}
	d.servers.Close()
	if n := strings.Count(readLog(t, d.log), "workspace/didChangeWatchedFiles"); n != 2 {
		t.Errorf("the server was told of files %d times", n)
	}
}

// Whatever a server does, the change is made, and the reason is told once.
func TestHostileServers(t *testing.T) {
	tests := []struct {
		how    string
		want   []string
		notice string // how it begins
	}{
		{"exit", []string{}, "The language server fake does not work: it ended with exit code 3: cannot find its library."},
		{"garbage", []string{}, "The language server fake does not work: it "},
		{"flood", []string{"new a.fake 100001:0 bad word|"}, ""},
		{"crash", []string{}, "The language server fake does not work: it ended with exit code 2: panic: bad text."},
	}
	for _, tt := range tests {
		t.Run(tt.how, func(t *testing.T) {
			d := newDesk(t, tt.how)
			d.expect("first", d.change("a.fake", "fine\n", "fine\nbad\n"), tt.want...)
			if tt.how != "flood" {
				d.change("b.fake", "fine\n", "bad\n")
			}
			told := d.notices()
			if tt.notice == "" && len(told) > 0 || tt.notice != "" && (len(told) != 1 || !strings.HasPrefix(told[0], tt.notice)) {
				t.Errorf("told %q", told)
			}
		})
	}
}

// A server that does not answer is waited for once: here until the caller has enough of
// it, the second time not at all, although it might take an hour.
func TestServersThatHangAreWaitedForOnce(t *testing.T) {
	for _, how := range []string{"hang", "mute", "deaf"} {
		t.Run(how, func(t *testing.T) {
			d := newDesk(t, how, func(o *Options) { o.Wait = time.Hour })
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			d.expect("first", d.changeWithin(ctx, "a.fake", "fine", "bad"), "waiting fake")
			d.expect("second", d.change("a.fake", "bad", "worse"), "waiting fake")
			d.expect("another file", d.change("b.fake", "fine", "worse"), "waiting fake")
		})
	}
}

// What a server says too late is told later, once.
func TestLateAnswersAreNews(t *testing.T) {
	d := newDesk(t, "late", func(o *Options) { o.Wait = time.Hour })
	d.expect("start", d.change("a.fake", "fine", "well"))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	d.expect("first", d.changeWithin(ctx, "a.fake", "well", "bad"))
	if r := d.servers.News(); len(r.New) != 0 {
		t.Errorf("news before there are any: %v", d.brief(r))
	}
	c, path := d.servers.clients()[0], filepath.Join(d.dir, "a.fake")
	c.mu.Lock()
	before := c.spoken(path)
	c.mu.Unlock()
	d.servers.Read(d.file("b.fake", "x")) // lets it answer
	for {
		c.mu.Lock()
		done, news := c.spoken(path) > before, c.news
		c.mu.Unlock()
		if done {
			break
		}
		<-news
	}
	d.expect("news", d.servers.News(), "new a.fake 0:0 bad word|bad")
	d.expect("no news", d.servers.News())
}

// A server that crashes is started again, a few times.
func TestCrashesAreBounded(t *testing.T) {
	d := newDesk(t, "crash")
	for i := range 6 {
		d.change(fmt.Sprintf("%d.fake", i), "fine", "bad")
		c := d.servers.clients()
		for len(c) > 0 { // its end is seen a moment later
			<-c[0].gone()
			c = d.servers.clients()
		}
	}
	if n := strings.Count(readLog(t, d.log), "initialize {"); n != mostCrashes {
		t.Errorf("started %d times", n)
	}
	if st := d.servers.Status(); len(st) != 1 || st[0].State != "error" || !strings.Contains(st[0].Why, "panic: bad text") {
		t.Errorf("%+v", st)
	}
}

func TestWorktreesShareAServer(t *testing.T) {
	for how, starts := range map[string]int{"folders": 1, "alone": 2} {
		t.Run(how, func(t *testing.T) {
			d := newDesk(t, how)
			other, err := workspace.Resolve(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			second := d.open(other, how)
			d.expect("one", d.change("a.fake", "fine", "bad"), "new a.fake 0:0 bad word|bad")
			path := filepath.Join(other, "a.fake")
			r := second.Before(File{Path: path, Text: "fine"}).After(t.Context(), File{Path: path, Text: "a bad"})
			d.expect("other", r, "new a.fake 0:2 bad word|a bad")
			d.servers.Close()
			r = second.Before(File{Path: path, Text: "a bad"}).After(t.Context(), File{Path: path, Text: "ok"})
			d.expect("after the first is closed", r, "fixed a.fake 0:2 bad word|")
			second.Close()
			if n := strings.Count(readLog(t, d.log), "initialize {"); n != starts {
				t.Errorf("%d servers", n)
			}
			if n := strings.Count(readLog(t, d.log), "shutdown"); n != starts {
				t.Errorf("%d were asked to end", n)
			}
		})
	}
}

// A server serves only what its process can read, and write if it runs what the project
// brings: for another root one more is started, which serves both.
func TestServersServeWhatTheyReach(t *testing.T) {
	for name, tt := range map[string]struct {
		runs, read bool
		starts     int
	}{"read": {read: true, starts: 1}, "read, but it builds there": {read: true, runs: true, starts: 2}, "neither": {starts: 2}} {
		t.Run(name, func(t *testing.T) {
			other, err := workspace.Resolve(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			reach := &Reach{}
			bounded := func(o *Options) {
				o.Specs[len(o.Specs)-1].Runs, o.Reach = tt.runs, func() *Reach { return reach }
			}
			d := newDesk(t, "folders", bounded)
			reach.Write = []string{d.dir}
			if tt.read {
				reach.Read = []string{filepath.Dir(other)}
			}
			d.expect("one", d.change("a.fake", "fine", "bad"), "new a.fake 0:0 bad word|bad")
			reach = &Reach{Write: []string{d.dir, other}}
			second := d.open(other, "folders", bounded)
			t.Cleanup(second.Close)
			r := second.Before(File{Path: filepath.Join(other, "a.fake"), Text: "fine"}).After(t.Context(), File{Path: filepath.Join(other, "a.fake"), Text: "a bad"})
			d.expect("other", r, "new a.fake 0:2 bad word|a bad")
			if n := strings.Count(readLog(t, d.log), "initialize {"); n != tt.starts {
				t.Errorf("%d servers, want %d", n, tt.starts)
			}
		})
	}
}

// Idle servers are stopped, and come back with the next use.
func TestIdleServersStop(t *testing.T) {
	d := newDesk(t, "push", func(o *Options) { o.Idle = time.Minute })
	now := time.Now()
	var mu sync.Mutex
	d.pool.opts.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	d.expect("first", d.change("a.fake", "fine", "bad"), "new a.fake 0:0 bad word|bad")
	d.pool.look()
	if len(d.servers.clients()) != 1 {
		t.Fatal("a server in use was stopped")
	}
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	d.pool.look()
	if n := len(d.servers.clients()); n != 0 {
		t.Fatalf("%d servers", n)
	}
	d.expect("again", d.change("a.fake", "bad", "bad\nbad"), "new a.fake 1:0 bad word|bad", "older 1")
}

// The largest server is stopped when all together have too much memory; one that comes
// back and is too large again stays off.
func TestMemoryIsBounded(t *testing.T) {
	d := newDesk(t, "push", func(o *Options) { o.Memory = 1 << 30 })
	size := int64(1 << 29)
	d.pool.opts.Memory = func(pids []int) int64 { return size }
	d.change("a.fake", "fine", "bad")
	d.pool.bound()
	if len(d.servers.clients()) != 1 {
		t.Fatal("a small server was stopped")
	}
	size = 3 << 30
	d.pool.bound()
	if len(d.servers.clients()) != 0 {
		t.Fatal("a large server goes on")
	}
	d.change("a.fake", "bad", "worse bad")
	if len(d.servers.clients()) != 1 {
		t.Fatal("it did not come back")
	}
	d.pool.bound()
	d.change("a.fake", "worse bad", "bad")
	if len(d.servers.clients()) != 0 {
		t.Error("it came back although it was too large twice")
	}
	want := "The language server fake was stopped: it took 3.0 GiB of memory, and servers may have 1.0 GiB together (languages.memory); it is started again when it is needed."
	if told := strings.Join(d.notices(), "\n"); !strings.Contains(told, want) {
		t.Errorf("told %q", told)
	}
}

// A file that is removed is closed, and what was wrong in it is no error any more.
func TestRemovedFile(t *testing.T) {
	d := newDesk(t, "push")
	d.change("a.fake", "fine", "bad")
	a := d.file("a.fake", "bad")
	ch := d.servers.Before(a)
	r := ch.After(t.Context(), File{Path: a.Path, Missing: true})
	d.expect("removed", r)
	if st := d.servers.Status(); len(st) != 1 || st[0].Errors != 0 {
		t.Errorf("%+v", st)
	}
	d.servers.Close() // it has read all by its end
	if !strings.Contains(readLog(t, d.log), "textDocument/didClose") {
		t.Error("it was not closed")
	}
}

func TestLargeFilesAreNotSent(t *testing.T) {
	d := newDesk(t, "push")
	d.expect("large", d.change("a.fake", "fine", "bad"+strings.Repeat("x", maxText)))
	d.servers.Close()
	if log := readLog(t, d.log); strings.Contains(log, "didChange {") || strings.Contains(log, "xxx") {
		t.Error("the text was sent")
	}
}
