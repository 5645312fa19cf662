package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"lathe/internal/workspace"
)

// ScratchName is the name of the directory, below lathe's cache, that holds the scratch
// directories.
const ScratchName = "scratch"

// scratchDir names the scratch directory of a directory, without symbolic links: rules
// are about resolved paths.
func scratchDir(cache, dir string) string {
	if cache == "" {
		return ""
	}
	if real, err := workspace.Resolve(cache); err == nil {
		cache = real
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(cache, ScratchName, hex.EncodeToString(sum[:6]))
}
