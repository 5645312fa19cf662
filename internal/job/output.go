package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	inMemory = 16 << 10 // output of a quiet job needs no file
	segment  = 8 << 20  // size of a segment of the file; the newest one or two are kept
	// A job that floods is slowed down, so that it neither wears out the disk nor
	// takes the machine from others.
	burst = 64 << 20 // bytes before that
	rate  = 8 << 20  // bytes a second from then on
)

// Output is what a job has printed: the newest part of it, by position from the
// beginning. It is safe for concurrent use.
type Output struct {
	create func() (*os.File, error) // makes the file; nil: there is none
	sleep  func(time.Duration)

	mu     sync.Mutex
	total  int64
	memory []byte   // all that is kept, until there is a file
	file   *os.File // the newest segment
	path   string   // path of file; the previous segment is at path+older
	from   int64    // position of its first byte
	first  int64    // position of the first byte that is kept
	err    error    // why there is no file
	more   chan struct{}
	ended  bool
	budget int64     // bytes until it is slowed down
	refill time.Time // when budget was last increased
}

const older = ".old"

func newOutput(create func() (*os.File, error)) *Output {
	return &Output{create: create, sleep: time.Sleep, more: make(chan struct{}), budget: burst, refill: time.Now()}
}

// write takes what was printed. It never fails: without a file the newest part stays
// in memory.
func (o *Output) write(p []byte) {
	o.mu.Lock()
	for rest := p; len(rest) > 0; {
		n := o.put(rest)
		o.total += int64(n)
		rest = rest[n:]
	}
	close(o.more)
	o.more = make(chan struct{})
	wait := o.pace(len(p), time.Now())
	o.mu.Unlock()
	if wait > 0 {
		o.sleep(wait)
	}
}

// pace says how long a job that floods has to wait. The caller holds mu.
func (o *Output) pace(n int, now time.Time) time.Duration {
	if o.budget -= int64(n); o.budget >= 0 {
		return 0
	}
	o.budget = min(burst, o.budget+int64(now.Sub(o.refill).Seconds()*rate))
	o.refill = now
	if o.budget >= 0 {
		return 0
	}
	return min(time.Duration(-o.budget)*time.Second/rate, 100*time.Millisecond)
}

// put stores the beginning of p and returns how much it stored. The caller holds mu.
func (o *Output) put(p []byte) int {
	if o.file == nil && (o.err != nil || o.create == nil || len(o.memory)+len(p) <= inMemory) {
		o.remember(p)
		return len(p)
	}
	if o.file == nil || o.total-o.from >= segment {
		if err := o.next(); err != nil {
			o.fail(err)
			return 0
		}
	}
	p = p[:min(int64(len(p)), segment-(o.total-o.from))]
	if _, err := o.file.Write(p); err != nil {
		o.fail(err)
		return 0
	}
	return len(p)
}

// remember keeps the newest part in memory.
func (o *Output) remember(p []byte) {
	o.memory = append(o.memory, p...)
	if extra := len(o.memory) - inMemory; extra > 0 {
		o.memory = append(o.memory[:0], o.memory[extra:]...)
		o.first += int64(extra)
	}
}

// next begins a new segment. The caller holds mu.
func (o *Output) next() error {
	if o.file == nil {
		file, err := o.create()
		if err != nil {
			return err
		}
		o.file, o.path, o.from = file, file.Name(), o.first
		_, err = file.Write(o.memory)
		o.memory = nil
		return err
	}
	if err := errors.Join(o.file.Close(), os.Rename(o.path, o.path+older)); err != nil {
		return err
	}
	file, err := os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	o.file, o.first, o.from = file, o.from, o.total
	return nil
}

// fail continues in memory: a full disk does not end a job.
func (o *Output) fail(err error) {
	o.err = fmt.Errorf("save the output of a job: %w", err)
	if o.path != "" {
		o.drop()
		o.first = o.total
	}
}

// drop removes the files. The caller holds mu.
func (o *Output) drop() {
	if o.path == "" {
		return
	}
	_ = o.file.Close()
	_ = os.Remove(o.path)
	_ = os.Remove(o.path + older)
	o.file, o.path, o.memory = nil, "", nil
}

// end wakes the readers for the last time.
func (o *Output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.ended = true
		close(o.more)
	}
}

// remove removes the files. What is read later is empty.
func (o *Output) remove() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop()
	o.memory, o.first, o.err = nil, o.total, os.ErrClosed
}

// Total returns how many bytes were printed so far.
func (o *Output) Total() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// Path returns the file with the newest output, or "" while it is in memory.
func (o *Output) Path() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.path
}

// Next returns a channel that is closed when there is more than the given number of
// bytes, or no more will come.
func (o *Output) Next(than int64) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.total > than {
		ready := make(chan struct{})
		close(ready)
		return ready
	}
	return o.more
}

// Read fills p from a position on and returns what is there, where it begins, and
// whether no more will ever come after it. What is no longer kept is skipped.
func (o *Output) Read(p []byte, from int64) (n int, at int64, over bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at = min(max(from, o.first), o.total)
	p = p[:min(int64(len(p)), o.total-at)]
	switch {
	case len(p) == 0:
	case o.path == "":
		n = copy(p, o.memory[at-o.first:])
	case at < o.from:
		p = p[:min(int64(len(p)), o.from-at)]
		n, err = readFile(o.path+older, p, at-o.first)
	default:
		n, err = readFile(o.path, p, at-o.from)
	}
	return n, at, o.ended && at+int64(n) == o.total, err
}

func readFile(path string, p []byte, at int64) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.ReadAt(p, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Part returns at most size bytes from a position on.
func (o *Output) Part(from int64, size int) (data []byte, at int64) {
	buf := make([]byte, min(int64(size), max(o.Total()-from, 0)))
	n, at, _, err := o.Read(buf, from)
	for err == nil && n < len(buf) { // the part may lie in two files
		more, _, _, again := o.Read(buf[n:], at+int64(n))
		if more == 0 || again != nil {
			break
		}
		n += more
	}
	return buf[:n], at
}
