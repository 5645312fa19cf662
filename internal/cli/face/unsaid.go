package face

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/workspace"
)

// toldFile, in the state directory, remembers what was already said: digests of
// the lines, so that a line that says something else is shown again.
const (
	toldFile = "told"
	maxTold  = 256 << 10
)

// Unsaid returns the lines that the person has not been shown yet, and remembers
// them. If that memory cannot be read or written, they are shown again.
func (f *Face) Unsaid(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return unsaid(f.state, lines)
}

func unsaid(stateDir string, lines []string) (fresh []string) {
	if stateDir == "" {
		return lines
	}
	path := filepath.Join(stateDir, toldFile)
	data, _ := workspace.ReadFile(path, maxTold)
	told := strings.Fields(string(data))
	for _, line := range lines {
		sum := sha256.Sum256([]byte(line))
		digest := hex.EncodeToString(sum[:12])
		if !slices.Contains(told, digest) {
			fresh, told = append(fresh, line), append(told, digest)
		}
	}
	if len(fresh) > 0 && os.MkdirAll(stateDir, 0o700) == nil {
		_ = workspace.WriteFile(path, []byte(strings.Join(told, "\n")+"\n"), 0o600)
	}
	return fresh
}
