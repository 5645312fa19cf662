package job

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func fileOutput(t testing.TB) (*Output, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	return newOutput(func() (*os.File, error) {
		return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	}), path
}

// What is read is what was written at that position, whatever part of it is kept.
func TestOutputByPosition(t *testing.T) {
	o, path := fileOutput(t)
	o.sleep = func(time.Duration) {}
	const total = 3*segment - 1000
	all := make([]byte, total)
	for i := range all {
		all[i] = byte(i*7 + i>>13)
	}
	for at, n := 0, 1; at < total; n = n*3%40_000 + 1 {
		end := min(at+n, total)
		o.write(all[at:end])
		at = end
		if at > 2*inMemory {
			n = 90_000
		}
		if at < inMemory && o.Path() != "" {
			t.Fatal("a file too early")
		}
		if data, from := o.Part(int64(at-10), 100); !bytes.Equal(data, all[max(at-10, 0):at]) || from != int64(max(at-10, 0)) {
			t.Fatalf("at %d: %d bytes from %d", at, len(data), from)
		}
	}
	data, from := o.Part(0, 2*segment)
	if from != segment || !bytes.Equal(data, all[from:]) {
		t.Errorf("the kept part begins at %d and has %d bytes", from, len(data))
	}
	for _, name := range []string{path, path + older} {
		if info, err := os.Stat(name); err != nil || info.Size() > segment {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	o.end()
	if _, _, over, err := o.Read(make([]byte, 10), total); !over || err != nil {
		t.Errorf("over %v, %v", over, err)
	}
	o.remove()
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if data, _ := o.Part(0, 100); len(data) != 0 {
		t.Errorf("%d bytes after removal", len(data))
	}
}

// A disk that takes nothing leaves the newest output in memory.
func TestOutputWithoutDisk(t *testing.T) {
	o := newOutput(func() (*os.File, error) { return nil, errors.New("disk full") })
	o.write(bytes.Repeat([]byte("a"), inMemory))
	o.write([]byte("the end"))
	data, at := o.Part(0, 1<<20)
	if !bytes.HasSuffix(data, []byte("the end")) || at+int64(len(data)) != o.Total() || len(data) > inMemory {
		t.Errorf("%d bytes from %d of %d", len(data), at, o.Total())
	}
}

// A flood is slowed down to a rate, a burst is not.
func TestOutputPace(t *testing.T) {
	var slept time.Duration
	o := newOutput(nil)
	o.sleep = func(d time.Duration) { slept += d }
	chunk := make([]byte, 1<<20)
	for range burst / len(chunk) {
		o.write(chunk)
	}
	if slept != 0 {
		t.Errorf("a burst waited %s", slept)
	}
	for range 16 {
		o.write(chunk)
	}
	if slept < time.Second {
		t.Errorf("16 MiB more waited %s", slept)
	}
}

func TestOutputNext(t *testing.T) {
	o := newOutput(nil)
	next := o.Next(0)
	select {
	case <-next:
		t.Fatal("nothing was written")
	default:
	}
	o.write([]byte("x"))
	<-next
	<-o.Next(0)
	next = o.Next(1)
	o.end()
	<-next
	if diff := cmp.Diff(int64(1), o.Total()); diff != "" {
		t.Error(diff)
	}
}
