package clip

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func with(env map[string]string, programs ...string) *Clipboard {
	return &Clipboard{
		getenv: func(k string) string { return env[k] },
		look: func(name string) (string, error) {
			for _, p := range programs {
				if filepath.Base(p) == name {
					return p, nil
				}
			}
			return "", errors.New("not found")
		},
	}
}

func TestSequence(t *testing.T) {
	plain := "\x1b]52;c;562U44GI\x07"
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, plain},
		{map[string]string{"TMUX": "x"}, plain + "\x1bPtmux;\x1b\x1b]52;c;562U44GI\x07\x1b\\"},
		{map[string]string{"TERM": "screen-256color"}, "\x1bP" + plain + "\x1b\\"},
	} {
		if got := with(tt.env).Sequence("答え"); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
	if got := with(nil).Sequence(strings.Repeat("x", 2*maxSequence)); len(got) > 20 {
		t.Errorf("a text that is too long makes a sequence of %d bytes", len(got))
	}
}

func TestPrograms(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the programs of this system are others")
	}
	for _, tt := range []struct {
		name        string
		env         map[string]string
		programs    []string
		write, read []string
	}{
		{"nothing", nil, []string{"xclip", "tmux"}, nil, nil},
		{"tmux", map[string]string{"TMUX": "x", "SSH_TTY": "y"}, []string{"tmux"}, []string{"tmux", "load-buffer", "-w", "-"}, nil},
		{"ssh", map[string]string{"SSH_TTY": "y", "DISPLAY": ":0"}, []string{"xclip"}, nil, nil},
		{"wayland", map[string]string{"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, []string{"wl-copy", "wl-paste", "xclip"}, []string{"wl-copy"}, []string{"wl-paste", "--no-newline", "--type", "image/png"}},
		{"x11", map[string]string{"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, []string{"xclip"}, []string{"xclip", "-selection", "clipboard"}, []string{"xclip", "-selection", "clipboard", "-o", "-t", "image/png"}},
		{"xsel", map[string]string{"DISPLAY": ":0"}, []string{"xsel"}, []string{"xsel", "-ib"}, nil},
	} {
		c := with(tt.env, tt.programs...)
		if diff := cmp.Diff([][]string{tt.write, tt.read}, [][]string{c.writer(), c.reader("image/png")}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRealPrograms copies and pastes with programs that stand in for the real ones.
func TestRealPrograms(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the programs of this system are others")
	}
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	for name, body := range map[string]string{
		"wl-copy":  `cat > "` + kept + `"; sleep 0`,
		"wl-paste": `case "$3" in text) cat "` + kept + `";; *) printf '\211PNG data';; esac`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	c := New(func(k string) string { return map[string]string{"WAYLAND_DISPLAY": "w"}[k] })
	if err := c.Copy(t.Context(), "hello 漢"); err != nil {
		t.Fatal(err)
	}
	if text, ok := c.Text(t.Context()); !ok || text != "hello 漢" {
		t.Errorf("pasted %q, %v", text, ok)
	}
	if data, ok := c.Image(t.Context()); !ok || string(data) != "\x89PNG data" {
		t.Errorf("image %q, %v", data, ok)
	}
}
