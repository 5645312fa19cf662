//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe/internal/cli/console"
	"lathe/internal/workspace"
)

// TestInterruptedAsk interrupts a run that waits for a person: it was aborted,
// nobody refused anything.
func TestInterruptedAsk(t *testing.T) {
	for name, c := range map[string]struct{ model, prompt string }{
		"permission": {`tool bash {"command":"touch made","description":"touch"}`, "[y]es, once"},
		"question":   {`tool question {"questions":[{"header":"Which","question":"Which one?","options":[{"label":"a","description":"the first"}]}]}`, "Which one?"},
	} {
		t.Run(name, func(t *testing.T) {
			limited(t)
			dir, err := workspace.Resolve(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"model.txt": c.model + "\n---\ntext done\n", "lathe.json": `{"permission":{"bash":"ask"}}`} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			vars := map[string]string{"HOME": dir, "LATHE_HOME": filepath.Join(dir, "home"), "LATHE_DISABLE_MODELS_FETCH": "1", "PATH": os.Getenv("PATH")}
			person, typed, err := os.Pipe() // nothing is ever typed
			if err != nil {
				t.Fatal(err)
			}
			defer person.Close()
			defer typed.Close()
			var stderr seen
			signals, code := make(chan os.Signal, 1), make(chan int, 1)
			go func() {
				code <- Main(console.Env{
					Args: []string{"run", "-m", "script/model.txt", "--permission", "ask", "go"}, Stdin: person, Stdout: io.Discard, Stderr: &stderr, Dir: dir,
					Getenv: func(k string) string { return vars[k] }, Environ: []string{"PATH=" + vars["PATH"], "HOME=" + dir}, Now: time.Now,
					StdinTTY: true, StderrTTY: true, Signals: signals, Exit: func(int) { panic("killed") },
				})
			}()
			stderr.waitFor(t, c.prompt)
			signals <- os.Interrupt
			if got := <-code; got != console.ExitAborted {
				t.Errorf("exit code %d, want %d: %s", got, console.ExitAborted, stderr.buf.String())
			}
		})
	}
}
