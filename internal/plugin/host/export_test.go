package host

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// InstallShared puts what all plugins can use into a cache, from where it is installed.
func InstallShared(t testing.TB, cache, modules string) {
	t.Helper()
	key := sha256.New()
	key.Write(basePackage)
	key.Write(baseLock)
	dir := filepath.Join(cache, "plugins", "base-"+hex.EncodeToString(key.Sum(nil))[:10])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
}

// Entry is the file that a package is loaded by.
func Entry(dir string) (string, error) { return entry(dir) }
