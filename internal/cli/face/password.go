package face

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"lathe"
	"lathe/internal/cli/console"
)

// maxPassword bounds a password file.
const maxPassword = 4096

// Password returns the password of a file that was named; an empty name has none.
func Password(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	password, err := passwordIn(file)
	if _, told := errors.AsType[*lathe.Error](err); err != nil && !told {
		err = console.Usagef("password file: %w", err)
	}
	return password, err
}

// passwordIn reads a file that only its owner can read. The file that is
// checked is the one that is read.
func passwordIn(file string) (password string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", lathe.Errorf(lathe.CodeInvalid, "", "password file %q is no file", file)
	}
	if !console.Private(info) {
		return "", lathe.Errorf(lathe.CodeInvalid, fmt.Sprintf("make it yours alone: chmod 600 %q", file),
			"password file %q can be read by others (mode %04o)", file, info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPassword+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxPassword {
		return "", lathe.Errorf(lathe.CodeInvalid, "", "password file %q is larger than %d bytes", file, maxPassword)
	}
	password = strings.TrimRight(string(data), "\r\n")
	if password == "" {
		return "", lathe.Errorf(lathe.CodeInvalid, "write the password into it", "password file %q is empty", file)
	}
	return password, nil
}
