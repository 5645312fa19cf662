package claude

import (
	"context"

	"lathe/internal/jsonfile"
)

// Answers are what the person said of settings, kept in a file that need not exist. They
// are safe for concurrent use, also by several processes.
type Answers struct{ file jsonfile.File }

// OpenAnswers returns the answers in a file; nothing is read yet.
func OpenAnswers(path string) *Answers {
	return &Answers{jsonfile.File{
		Path: path, Most: 4 << 20, What: "what you agreed to",
		Lost: "remove the file; you will be asked again", Full: "remove the file; you will be asked again",
	}}
}

// Answer is what the person said of one file as it was.
type Answer struct {
	Digest string `json:"digest"`
	Run    bool   `json:"run"`
}

type answers struct {
	jsonfile.Header
	Files map[string]Answer `json:"files"`
}

// Said returns what the person said of settings as they are, if anything.
func (a *Answers) Said(s Settings) (run, said bool, err error) {
	var doc answers
	err = a.file.Read(&doc)
	one, ok := doc.Files[s.Path]
	said = err == nil && ok && s.Digest != "" && one.Digest == s.Digest
	return said && one.Run, said, err
}

// Decide keeps what the person says of settings.
func (a *Answers) Decide(ctx context.Context, s Settings, run bool) error {
	var doc answers
	return a.file.Update(ctx, &doc, func() {
		if doc.Files == nil {
			doc.Files = map[string]Answer{}
		}
		doc.Files[s.Path] = Answer{Digest: s.Digest, Run: run}
	})
}
