//go:build linux

package team

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"lathe/internal/store/postgres/pgtest"
)

// The figures of docs/benchmarks.md about several servers:
//
//	go test -run - -bench . -benchtime 1x ./bench/team

// BenchmarkStep is a step with a command on a server, with PostgreSQL and with files in turn:
// what it takes of the server's processor, of time, and what is stored of it.
func BenchmarkStep(b *testing.B) {
	const steps = 100
	for b.Loop() {
		db := pgtest.Start(b)
		shared, files := &rig{t: b, db: db}, &rig{t: b, db: db, files: true}
		shared.open(1, 0, played)
		files.open(1, 0, played)
		for range 4 { // what is made once, and the second page of each index, with a third above them
			shared.turn(fmt.Sprint("steps ", steps))
			files.turn(fmt.Sprint("steps ", steps))
		}
		var at, beside spent
		var grown, besideGrown, made int64
		for range 3 {
			before, besideBefore, sofar := size(b, db), files.size(), transactions(b, db)
			at.add(shared.turn(fmt.Sprint("steps ", steps)))
			beside.add(files.turn(fmt.Sprint("steps ", steps)))
			rest(1500 * time.Millisecond) // the counters are told late
			made += transactions(b, db) - sofar
			grown, besideGrown = grown+size(b, db)-before, besideGrown+files.size()-besideBefore
		}
		const n = 3 * steps
		b.ReportMetric(at.wall.Seconds()*1e3/n, "ms/step")
		b.ReportMetric(beside.wall.Seconds()*1e3/n, "ms/step-files")
		b.ReportMetric(at.cpu.Seconds()*1e3/n, "cpu-ms/step")
		b.ReportMetric(beside.cpu.Seconds()*1e3/n, "cpu-ms/step-files")
		b.ReportMetric(float64(made)/n, "transactions/step")
		b.ReportMetric(float64(grown)/n, "B/step")
		b.ReportMetric(float64(besideGrown)/n, "B/step-files")
	}
}

// BenchmarkIdle is how many transactions a server makes in a second while nothing happens
// and a client listens.
func BenchmarkIdle(b *testing.B) {
	for b.Loop() {
		r := &rig{t: b, db: pgtest.Start(b)}
		r.open(1, 0, played)
		r.turn("steps 1")
		ctx, stop := context.WithCancel(b.Context())
		l := r.procs[0].stamps(ctx)
		rest(15 * time.Second) // leases are given back, and the counters are told late
		before := transactions(b, r.db)
		const seconds = 30
		rest(seconds * time.Second)
		b.ReportMetric(float64(transactions(b, r.db)-before-1)/seconds, "transactions/s")
		stop()
		l.wg.Wait()
	}
}

// BenchmarkDeltas is an answer of 20,000 deltas, 1,000 in a second, with listeners on three
// servers: what is written for it, and how late the text is on the servers that do not
// have the turn.
func BenchmarkDeltas(b *testing.B) {
	for b.Loop() {
		r := &rig{t: b, db: pgtest.Start(b)}
		r.open(3, 0, played)
		r.turn("steps 1")
		ctx, stop := context.WithCancel(b.Context())
		var all []*stamped
		for _, p := range r.procs {
			all = append(all, p.stamps(ctx))
		}
		rest(late)
		written, made := rows(b, r.db), transactions(b, r.db)
		r.turn("stream 20000 1000")
		rest(late)
		b.ReportMetric(float64(rows(b, r.db)-written), "rows")
		b.ReportMetric(float64(transactions(b, r.db)-made), "transactions")
		stop()
		var after []time.Duration
		for _, l := range all[1:] {
			l.wg.Wait()
			after = append(after, l.late...)
			b.ReportMetric(float64(len(l.late)), "deltas-"+l.p.name)
		}
		slices.Sort(after)
		if len(after) == 0 {
			b.Fatal("the other servers told nothing")
		}
		for _, q := range []int{50, 99, 100} {
			b.ReportMetric(after[min(len(after)*q/100, len(after)-1)].Seconds()*1e3, fmt.Sprintf("ms/p%d", q))
		}
	}
}

// BenchmarkMemory is a server with 2,000 sessions and 1,000 streams of events.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		r := &rig{t: b, db: pgtest.Start(b)}
		r.open(1, 0, played)
		p := r.procs[0]
		for range 2000 {
			if status, out := p.ask(b.Context(), "POST", "/session", struct{}{}); status != http.StatusOK {
				b.Fatalf("%d %s", status, out)
			}
		}
		ctx, stop := context.WithCancel(b.Context())
		var all []*stamped
		for range 1000 {
			all = append(all, p.stamps(ctx))
		}
		r.turn("steps 5")
		b.ReportMetric(float64(p.status("VmRSS:"))/1e3, "MB")
		stop()
		for _, l := range all {
			l.wg.Wait()
		}
	}
}

// BenchmarkTurns is 300 turns of 20 commands at once, on three servers and six workers.
func BenchmarkTurns(b *testing.B) {
	const turns = 300
	for b.Loop() {
		r := &rig{t: b, db: pgtest.Start(b)}
		r.open(3, 6, played)
		began := time.Now()
		var wg sync.WaitGroup
		for i := range turns {
			wg.Go(func() { r.turnOn(r.procs[i%3], "steps 20") })
		}
		wg.Wait()
		b.ReportMetric(time.Since(began).Seconds(), "s")
	}
}

// late is within what time each connection of the database has told what it counted.
const late = 12 * time.Second

// rest lets time pass in which nothing is to happen; that is what is measured.
func rest(d time.Duration) { <-time.After(d) }

// spent is what a turn took.
type spent struct{ wall, cpu time.Duration }

