package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/store/storetest"
)

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	open(b, dir).Close()
	for b.Loop() {
		s, err := Open(b.Context(), Options{Dir: dir})
		must(b, err)
		must(b, s.Close())
	}
}

func BenchmarkOpenNew(b *testing.B) {
	i, dir := 0, b.TempDir()
	for b.Loop() {
		i++
		s, err := Open(b.Context(), Options{Dir: filepath.Join(dir, strconv.Itoa(i))})
		must(b, err)
		must(b, s.Close())
	}
}

func BenchmarkPutPart(b *testing.B) {
	s, ctx := open(b, b.TempDir()), b.Context()
	ses := seed(b, s, "ses_a")
	must(b, s.AddMessage(ctx, storetest.Assistant(ses, "msg_1", lathe.Assistant{})))
	for _, size := range []int{1 << 10, 30 << 10} {
		out := strings.Repeat("a line of output like many\n", size/27)
		p := lathe.Part{ID: lathe.PartID(fmt.Sprint("prt_", size)), SessionID: ses, MessageID: "msg_1", Body: &lathe.ToolCall{
			CallID: "c", Tool: "bash", State: &lathe.ToolDone{Input: []byte(`{"command":"true"}`), Output: out, Time: lathe.Span{Start: epoch, End: epoch}},
		}}
		b.Run(fmt.Sprint("update-", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(b, s.PutPart(ctx, &p))
			}
		})
	}
	n := 0
	b.Run("insert", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n++
			must(b, s.PutPart(ctx, &lathe.Part{
				ID: lathe.PartID(fmt.Sprint("prt_new", n)), SessionID: ses, MessageID: "msg_1", Body: &lathe.StepStart{Snapshot: "s"},
			}))
		}
	})
}

// BenchmarkStream is a text of 20,000 deltas, checkpointed every 100 of them, as
// a fast model would have it, and every 2, as a slow one would.
func BenchmarkStream(b *testing.B) {
	for _, every := range []int{100, 2} {
		b.Run(fmt.Sprint("every-", every), func(b *testing.B) {
			var written, size int64
			for b.Loop() {
				dir := b.TempDir()
				s, ctx := open(b, dir), b.Context()
				ses := seed(b, s, "ses_a")
				must(b, s.AddMessage(ctx, storetest.Assistant(ses, "msg_1", lathe.Assistant{})))
				before := wchar(b)
				p := openText1("ses_a", "msg_1", "prt_1")
				must(b, s.PutPart(ctx, p))
				var whole, pending strings.Builder
				rnd := rand.New(rand.NewPCG(1, 2))
				for i := range 20000 {
					pending.WriteString(prose[rnd.IntN(len(prose))])
					if i%every == every-1 {
						must(b, s.AppendText(ctx, "prt_1", int64(whole.Len()), pending.String()))
						whole.WriteString(pending.String())
						pending.Reset()
					}
				}
				p.Body = &lathe.Text{Text: whole.String(), Time: lathe.Span{Start: epoch, End: epoch}}
				must(b, s.PutPart(ctx, p))
				written, size = wchar(b)-before, int64(whole.Len())
			}
			b.ReportMetric(float64(written)/float64(size), "written/text")
		})
	}
}

// prose compress about as well as prose does.
var prose = strings.SplitAfter("the of and to in is that for it as was with be by on not he his but at are this have from "+
	"or had an they which one you were her all she there would their we him been has when who will more no if out so said "+
	"what up its about into than them can only other new some could time these two may then do first any my now such like ", " ")

// wchar returns the bytes this process passed to write(2), where that is counted.
func wchar(b *testing.B) int64 {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(data)) {
		if n, ok := strings.CutPrefix(line, "wchar: "); ok {
			v, err := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
			must(b, err)
			return v
		}
	}
	b.Skip("no wchar")
	return 0
}

// BenchmarkTail reads a live tail of 20 messages behind histories of all sizes.
func BenchmarkTail(b *testing.B) {
	for _, history := range []int{20, 500, 5000} {
		b.Run(fmt.Sprint("history-", history), func(b *testing.B) {
			dir := b.TempDir()
			s, ctx := open(b, dir), b.Context()
			ses := seed(b, s, "ses_a")
			must(b, s.batch(ctx, func(tx *tx) error {
				for i := range history {
					m := storetest.UserMessage(ses, fmt.Sprint("msg_", i), storetest.Text(fmt.Sprint("prt_a", i), strings.Repeat("x", 500)),
						storetest.Text(fmt.Sprint("prt_b", i), strings.Repeat("y", 2000)))
					if err := tx.AddMessage(m); err != nil {
						return err
					}
				}
				return tx.SetBoundary(ses, int64(history-19))
			}))
			b.ReportAllocs()
			for b.Loop() {
				msgs, err := s.Tail(ctx, ses)
				must(b, err)
				if len(msgs) != 20 {
					b.Fatal(len(msgs))
				}
			}
			b.ReportMetric(float64(diskUse(dir))/1e6, "MB-on-disk")
		})
	}
}

func diskUse(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if fi, err := d.Info(); err == nil {
				n += fi.Size()
			}
		}
		return nil
	})
	return n
}

// A step that changed files asks what was done beside it: in a new store, and in
// one with thousands of sessions.
func BenchmarkBeside(b *testing.B) {
	for _, n := range []int{10, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, ctx := open(b, b.TempDir()), b.Context()
			must(b, s.batch(ctx, func(tx *tx) (err error) {
				for i := range n {
					ses := storetest.Session(fmt.Sprintf("ses_%d", i))
					err = errors.Join(err, tx.CreateSession(ses))
					for k := range 2 {
						m := storetest.Assistant(ses.ID, fmt.Sprintf("msg_%d_%d", i, k), lathe.Assistant{})
						m.Created = epoch.Add(time.Duration(i) * time.Hour)
						m.Info = &lathe.Assistant{Completed: m.Created.Add(time.Minute)}
						err = errors.Join(err, tx.AddMessage(m))
					}
				}
				return err
			}))
			last := lathe.SessionID(fmt.Sprintf("ses_%d", n-1))
			for b.Loop() {
				if _, err := s.Beside(ctx, last); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
