package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lathe/internal/workspace"
)

// Off are the plugins that the person switched off, by what names them. They are kept in
// a file that need not exist.
type Off struct{ Path string }

// Read returns what is switched off.
func (o Off) Read() ([]string, error) {
	text, err := workspace.ReadFile(o.Path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []string
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read which plugins are off: %w", err)
	}
	return list, nil
}

// Switch switches a plugin. The last of several at once counts.
func (o Off) Switch(spec string, on bool) error {
	list, err := o.Read()
	if err != nil {
		return err
	}
	if list = slices.DeleteFunc(list, func(s string) bool { return s == spec }); !on {
		list = append(list, spec)
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return err
	}
	return workspace.WriteFile(o.Path, append(text, '\n'), 0o600)
}
