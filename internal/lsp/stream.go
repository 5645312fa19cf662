package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

const (
	maxMessage = 64 << 20 // bytes of one message; larger ones are skipped
	maxQueued  = 64 << 20 // bytes that wait for a server to read them
	maxNoise   = 1 << 20  // bytes of noise between messages
	maxBad     = 100      // messages in a row that are not JSON-RPC
)

var (
	errNoise  = errors.New("it prints something that is not a message of the protocol")
	errUnread = errors.New("it does not read what is sent to it")
	errEnded  = errors.New("the connection is closed")
)

// stream carries messages as the base protocol frames them. Writing never waits for
// the server, and what the server writes is bounded in size. It is a
// [github.com/sourcegraph/jsonrpc2.ObjectStream].
type stream struct {
	in   *bufio.Reader
	from io.Closer
	to   io.WriteCloser
	wg   sync.WaitGroup

	mu     sync.Mutex
	queue  [][]byte
	queued int
	err    error // why nothing more is written
	wake   chan struct{}
}

func newStream(in io.ReadCloser, out io.WriteCloser) *stream {
	s := &stream{in: bufio.NewReaderSize(in, 64<<10), from: in, to: out, wake: make(chan struct{}, 1)}
	s.wg.Go(s.write)
	return s
}

// WriteObject puts a message in the queue.
func (s *stream) WriteObject(obj any) error {
	body, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	frame := fmt.Appendf(make([]byte, 0, len(body)+32), "Content-Length: %d\r\n\r\n", len(body))
	frame = append(frame, body...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.queued += len(frame); s.queued > maxQueued {
		s.err = errUnread
		return s.err
	}
	s.queue = append(s.queue, frame)
	s.nudge()
	return nil
}

// nudge wakes the writer. The caller holds mu.
func (s *stream) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *stream) write() {
	for range s.wake {
		for {
			s.mu.Lock()
			if s.err != nil {
				s.mu.Unlock()
				return
			}
			frames, size := s.queue, s.queued
			s.queue = nil
			s.mu.Unlock()
			if len(frames) == 0 {
				break
			}
			_, err := s.to.Write(bytes.Join(frames, nil))
			s.mu.Lock()
			s.queued -= size
			if err != nil && s.err == nil {
				s.err = err
			}
			s.mu.Unlock()
		}
	}
}

// ReadObject reads the next message. Messages that are too large or not JSON-RPC are skipped.
func (s *stream) ReadObject(v any) error {
	for range maxBad {
		size, err := s.header()
		if err != nil {
			return err
		}
		if size > maxMessage {
			if _, err := io.CopyN(io.Discard, s.in, size); err != nil {
				return err
			}
			continue
		}
		var body bytes.Buffer // grows with what arrives, whatever was announced
		if _, err := io.CopyN(&body, s.in, size); err != nil {
			return err
		}
		if json.Unmarshal(body.Bytes(), v) == nil {
			return nil
		}
	}
	return errNoise
}

// header reads up to a body and returns its length. Lines that are not header
// fields are skipped, because some servers print to their standard output.
func (s *stream) header() (int64, error) {
	size := int64(-1)
	for noise := 0; noise <= maxNoise; {
		line, err := s.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if i := bytes.LastIndexByte(name, '}'); i >= 0 { // it directly follows a body
			name = name[i+1:]
		}
		switch {
		case len(bytes.TrimSpace(line)) == 0 && size >= 0:
			return size, nil
		case bytes.EqualFold(bytes.TrimSpace(name), []byte("Content-Length")):
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err == nil && n >= 0 {
				size = n
			}
		default:
			noise += len(line)
		}
	}
	return 0, errNoise
}

// Close ends reading and writing and waits for the writer.
func (s *stream) Close() error {
	s.mu.Lock()
	if s.err == nil {
		s.err = errEnded
	}
	s.nudge()
	s.mu.Unlock()
	err := errors.Join(s.to.Close(), s.from.Close())
	s.wg.Wait()
	return err
}
