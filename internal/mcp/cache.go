package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/config"
)

// relearnAfter is how long lathe waits before it reads a changed server again, since a server may announce many changes
// in a row.
const relearnAfter = 50 * time.Millisecond

// maxCached limits how much is read of a remembered server.
const maxCached = 64 << 20

// cache remembers what servers had to offer, one file for each. Files hold nothing that
// the configuration keeps secret. An empty directory keeps nothing.
type cache struct{ dir string }

// path returns the file of a server. A server whose command, directory, address, or
// names of variables or headers change gets another file.
func (c cache) path(conf config.MCP) string {
	what, _ := json.Marshal([]any{ // texts always encode
		conf.Type, conf.Command, conf.Cwd, conf.URL,
		slices.Sorted(maps.Keys(conf.Environment)), slices.Sorted(maps.Keys(conf.Headers)),
	})
	sum := sha256.Sum256(what)
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".json")
}

func (c cache) get(conf config.MCP) *Known {
	if c.dir == "" {
		return nil
	}
	path := c.path(conf)
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxCached {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var k Known
	if json.Unmarshal(raw, &k) != nil {
		return nil
	}
	return &k
}

func (c cache) put(conf config.MCP, k *Known) error {
	if c.dir == "" {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(c.dir, "tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(raw)
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), c.path(conf))
}

// Where returns a server's program or address, without secrets.
func Where(c config.MCP) string {
	if c.Type == "remote" {
		if u, err := url.Parse(c.URL); err == nil {
			u.User, u.RawQuery, u.Fragment = nil, "", ""
			return clean(u.String(), 300)
		}
		return ""
	}
	return clean(strings.Join(config.HideArguments(c.Command), " "), 300)
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
