//go:build unix

package instance_test

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

//go:embed testdata/everyday/fixtures.txtar
var everydayFixtures []byte

//go:embed testdata/everyday/commands.txt
var everydayCommands string

// everyday is one row of the table.
type everyday struct {
	line             int
	project, command string
	needs            []string
	want             *regexp.Regexp
}

// everydays reads the table. A bar in a command is written "\|".
func everydays(t *testing.T) (rows []everyday) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(everydayCommands))
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		parts := strings.SplitN(strings.ReplaceAll(text, `\|`, "\x00"), "|", 4)
		if len(parts) != 4 {
			t.Fatalf("commands.txt:%d: %q is no row", n, text)
		}
		for i := range parts {
			parts[i] = strings.TrimSpace(strings.ReplaceAll(parts[i], "\x00", "|"))
		}
		want, err := regexp.Compile(parts[3])
		if err != nil {
			t.Fatalf("commands.txt:%d: %v", n, err)
		}
		row := everyday{line: n, project: parts[0], command: parts[2], want: want}
		if parts[1] != "" {
			row.needs = strings.Split(parts[1], ",")
		}
		rows = append(rows, row)
	}
	return rows
}

// lacks names the programs that a row needs and that are not installed.
func (e everyday) lacks() (out []string) {
	for _, name := range e.needs {
		if _, err := exec.LookPath(name); err != nil {
			out = append(out, name)
		}
	}
	return out
}

