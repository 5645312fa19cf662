package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Running is a server of the same user on this machine, as it made itself known
// in a file of the data directory.
type Running struct {
	PID     int       `json:"pid"`
	URL     string    `json:"url,omitempty"`    // http://127.0.0.1:4096
	Socket  string    `json:"socket,omitempty"` // path of its private socket
	Dir     string    `json:"dir"`              // directory for requests that name none
	Started time.Time `json:"started"`
}

// Name returns how people know the server.
func (r Running) Name() string {
	if r.URL != "" {
		return strings.TrimPrefix(r.URL, "http://")
	}
	return fmt.Sprintf("process %d", r.PID)
}

const recordLimit = 64 << 10

// Announce leaves a file in dir that says where a server listens. The caller
// removes it again; a file that was left behind is recognised as stale.
func Announce(dir string, r Running) (remove func(), err error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("announce the server: %w", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%d.json", r.PID))
	tmp := path + ".new"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("announce the server: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return nil, errors.Join(fmt.Errorf("announce the server: %w", err), os.Remove(tmp))
	}
	return func() { _ = os.Remove(path) }, nil
}

// Find returns the servers that made themselves known in dir and answer, the
// newest first. What servers that died have left behind is removed.
func Find(ctx context.Context, dir string) ([]Running, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("look for servers: %w", err)
	}
	var out []Running
	for _, path := range files {
		r, ok := readRecord(path)
		if !ok {
			continue
		}
		switch alive(ctx, r) {
		case true:
			out = append(out, r)
		case false:
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			_ = os.Remove(path)
			if r.Socket != "" && filepath.Dir(r.Socket) == filepath.Clean(dir) {
				_ = os.Remove(r.Socket)
			}
		}
	}
	slices.SortFunc(out, func(a, b Running) int { return b.Started.Compare(a.Started) })
	return out, nil
}

// Addresses returns where the servers that made themselves known in dir listen, as
// http://host:port, without looking whether they still do.
func Addresses(dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil
	}
	var out []string
	for _, path := range files {
		if r, ok := readRecord(path); ok && r.URL != "" {
			out = append(out, r.URL)
		}
	}
	return out
}

// readRecord reads a file that only its owner, who is this user, can have written.
func readRecord(path string) (r Running, ok bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || info.Size() > recordLimit || !sameOwner(info) {
		return r, false
	}
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &r) != nil || r.PID <= 0 {
		return r, false
	}
	if r.Socket != "" && !filepath.IsAbs(r.Socket) || r.URL != "" && !strings.HasPrefix(r.URL, "http://") {
		return r, false
	}
	return r, r.Socket != "" || r.URL != ""
}

// alive reports whether somebody listens where a server said that it does.
func alive(ctx context.Context, r Running) bool {
	network, address := "unix", r.Socket
	if r.Socket == "" {
		network, address = "tcp", strings.TrimPrefix(r.URL, "http://")
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return false
	}
	defer conn.Close()
	return network == "tcp" || samePeer(conn)
}
