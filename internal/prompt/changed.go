package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Hash returns a short fingerprint of an instruction file's content.
func Hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:8])
}

// changedPaths returns the paths whose hash differs between both maps, sorted.
func changedPaths(old, now map[string]string) []string {
	var paths []string
	for p, h := range now {
		if old[p] != h {
			paths = append(paths, p)
		}
	}
	for p := range old {
		if _, ok := now[p]; !ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}