// checkout makes a fresh checkout of the row's project.
func (e everyday) checkout(t *testing.T, fixtures *txtar.Archive, dir string, env []string) {
	t.Helper()
	for _, f := range fixtures.Files {
		name, ok := strings.CutPrefix(f.Name, e.project+"/")
		if !ok {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// everydayVariable has all commands of the table run, or with a regular expression those
// that match; without it those of shells and git alone, for the others take minutes.
const everydayVariable = "LATHE_TEST_EVERYDAY"

// The commands of every day work in a fresh checkout without an ask, as far as what
// they need is installed.
func TestEverydayCommands(t *testing.T) { runEveryday(t, "") }

// So do they at the highest level, where they have a network of their own.
func TestEverydayCommandsRequired(t *testing.T) {
	if sandbox.Detect() < sandbox.Full {
		t.Skip("commands cannot be confined that far here: " + sandbox.Missing())
	}
	if os.Getenv(everydayVariable) == "" {
		t.Skip("set " + everydayVariable + " to run it")
	}
	runEveryday(t, `LATHE_CONFIG_CONTENT={"sandbox":"required"}`)
}

func runEveryday(t *testing.T, configured string) {
	t.Helper()
	rows := everydays(t)
	if len(rows) < 150 {
		t.Fatalf("%d commands", len(rows))
	}
	fixtures := txtar.Parse(everydayFixtures)
	home, vars := everydayHome(t)
	vars = append(vars, configured)
	only := os.Getenv(everydayVariable)
	var missing []string
	ran := 0
	for _, row := range rows {
		if only == "" && slices.ContainsFunc(row.needs, func(name string) bool { return name != "git" }) ||
			!regexp.MustCompile(only).MatchString(row.command) {
			continue
		}
		if lacks := row.lacks(); len(lacks) > 0 {
			missing = append(missing, lacks...)
			continue
		}
		ran++
		t.Run(fmt.Sprint(row.line), func(t *testing.T) { row.run(t, fixtures, home, vars) })
	}
	slices.Sort(missing)
	t.Logf("%d of %d commands ran; not installed: %s", ran, len(rows), strings.Join(slices.Compact(missing), " "))
}

// everydayHome is the home of somebody who has configured nothing, and the environment of
// a terminal there. Toolchains stay where they are.
func everydayHome(t testing.TB) (home string, vars []string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Somebody\n\temail = s@example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars = []string{"HOME=" + home, "LATHE_HOME=" + filepath.Join(home, "lathe"), "LANG=C.UTF-8", "SHELL=/bin/bash", "USER=somebody", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOPROXY=off"}
	for _, name := range []string{"PATH", "GOCACHE", "RUSTUP_HOME", "JAVA_HOME", "PYENV_ROOT"} {
		if v := os.Getenv(name); v != "" {
			vars = append(vars, name+"="+v)
		}
	}
	if real := os.Getenv("HOME"); os.Getenv("RUSTUP_HOME") == "" && real != "" {
		if dir := filepath.Join(real, ".rustup"); exists(dir) {
			vars = append(vars, "RUSTUP_HOME="+dir)
		}
	}
	if os.Getenv("GOCACHE") == "" {
		if out, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil {
			vars = append(vars, "GOCACHE="+strings.TrimSpace(string(out)))
		}
	}
	return home, vars
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// everydayInstance opens a directory as a person's, with an environment, until the test
// ends; it returns the agent build and the tool bash.
func everydayInstance(t testing.TB, dir string, vars []string) (*instance.Instance, instance.Agent, tool.Tool) {
	t.Helper()
	getenv := func(name string) string { return shell.Getenv(vars, name) }
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	runner := shell.New(shell.Options{})
	t.Cleanup(func() { runner.Close() })
	inst, err := instance.Open(t.Context(), dir, instance.Options{
		Paths: paths, Getenv: getenv, Environ: vars, Log: slog.New(slog.DiscardHandler), Now: time.Now, Runner: runner,
		Publish: func(string, lathe.Event) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inst.Close() })
	build, err := inst.Agents.Get("build")
	if err != nil {
		t.Fatal(err)
	}
	bash, ok := inst.Tools.Lookup("bash")
	if !ok {
		t.Fatal("no tool bash")
	}
	return inst, build, bash
}

func (e everyday) run(t *testing.T, fixtures *txtar.Archive, home string, vars []string) {
	dir := filepath.Join(home, "work", fmt.Sprint(e.line))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	e.checkout(t, fixtures, dir, vars)
	inst, agent, bash := everydayInstance(t, dir, vars)
	input, err := json.Marshal(map[string]any{"command": e.command, "timeout": 240_000})
	if err != nil {
		t.Fatal(err)
	}
	asked := errors.New("asked")
	res, err := bash.Run(t.Context(), &tool.Call{
		SessionID: "ses_1", MessageID: "msg_1", CallID: "call_1", Agent: "build", Input: input,
		Ask: func(ctx context.Context, req tool.Request) error {
			one, done := context.WithCancelCause(ctx)
			done(asked) // whatever would wait for a person ends with that
			err := inst.Permission.Ask(one, permission.AskInput{SessionID: "ses_1", Request: req, Policy: agent.Policy()})
			if errors.Is(err, asked) {
				t.Errorf("%s\nasks for %s %v", e.command, req.Permission, req.Patterns)
			}
			return err
		},
	})
	if err != nil || !e.want.MatchString(res.Output) || res.Metadata["exit"] != 0 || res.Metadata["unreached"] != nil {
		t.Errorf("%s\n%v, want %q in\n%s", e.command, err, e.want, res.Output)
	}
}

// The same for an ordinary user, where root runs the tests.
func TestEverydayCommandsAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the tests are run by an ordinary user already")
	}
	if os.Getenv(everydayVariable) == "" {
		t.Skip("set " + everydayVariable + " to run it")
	}
	out := asOrdinaryUser(t, "^TestEverydayCommands(Required)?$", everydayVariable+"="+os.Getenv(everydayVariable))
	if i := bytes.Index(out, []byte("commands ran")); i >= 0 {
		t.Logf("as an ordinary user: %s", out[bytes.LastIndexByte(out[:i], ':')+1:])
	}
}

// asOrdinaryUser runs tests of this program again, as a user without rights.
func asOrdinaryUser(t *testing.T, tests string, vars ...string) []byte {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "everyday")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	binary, home := filepath.Join(dir, "test"), filepath.Join(dir, "home")
	for _, err := range []error{os.Chmod(dir, 0o755), os.WriteFile(binary, program, 0o755), os.Mkdir(home, 0o700), os.Chown(home, nobody, nobody)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run="+tests, "-test.v", "-test.timeout=20m")
	cmd.Dir = home
	cmd.Env = append([]string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH"), "GOCACHE=" + filepath.Join(home, "go-build")}, vars...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, failures(out))
	}
	return out
}

// failures leaves out of a verbose log what went well.
func failures(out []byte) string {
	var keep []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "=== RUN") && !strings.Contains(line, "--- PASS") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "")
}
