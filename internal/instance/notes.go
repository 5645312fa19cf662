package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lathe"
)

// Notes returns the file that a line for the whole project belongs in: the topmost of the
// project's instruction files, so that those that are read now still are, or an AGENTS.md at
// the top that may have to be made. The error says what is in its place.
func (n *Instructions) Notes() (string, error) {
	if have := n.project(); len(have) > 0 {
		return have[len(have)-1], nil
	}
	dirs := n.upward()
	path := filepath.Join(dirs[len(dirs)-1], instructionNames[0])
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", lathe.Errorf(lathe.CodeInvalid, "make it a file of the project, or move it away", "%s is there, but lathe does not read it as instructions", path)
	}
	return path, nil
}
