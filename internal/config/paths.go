package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Paths are the directories lathe keeps its files in, and those of OpenCode
// that it reads. All are absolute; none needs to exist.
type Paths struct {
	Home   string // of the user
	Data   string // credentials, sessions, snapshots
	Config string
	Cache  string
	State  string // what the screen remembers

	OpenCodeConfig string // read, never written
	OpenCodeData   string
}

// DefaultPaths returns the directories that the environment names: those of
// XDG with "lathe" below, or data, config, cache and state in LATHE_HOME.
func DefaultPaths(getenv func(string) string) (Paths, error) {
	home := firstOf(getenv("LATHE_TEST_HOME"), getenv("OPENCODE_TEST_HOME"), getenv("HOME"))
	if home == "" && runtime.GOOS == "windows" {
		home = getenv("USERPROFILE")
	}
	if home == "" || !filepath.IsAbs(home) {
		return Paths{}, fmt.Errorf("find the home directory: HOME is %q, not an absolute path", home)
	}
	xdg := func(name, fallback string) string {
		if dir := getenv(name); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(home, fallback)
	}
	data, conf := xdg("XDG_DATA_HOME", ".local/share"), xdg("XDG_CONFIG_HOME", ".config")
	p := Paths{
		Home: home, Data: filepath.Join(data, "lathe"), Config: filepath.Join(conf, "lathe"),
		Cache: filepath.Join(xdg("XDG_CACHE_HOME", ".cache"), "lathe"), State: filepath.Join(xdg("XDG_STATE_HOME", ".local/state"), "lathe"),
		OpenCodeConfig: filepath.Join(conf, "opencode"), OpenCodeData: filepath.Join(data, "opencode"),
	}
	if root := getenv("LATHE_HOME"); root != "" {
		abs, err := filepath.Abs(root)
		if err != nil {
			return Paths{}, fmt.Errorf("LATHE_HOME %q: %w", root, err)
		}
		p.Data, p.Config = filepath.Join(abs, "data"), filepath.Join(abs, "config")
		p.Cache, p.State = filepath.Join(abs, "cache"), filepath.Join(abs, "state")
	}
	return p, nil
}

// AuthFile returns where lathe keeps credentials, and OpenCode's file behind it.
func (p Paths) AuthFile() (own, behind string) {
	return filepath.Join(p.Data, "auth.json"), filepath.Join(p.OpenCodeData, "auth.json")
}

// TrustFile returns where decisions about repositories are kept: with the credentials,
// in a place that no tool may write.
func (p Paths) TrustFile() string { return filepath.Join(p.Data, "trust.json") }

// Ensure makes a directory, and those above it, for the owner only.
func Ensure(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a directory of lathe's: %w", err)
	}
	return nil
}

func firstOf(vals ...string) string {
	for _, v := range vals {
		if v != "" {
			return v
		}
	}
	return ""
}
