package lsp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lathe/internal/shell"
)

// client is one running server. All its methods may be called at once.
type client struct {
	transport
	spec    *Spec
	options any
	caps    capabilities
	enc     encoding
	told    func(path string) // called when the diagnostics of a file have changed
	now     func() time.Time

	works    works
	commands sync.Mutex // held while a command of the server runs

	mu      sync.Mutex // guards what follows
	folders []string
	docs    documents
	findings
	applied *[]workspaceEdit // what a command of the server wants edited; nil: none runs
}

// launch is what starts a client.
type launch struct {
	spec    *Spec
	args    []string
	root    string
	env     []string
	options any
	kind    shell.Kind
	open    func(shell.Program) (*shell.Service, error)
	told    func(path string)
	now     func() time.Time
}

// connect starts a server and makes it ready. It returns once the server is ready, or
// the reason why it is not; then nothing of it is left. The end of ctx ends only the
// start.
func connect(ctx context.Context, l launch) (*client, error) {
	c := newClient(l)
	svc, err := l.open(shell.Program{Args: l.args, Dir: l.root, Env: l.env, Kind: l.kind, Stderr: c.complaints.add})
	if err != nil {
		return nil, err
	}
	c.attach(svc, svc.Stdout, svc.Stdin, handler{c})
	if err := c.initialize(ctx); err != nil {
		c.end(err)
		c.close(0)
		return nil, notReady{err, c.complaints.lines()}
	}
	return c, nil
}

// notReady is why a server did not start, with what it said last.
type notReady struct {
	error
	log []string
}

func (n notReady) Unwrap() error { return n.error }

func newClient(l launch) *client {
	c := &client{spec: l.spec, options: l.options, enc: utf16Units, told: l.told, now: l.now, folders: []string{l.root}}
	c.id = l.spec.ID
	c.docs = newDocuments(c)
	c.findings.init()
	return c
}

func (c *client) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, initLimit, fmt.Errorf("it did not answer within %v", initLimit))
	defer cancel()
	root := uriOf(c.folders[0])
	params := map[string]any{
		"processId": nil, // it may run where lathe's process number means nothing
		"clientInfo": map[string]string{
			"name": "lathe",
		},
		"rootUri": root, "rootPath": c.folders[0],
		"workspaceFolders": []folder{folderOf(c.folders[0])},
		"capabilities":     clientCapabilities(),
	}
	if c.options != nil {
		params["initializationOptions"] = c.options
	}
	var result struct {
		Capabilities capabilities `json:"capabilities"`
	}
	if err := c.call(ctx, "initialize", params, &result); err != nil {
		return err
	}
	c.caps = result.Capabilities
	switch enc := c.caps.PositionEncoding; enc {
	case utf8Units, utf32Units:
		c.enc = enc
	}
	c.mu.Lock()
	if d := c.caps.Diagnostic; d != nil {
		c.pulls["static"] = *d
	}
	c.mu.Unlock()
	c.notify("initialized", struct{}{})
	if c.options != nil {
		c.notify("workspace/didChangeConfiguration", map[string]any{"settings": c.options})
	}
	return nil
}
