package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// maxLine bounds one message. A prompt may carry pictures, in base64.
const maxLine = 64 << 20

var errLongLine = fmt.Errorf("a message of more than %d MiB", maxLine>>20)

// stream is a connection of one JSON object a line. Lines that are not JSON are
// skipped and logged, as other agents do, because some editors' wrappers print to the
// stream.
type stream struct {
	in   *bufio.Reader
	long []byte
	log  *slog.Logger

	mu  sync.Mutex
	out io.Writer
}

func newStream(in io.Reader, out io.Writer, log *slog.Logger) *stream {
	return &stream{in: bufio.NewReaderSize(in, 64<<10), out: out, log: log}
}

// WriteObject writes a message as a line. Each message is written with one call of Write.
func (s *stream) WriteObject(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(append(line, '\n'))
	return err
}

// ReadObject reads the next message. It returns io.EOF at the end of the stream.
func (s *stream) ReadObject(v any) error {
	for {
		line, err := s.line()
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, v); err != nil {
			s.log.Warn("left out a line that is no message", "bytes", len(line), "err", err)
			continue
		}
		return nil
	}
}

// line returns the next line; it is valid until the next call.
func (s *stream) line() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = nil
		}
		return line, err
	}
	s.long = append(s.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(s.long) > maxLine {
			return nil, errLongLine
		}
		line, err = s.in.ReadSlice('\n')
		s.long = append(s.long, line...)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	long := s.long
	if cap(s.long) > 1<<20 { // a picture is not kept for the next line
		s.long = nil
	}
	return long, err
}

// Close does nothing: whoever opened the streams closes them.
func (s *stream) Close() error { return nil }
