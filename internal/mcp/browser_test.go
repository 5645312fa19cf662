package mcp

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/shell"
)

// TestBrowser opens the address of a login, unconfined, and tells where that fails: without
// a program for it, or with one that says so.
func TestBrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program that opens addresses has another name here")
	}
	const address = "https://login.example/?a=b&c=d"
	for name, tt := range map[string]struct {
		script string // of xdg-open; empty: there is none
		opened bool
	}{
		"it opens":      {"#!/bin/sh\nprintf %s \"$1\" > opened\n", true},
		"it fails":      {"#!/bin/sh\nexit 3\n", false},
		"there is none": {"", false},
	} {
		dir, bin := t.TempDir(), t.TempDir()
		if tt.script != "" {
			if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(tt.script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		var kinds []shell.Kind
		r := newRig(t, dir, func(o *Options) {
			o.Env = []string{"PATH=" + bin}
			open := o.Open
			o.Open = func(p shell.Program) (*shell.Service, error) {
				kinds = append(kinds, p.Kind)
				return open(p)
			}
		})
		got := r.OpenBrowser("s", &Login{URL: address})
		if tt.script == "" && got || tt.opened && !got { // one that fails may do so late
			t.Errorf("%s: opened: %v", name, got)
		}
		if diff := cmp.Diff([]shell.Kind{shell.KindTerminal}, kinds); diff != "" {
			t.Errorf("%s: started (-want +got):\n%s", name, diff)
		}
		if !tt.opened {
			if diff := cmp.Diff(lathe.Event(lathe.MCPBrowserFailed{Server: "s", URL: address}), <-r.events); diff != "" {
				t.Errorf("%s: told (-want +got):\n%s", name, diff)
			}
			continue
		}
		text := ""
		for text != address && t.Context().Err() == nil { // until the test's own deadline
			raw, _ := os.ReadFile(filepath.Join(dir, "opened"))
			text = string(raw)
			time.Sleep(time.Millisecond)
		}
		if len(r.events) > 0 {
			t.Errorf("%s: told %v", name, <-r.events)
		}
	}
}
