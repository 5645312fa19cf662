package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/workspace"
)

// Bounds of what is looked at to know whether plugins are as they were.
const (
	mostFiles = 500
	mostBytes = 16 << 20
)

// definitions are what the plugins of a directory turned out to be. With them nothing has
// to be started to know which hooks, tools and logins there are.
type definitions struct {
	Key     string       `json:"key"`
	Plugins []toldPlugin `json:"plugins"`
}

// cacheable reports whether a later start may do without the process: what a plugin makes of
// the configuration or of the models of a provider may differ each time, and one that takes
// part in nothing was started for something else that it does.
func (d *definitions) cacheable() bool {
	return !slices.ContainsFunc(d.Plugins, func(t toldPlugin) bool {
		return t.Error != "" || t.Config || len(t.Providers) > 0 || t.silent()
	})
}

func (t *toldPlugin) silent() bool { return len(t.Hooks) == 0 && len(t.Tools) == 0 && len(t.Auth) == 0 }

func (o Options) definitionsFile() string {
	sum := sha256.Sum256([]byte(o.Dir))
	return filepath.Join(o.Cache, "plugins", "known-"+hex.EncodeToString(sum[:8])+".json")
}

// recall takes what is known of the plugins from an earlier process, if nothing of them has
// changed. It reports whether that is so; then nothing has to be started yet.
func (h *Host) recall(load loadParams) bool {
	h.key = h.o.keyOf(load)
	if h.key == "" {
		return false
	}
	text, err := workspace.ReadFile(h.o.definitionsFile(), mostBytes)
	var known definitions
	if err != nil || json.Unmarshal(text, &known) != nil || known.Key != h.key || !known.cacheable() || len(known.Plugins) != len(load.Plugins) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range known.Plugins {
		t.Late = false // what it is was told in the end
		h.learn(t)
	}
	return true
}

// remember keeps what the plugins turned out to be. The caller holds mu.
func (h *Host) remember() {
	if h.key == "" {
		return
	}
	known := definitions{Key: h.key}
	for i, p := range h.told {
		if p.File != "" {
			known.Plugins = append(known.Plugins, toldPlugin{Index: h.index(i), Late: p.Late, Error: p.Error, Hooks: p.Hooks, Tools: p.Tools, Auth: p.Auth, Providers: p.Providers, Config: p.Config})
		}
	}
	text, err := json.Marshal(known)
	if err == nil {
		err = workspace.WriteFile(h.o.definitionsFile(), text, 0o600)
	}
	if err != nil {
		h.o.Log.Debug("what plugins are is not kept", "dir", h.o.Dir, "err", err)
	}
}

// keyOf identifies everything that makes the plugins what they are; empty: that cannot be
// determined.
func (o Options) keyOf(load loadParams) string {
	runtime, err := Runtime(o.Env)
	if err != nil {
		return ""
	}
	load.Project = nil // it tells when it was used last
	text, err := json.Marshal(load)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	program, err := unpack(o.Cache)
	if err != nil {
		return ""
	}
	for _, part := range []string{runtime, program, string(text)} {
		sum.Write([]byte(part + "\x00"))
	}
	if info, err := os.Stat(runtime); err == nil {
		sum.Write([]byte(info.ModTime().UTC().String()))
	}
	scan := &imports{sum: sum, seen: map[string]bool{}, left: mostBytes}
	for _, p := range load.Plugins {
		scan.file(p.File)
		scan.named(filepath.Dir(p.File), "package.json")
		for _, name := range append(slices.Clone(lockNames), "package.json") {
			scan.named(filepath.Dir(filepath.Dir(p.File)), name)
		}
	}
	if scan.left < 0 || len(scan.seen) > mostFiles {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// imports hashes files together with those that they import from beside them.
type imports struct {
	sum  hash.Hash
	seen map[string]bool
	left int
}

func (s *imports) named(dir, name string) {
	if path := filepath.Join(dir, name); !s.seen[path] {
		s.seen[path] = true
		s.add(path)
	}
}

// add hashes a file and returns its text; what cannot be read has none.
func (s *imports) add(path string) string {
	text, err := workspace.ReadFile(path, mostBytes)
	if err != nil {
		return ""
	}
	s.left -= len(text)
	own := sha256.Sum256(text)
	s.sum.Write([]byte(path + "\x00"))
	s.sum.Write(own[:])
	return string(text)
}

func (s *imports) file(path string) {
	if s.seen[path] || s.left < 0 || len(s.seen) > mostFiles {
		return
	}
	s.seen[path] = true
	text := s.add(path)
	for _, quote := range []string{`"`, `'`, "`"} {
		for rest := text; ; {
			i := strings.Index(rest, quote+".")
			if i < 0 {
				break
			}
			rest = rest[i+1:]
			name, _, ok := strings.Cut(rest, quote)
			if !ok || len(name) > 1024 || !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
				continue
			}
			base := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
			for _, suffix := range []string{"", ".ts", ".js", ".mjs", ".mts", ".tsx", ".json", "/index.ts", "/index.js"} {
				if info, err := os.Stat(base + suffix); err == nil && info.Mode().IsRegular() {
					s.file(base + suffix)
				}
			}
			if swapped, ok := strings.CutSuffix(base, ".js"); ok { // TypeScript names what it will become
				if info, err := os.Stat(swapped + ".ts"); err == nil && info.Mode().IsRegular() {
					s.file(swapped + ".ts")
				}
			}
		}
	}
}

// await waits for the plugins that were not ready when the others were, if they were known
// before: their hooks are expected to be called. Requests of theirs have to be let in.
// The caller holds mu.
func (h *Host) await(ctx context.Context, c *conn) {
	select {
	case <-h.opened:
	default:
		return // the directory is being made; they join when they are ready
	}
	timer := time.NewTimer(pluginLimit)
	defer timer.Stop()
	for slices.ContainsFunc(h.told, func(p Plugin) bool { return p.File != "" && p.Late && p.waited }) {
		select {
		case t := <-c.lates:
			h.learn(t)
		case <-timer.C:
			return
		case <-c.done:
			return
		case <-ctx.Done():
			return
		}
	}
}
