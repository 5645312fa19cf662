package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lathe"
	"lathe/internal/filelock"
	"lathe/internal/workspace"
)

const (
	maxAnswers = 4 << 20
)

// Answers are what the person said of settings, kept in a file that need not exist. They
// are safe for concurrent use, also by several processes.
type Answers struct{ path string }

// OpenAnswers returns the answers in a file; nothing is read yet.
func OpenAnswers(path string) *Answers { return &Answers{path: path} }

// Answer is what the person said of one file as it was.
type Answer struct {
	Digest string `json:"digest"`
	Run    bool   `json:"run"`
}

type answers struct {
	Version int               `json:"version"`
	Files   map[string]Answer `json:"files"`
}

func (a *Answers) read() (answers, error) {
	doc := answers{Version: 1, Files: map[string]Answer{}}
	data, err := workspace.ReadFile(a.path, maxAnswers)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err == nil && doc.Version != 1 {
		err = fmt.Errorf("version %d is not known", doc.Version)
	}
	if err != nil {
		return answers{}, &lathe.Error{Code: lathe.CodeInvalid, Msg: "what you agreed to in " + a.path + " cannot be read", Hint: "remove the file; you will be asked again", Cause: err}
	}
	return doc, nil
}

// Said returns what the person said of settings as they are, if anything.
func (a *Answers) Said(s Settings) (run, said bool, err error) {
	doc, err := a.read()
	one, ok := doc.Files[s.Path]
	said = err == nil && ok && s.Digest != "" && one.Digest == s.Digest
	return said && one.Run, said, err
}

// Decide keeps what the person says of settings.
func (a *Answers) Decide(ctx context.Context, s Settings, run bool) error {
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return fmt.Errorf("store your answer: %w", err)
	}
	unlock, err := filelock.Lock(ctx, a.path+".lock", a.path)
	if err != nil {
		return err
	}
	defer unlock()
	doc, err := a.read()
	if err != nil {
		return err
	}
	if doc.Files == nil {
		doc.Files = map[string]Answer{}
	}
	doc.Files[s.Path] = Answer{Digest: s.Digest, Run: run}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("store your answer: %w", err)
	}
	return workspace.WriteFile(a.path, append(text, '\n'), 0o600)
}
