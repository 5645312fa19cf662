package lsp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/workspace"
)

// A server that dies at any message costs what it was to say, and nothing more: no wait,
// no change, and no server that is gone is spoken to.
func TestServersThatDieAtAMessage(t *testing.T) {
	for _, method := range []string{
		"initialize", "initialized", "textDocument/didOpen", "workspace/didChangeWatchedFiles", "textDocument/didChange", "textDocument/didSave",
		"textDocument/diagnostic", "textDocument/hover", "textDocument/rename", "textDocument/codeAction", "textDocument/didClose", "shutdown",
	} {
		t.Run(strings.ReplaceAll(method, "/", " "), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, "pull dies:"+method, func(o *Options) { o.Wait = time.Hour })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for i, text := range []string{"bad", "fine", "bad"} {
				r := d.changeWithin(ctx, "a.fake", []string{"fine", "bad", "fine"}[i], text)
				if len(r.Waiting) > 0 {
					t.Errorf("change %d waits", i)
				}
			}
			f := d.file("a.fake", "bad old")
			_, _ = d.servers.Ask(ctx, Hover, f, Position{}, "")
			_, _ = d.servers.Rename(ctx, f, Position{}, "new")
			_, _ = d.servers.Actions(ctx, f, Range{}, "")
			f.Missing = true
			d.servers.Before(d.file("a.fake", "bad old")).After(ctx, f)
			if ctx.Err() != nil {
				t.Error("it was waited for")
			}
			for _, told := range d.notices() {
				if !strings.HasPrefix(told, "The language server fake does not work: it ended with exit code 2") {
					t.Errorf("told %q", told)
				}
			}
		})
	}
}

// A server that goes another way to a directory, by a link, speaks of the same files.
func TestLinkedRoot(t *testing.T) {
	top, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(top, "link")
	d := newDesk(t, "push", func(o *Options) {
		if err := os.Symlink(o.Dir, link); err != nil {
			t.Fatal(err)
		}
		o.Env = append(o.Env, "LSP_FAKE_LINK="+o.Dir+"|"+link)
	})
	d.expect("broken", d.change("a.fake", "fine", "bad"), "new a.fake 0:0 bad word|bad")
	d.expect("mended", d.change("a.fake", "bad", "fine"), "fixed a.fake 0:0 bad word|")
}

// A file that is gone when its server speaks of it has errors without their lines; one
// that comes and goes leaves nothing behind.
func TestFileDeletedMeanwhile(t *testing.T) {
	d := newDesk(t, "push")
	ch := d.servers.Before(d.file("a.fake", "fine"))
	d.expect("a file that was never written", ch.After(t.Context(), d.file("a.fake", "bad")), "new a.fake 0:0 bad word|bad")
	gone := d.file("b.fake", "")
	gone.Missing = true
	for range 3 {
		d.servers.Read(d.file("b.fake", "bad"))
		d.servers.Read(gone)
	}
	d.expect("its server", d.change("a.fake", "bad", "fine"), "fixed a.fake 0:0 bad word|")
	if st := d.servers.Status(); len(st) != 1 || st[0].Errors != 0 || st[0].State != "connected" {
		t.Errorf("%+v", st)
	}
}