func (s *spent) add(d spent) { s.wall, s.cpu = s.wall+d.wall, s.cpu+d.cpu }

// turn has the first server answer a prompt in a new session.
func (r *rig) turn(text string) spent {
	r.t.Helper()
	return r.turnOn(r.procs[0], text)
}

func (r *rig) turnOn(p *proc, text string) spent {
	r.t.Helper()
	ctx := r.t.Context()
	_, raw := p.ask(ctx, "POST", "/session", map[string]any{"permission": []map[string]string{{"permission": "*", "pattern": "*", "action": "allow"}}})
	var ses struct{ ID string }
	if json.Unmarshal(raw, &ses) != nil || ses.ID == "" {
		r.t.Errorf("a session is %s", raw)
		return spent{}
	}
	began, cpu := time.Now(), p.cpu()
	status, out := p.ask(ctx, "POST", "/session/"+ses.ID+"/message", map[string]any{"parts": []map[string]string{{"type": "text", "text": text}}})
	if status != http.StatusOK || !strings.Contains(string(out), "all done") {
		r.t.Errorf("%q is answered %d %.300s", text, status, out)
	}
	return spent{time.Since(began), p.cpu() - cpu}
}

// cpu is what a process took of the processors, without its commands, in steps of 10 ms.
func (p *proc) cpu() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	must(p.r.t, err)
	f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// status is a line of the process's status, in kB.
func (p *proc) status(name string) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	must(p.r.t, err)
	_, after, _ := strings.Cut(string(raw), name)
	n, _ := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	return n
}

// stamped is a listener that notes how old what it hears is.
type stamped struct {
	p    *proc
	wg   sync.WaitGroup
	late []time.Duration // read after wg
}

var stamp = regexp.MustCompile(`t(\d{19}) `)

// stamps listens until ctx ends.
func (p *proc) stamps(ctx context.Context) *stamped {
	l := &stamped{p: p}
	req, err := http.NewRequestWithContext(ctx, "GET", p.at()+"/event?directory="+url.QueryEscape(p.r.dir), nil)
	must(p.r.t, err)
	res, err := http.DefaultClient.Do(req)
	must(p.r.t, err)
	l.wg.Go(func() {
		defer func() { _ = res.Body.Close() }()
		var newest int64
		for lines := bufio.NewReader(res.Body); ; {
			line, err := lines.ReadBytes('\n')
			now := time.Now().UnixNano()
			for _, m := range stamp.FindAllSubmatch(line, -1) {
				if at, _ := strconv.ParseInt(string(m[1]), 10, 64); at > newest {
					newest = at
					l.late = append(l.late, time.Duration(now-at))
				}
			}
			if err != nil {
				return
			}
		}
	})
	return l
}

// size is what the first server's files hold: the pages of the database, whether they are
// still in its log or not, and bodies.
func (r *rig) size() (n int64) {
	data := filepath.Join(r.root, r.procs[0].name, "data")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "lathe.db")+"?mode=ro")
	must(r.t, err)
	defer func() { _ = db.Close() }()
	must(r.t, db.QueryRowContext(r.t.Context(), `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&n))
	must(r.t, filepath.WalkDir(filepath.Join(data, "blob"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // none yet, or it has just gone
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	}))
	return n
}

func number(t testing.TB, db *pgtest.Server, query string) (n int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL())
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	must(t, conn.QueryRow(t.Context(), query).Scan(&n))
	return n
}

// size is what is kept: the journal of events is not, it is emptied after a quarter of an hour,
// nor are rows that were removed, whose room the database takes back every minute. The index of
// search is made now and then, which may be while this is measured or not.
func size(t testing.TB, db *pgtest.Server) int64 {
	db.Exec(t, `VACUUM`)
	return number(t, db, `SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables WHERE relname NOT IN ('event', 'search')`)
}

func transactions(t testing.TB, db *pgtest.Server) int64 {
	return number(t, db, `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`)
}

// rows is how many rows were written.
func rows(t testing.TB, db *pgtest.Server) int64 {
	return number(t, db, `SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables`)
}

var ordered = regexp.MustCompile(`(steps|stream) (\d+)(?: (\d+))?`)

// played is a model that does what the newest prompt says: "steps N" is that many calls of
// a command, "stream N PACE" an answer of that many deltas, so many in a second, each with
// the time at which it was sent.
func played(w http.ResponseWriter, r *http.Request) {
	var in asked
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var order []string
	called := 0
	for _, m := range in.Messages {
		if all := ordered.FindAllStringSubmatch(string(m.Content), -1); m.Role == "user" && len(all) > 0 {
			order, called = all[len(all)-1], 0
		}
		if m.Role == "tool" {
			called++
		}
	}
	chunk := chunks(w)
	say := func(text string) { chunk(map[string]any{"role": "assistant", "content": text}, nil) }
	count, pace := 0, 1
	if order != nil && len(in.Tools) > 0 {
		count, _ = strconv.Atoi(order[2])
		pace, _ = strconv.Atoi(order[3])
	}
	switch {
	case count > 0 && order[1] == "stream":
		tick := time.NewTicker(time.Second / time.Duration(max(pace, 1)))
		defer tick.Stop()
		for range count {
			<-tick.C
			say(fmt.Sprintf("t%d ", time.Now().UnixNano()))
		}
	case called < count:
		chunk(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprint("call_", called), "type": "function",
			"function": map[string]any{"name": "bash", "arguments": fmt.Sprintf(`{"command":"true %d","description":"nothing"}`, called)},
		}}}, nil)
		chunk(map[string]any{}, "tool_calls")
		fmt.Fprint(w, "data: [DONE]\n\n")
		return
	}
	say("all done")
	chunk(map[string]any{}, "stop")
	fmt.Fprint(w, "data: [DONE]\n\n")
}
