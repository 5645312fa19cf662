// Package clip reaches the clipboard of the person in front of the terminal:
// through the terminal's own sequence (OSC 52), which works over SSH, and
// through programs of the desktop or the multiplexer if there are any.
package clip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/aymanbagabas/go-osc52/v2"
)

const (
	maxSequence = 100_000  // bytes; terminals drop longer sequences
	maxRead     = 16 << 20 // bytes that are taken from a clipboard
	patience    = 5 * time.Second
)

// Clipboard is the clipboard as the environment offers it.
type Clipboard struct {
	getenv func(string) string
	look   func(string) (string, error) // exec.LookPath
}

// New returns the clipboard of an environment.
func New(getenv func(string) string) *Clipboard {
	return &Clipboard{getenv: getenv, look: exec.LookPath}
}

// Sequence returns what to write to the terminal so that it copies the text: once
// plain, which terminals and a tmux with set-clipboard understand, and in a
// multiplexer a second time wrapped, for one that passes it on.
func (c *Clipboard) Sequence(text string) string {
	seq := osc52.New(text).Limit(maxSequence)
	switch {
	case c.getenv("TMUX") != "":
		return seq.String() + seq.Tmux().String()
	case strings.HasPrefix(c.getenv("TERM"), "screen"):
		return seq.Screen().String()
	}
	return seq.String()
}

// Copy hands the text to a program that copies it, if there is one here. If
// there is none, the sequence has to do.
func (c *Clipboard) Copy(ctx context.Context, text string) error {
	argv := c.writer()
	if argv == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(text), time.Second
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) { // xclip keeps running to serve the selection
		return fmt.Errorf("copy with %s: %w", argv[0], err)
	}
	return nil
}

// writer returns the program that copies its input. Over SSH only tmux counts: the
// desktop there is not the person's.
func (c *Clipboard) writer() []string {
	if c.getenv("TMUX") != "" {
		return c.first([]string{"tmux", "load-buffer", "-w", "-"})
	}
	if c.remote() {
		return nil
	}
	if runtime.GOOS == "darwin" {
		return c.first([]string{"pbcopy"})
	}
	if c.getenv("WAYLAND_DISPLAY") != "" {
		if argv := c.first([]string{"wl-copy"}); argv != nil {
			return argv
		}
	}
	if c.getenv("DISPLAY") != "" {
		return c.first([]string{"xclip", "-selection", "clipboard"}, []string{"xsel", "-ib"})
	}
	return nil
}

func (c *Clipboard) remote() bool {
	return c.getenv("SSH_CONNECTION") != "" || c.getenv("SSH_TTY") != ""
}

func (c *Clipboard) first(list ...[]string) []string {
	for _, argv := range list {
		if _, err := c.look(argv[0]); err == nil {
			return argv
		}
	}
	return nil
}

// Image returns the picture in the clipboard as PNG. It reports false if there is
// none or it cannot be reached.
func (c *Clipboard) Image(ctx context.Context) ([]byte, bool) {
	data := c.read(ctx, c.reader("image/png"))
	return data, bytes.HasPrefix(data, []byte("\x89PNG"))
}

// Text returns the text in the clipboard. It reports false if it cannot be
// reached and the terminal has to be asked.
func (c *Clipboard) Text(ctx context.Context) (string, bool) {
	data := c.read(ctx, c.reader("text"))
	return string(data), len(data) > 0
}

// reader returns the program that prints the clipboard as a kind of data.
func (c *Clipboard) reader(kind string) []string {
	if c.remote() {
		return nil
	}
	if runtime.GOOS == "darwin" {
		if kind == "text" {
			return c.first([]string{"pbpaste"})
		}
		return c.first([]string{"pngpaste", "-"})
	}
	if c.getenv("WAYLAND_DISPLAY") != "" {
		if argv := c.first([]string{"wl-paste", "--no-newline", "--type", kind}); argv != nil {
			return argv
		}
	}
	if c.getenv("DISPLAY") != "" {
		if kind == "text" {
			kind = "UTF8_STRING"
		}
		return c.first([]string{"xclip", "-selection", "clipboard", "-o", "-t", kind})
	}
	return nil
}

// read runs a program and returns what it prints, or nothing if it fails.
func (c *Clipboard) read(ctx context.Context, argv []string) []byte {
	if argv == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out limited
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	if cmd.Run() != nil {
		return nil
	}
	return out.Bytes()
}

// limited holds at most maxRead bytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxRead {
		return 0, io.ErrShortBuffer
	}
	return l.Buffer.Write(p)
}
