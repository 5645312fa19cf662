package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/cli/screen"
)

// TestExportsAreTheSame holds that the screen's /export and lathe export write the same
// bytes in every format, with nothing in them that was reverted.
func TestExportsAreTheSame(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "repo")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const script = "text this stays\n---\ntool write {\"filePath\":\"new.txt\",\"content\":\"taken back\\n\"}\n---\ntext this goes\n"
	if err := os.WriteFile(filepath.Join(dir, "script.txt"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"HOME": top, "LATHE_HOME": filepath.Join(top, "lathe"), "PATH": os.Getenv("PATH"), "LATHE_PERMISSION": `{"edit":"allow"}`}
	env := &console.Env{
		Dir: dir, Getenv: func(k string) string { return vars[k] }, Environ: []string{"PATH=" + vars["PATH"], "HOME=" + top},
		Now: time.Now, Stdout: io.Discard, Stderr: io.Discard,
	}
	id := revertedSession(t, env, dir)
	for _, format := range []string{api.FormatJSON, api.FormatMarkdown, api.FormatHTML} {
		var printed bytes.Buffer
		command := *env
		command.Stdout, command.Args = &printed, []string{"export", string(id), "--format", format}
		if code := Main(command); code != console.ExitDone {
			t.Fatalf("export as %s ends with %d", format, code)
		}
		f, err := face.Connect(t.Context(), env, face.Target{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := screen.AbilitiesOf(f.Client).Export(t.Context(), id, format)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(printed.String(), string(shown)); diff != "" {
			t.Errorf("%s of the command and the screen (-command +screen):\n%s", format, diff)
		}
		if !strings.Contains(printed.String(), "this stays") || strings.Contains(printed.String(), "this goes") || strings.Contains(printed.String(), "taken back") {
			t.Errorf("%s holds what was reverted, or not what stands:\n%s", format, &printed)
		}
	}
}

// revertedSession makes a session of two prompts and takes the second one back.
func revertedSession(t *testing.T, env *console.Env, dir string) lathe.SessionID {
	t.Helper()
	ctx := t.Context()
	f, err := face.Connect(ctx, env, face.Target{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := f.Create(ctx, api.SessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := prompted(ctx, f, s.ID, "script.txt"); err != nil {
			t.Fatal(err)
		}
	}
	out, err := f.Revert(ctx, s.ID, api.Revert{Last: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(api.Reverted{Changed: []string{filepath.Join(dir, "new.txt")}}, out); diff != "" {
		t.Errorf("reverted (-want +got):\n%s", diff)
	}
	return s.ID
}

func prompted(ctx context.Context, f *face.Face, id lathe.SessionID, script string) error {
	m, err := f.Prompt(ctx, id, api.Prompt{Parts: []lathe.PartBody{&lathe.Text{Text: "go on"}}, Model: lathe.ModelRef{Provider: "script", Model: script}})
	if err == nil {
		_, err = f.Outcome(ctx, id, m)
	}
	return err
}
