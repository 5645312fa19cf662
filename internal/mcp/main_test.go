package mcp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/mcp/mcptest"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// TestMain also is the servers of these tests: the test program starts itself with the
// name of one.
func TestMain(m *testing.M) {
	if kind := os.Getenv("MCP_TEST_SERVER"); kind != "" {
		if hostile, ok := hostileServers[kind]; ok {
			hostile()
		} else {
			mcptest.Serve(kind)
		}
		os.Exit(0)
	}
	if os.Getenv("MCP_TEST_CONFORM") != "" {
		if err := conform(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rig is a directory with servers.
type rig struct {
	*Servers
	t      testing.TB
	dir    string
	events chan lathe.Event
}

// local is the configuration of a server of the test program.
func local(t testing.TB, name, kind string) config.MCP {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return config.MCP{Name: name, Type: "local", Command: []string{self}, Environment: map[string]string{"MCP_TEST_SERVER": kind}}
}

// newRig makes servers that share a cache with others of the same directory.
func newRig(t testing.TB, dir string, change func(*Options), servers ...config.MCP) *rig {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	runner := shell.New(shell.Options{})
	r := &rig{t: t, dir: dir, events: make(chan lathe.Event, 100)}
	o := Options{
		Dir: dir, Servers: servers, Cache: filepath.Join(dir, "cache"), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, Open: runner.Open,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now,
		Publish: func(ev lathe.Event) {
			select {
			case r.events <- ev:
			default:
			}
		},
	}
	if change != nil {
		change(&o)
	}
	r.Servers = New(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// do makes a call of a tool by the name that models know.
func (r *rig) do(ctx context.Context, key, args string, change ...func(*tool.Call)) tool.Result {
	r.t.Helper()
	res, err := r.try(ctx, key, args, change...)
	if err != nil {
		r.t.Fatalf("%s: %v", key, err)
	}
	return res
}

// try makes a call that may be refused.
func (r *rig) try(ctx context.Context, key, args string, change ...func(*tool.Call)) (tool.Result, error) {
	r.t.Helper()
	o := r.Offer()
	var all []tool.Tool = r.Tools(&o, 0, nil)
	reg := tool.NewRegistry(all...)
	_, one, input := reg.Resolve(key, args)
	if one == nil {
		r.t.Fatalf("there is no tool %s", key)
	}
	call := &tool.Call{Input: input, Ask: func(context.Context, tool.Request) error { return nil }}
	for _, c := range change {
		c(call)
	}
	return one.Run(ctx, call)
}

// ready waits until the servers have said what they have.
func (r *rig) ready() *rig {
	r.t.Helper()
	r.Settle(r.t.Context())
	for _, s := range r.List() {
		if s.State != Connected && s.State != Disabled {
			r.t.Fatalf("%s is %s: %s", s.Name, s.State, s.Why)
		}
	}
	return r
}

func benchRig(b *testing.B) *rig {
	b.Helper()
	return newRig(b, "", nil, local(b, "s", "plain")).ready()
}
