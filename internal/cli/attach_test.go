package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/cli/console"
)

// A run in a server gives the password of a file, and only of one that is the
// person's alone.
func TestRunPasswordFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil { // whatever the umask
			t.Fatal(err)
		}
		return path
	}
	secret := file("secret", "hunter2\n", 0o600)
	file("say.txt", "text Let in.\n", 0o644)
	s := start(t, dir, nil, "--port", "0", "--password-file", secret).ready()
	defer s.stop()
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"right", []string{"--attach", s.url, "--password-file", secret}, console.ExitDone, "Let in."},
		{"wrong", []string{"--attach", s.url, "--password-file", file("wrong", "hunter3", 0o600)}, console.ExitUsage, "asks for a password"},
		{"none", []string{"--attach", s.url}, console.ExitUsage, "asks for a password"},
		{"open", []string{"--attach", s.url, "--password-file", file("open", "hunter2", 0o644)}, console.ExitUsage, "chmod 600"},
		{"missing", []string{"--attach", s.url, "--password-file", filepath.Join(dir, "nothing")}, console.ExitUsage, "no such file"},
		{"alone", []string{"--password-file", secret}, console.ExitUsage, "--attach"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			env := map[string]string{"HOME": home, "LATHE_HOME": home, "PATH": os.Getenv("PATH"), "LATHE_DISABLE_MODELS_FETCH": "1"}
			var out bytes.Buffer
			code := Main(console.Env{
				Args: append([]string{"run", "-m", "script/say.txt", "hello"}, tt.args...), Stdout: &out, Stderr: &out,
				Dir: dir, Now: time.Now, Getenv: func(k string) string { return env[k] }, Environ: []string{"PATH=" + env["PATH"]},
			})
			if code != tt.code || !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), "hunter") {
				t.Errorf("exit code %d: %s", code, out.String())
			}
		})
	}
}
