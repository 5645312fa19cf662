package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/jsonc"
	"lathe/internal/workspace"
)

// Limits of a scan. Anything larger cannot be trusted.
const (
	maxFiles = 20_000
	maxBytes = 256 << 20
	maxDepth = 24
	maxNamed = 1000 // words of configuration that may name a file

	maxCommands = 20_000  // words of commands that may name a file
	maxCommand  = 1 << 20 // bytes of a command, as config reads
)

// Files maps what steers lathe, relative to the checkout and with forward
// slashes, to a hash of its content.
type Files map[string]string

// ErrTooMuch means that a repository's configuration is too large to be trusted.
var ErrTooMuch = errors.New("there is too much configuration to bind trust to it")

// passedOver are entries of a config directory that do not steer lathe: what it
// writes there itself, and themes.
var passedOver = map[string]bool{"plans": true, "themes": true, ".gitignore": true, ".git": true}

// Scan hashes configuration files and all files below config directories, links
// followed, and the files of the checkout that the configuration files name: the
// programs of servers, plugins and formatters, texts that are read in, and the
// programs in the shell lines and the front matter of commands. Base is the top of
// the checkout. What does not exist is skipped.
func Scan(base string, files, dirs []string) (Files, error) {
	s := &scan{base: base, found: Files{}, left: maxBytes}
	for _, path := range files {
		if err := s.config(path); err != nil {
			return nil, err
		}
	}
	for _, dir := range dirs {
		s.top = dir
		if err := s.dir(dir, nil, 0); err != nil {
			return nil, err
		}
	}
	return s.found, nil
}

type scan struct {
	base  string
	found Files
	left  int64 // bytes that may still be read
	named int

	top      string // the current config directory
	commands int    // words of commands that may name a file
}

// config adds a configuration file and what it names.
func (s *scan) config(path string) error {
	if err := s.file(path); err != nil {
		return err
	}
	text, err := workspace.ReadFile(path, jsonc.MaxSize)
	if err != nil {
		return nil // it is so large that config refuses it
	}
	root, err := jsonc.Parse(path, text)
	if err != nil {
		return nil
	}
	return s.names(root, filepath.Dir(path))
}

// names adds the files named by words in a tree.
func (s *scan) names(v *jsonc.Value, dir string) error {
	for _, m := range v.Members {
		if prose(m.Key) {
			continue
		}
		if err := s.names(m.Value, dir); err != nil {
			return err
		}
	}
	for _, e := range v.Items {
		if err := s.names(e, dir); err != nil {
			return err
		}
	}
	if v.Kind != jsonc.String || len(v.Text) > 4096 {
		return nil
	}
	for _, word := range words(v.Text) {
		if s.named++; s.named > maxNamed {
			return fmt.Errorf("%s: %w", dir, ErrTooMuch)
		}
		if err := s.insideAny(word, dir, s.base); err != nil {
			return err
		}
	}
	return nil
}

// insideAny adds the files that a name may mean from any of the directories.
func (s *scan) insideAny(name string, dirs ...string) error {
	for _, dir := range slices.Compact(dirs) {
		if err := s.inside(dir, name); err != nil {
			return err
		}
	}
	return nil
}

// prose reports keys whose text is words for people or models. A {file:…} in
// them is still found; see words.
func prose(key string) bool { return key == "instructions" || key == "$schema" || key == "description" }

// words returns what in a text could be a path: itself, its words, and what a
// {file:…} placeholder names.
func words(text string) []string {
	out := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n{}'\"=;|&()<>`$,", r) })
	if len(out) != 1 || out[0] != text {
		out = append(out, text)
	}
	for i, w := range out {
		w = strings.TrimPrefix(w, "file://")
		out[i] = strings.TrimPrefix(w, "file:")
	}
	return out
}

// inside adds a regular file of the checkout.
func (s *scan) inside(dir, name string) error {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	rel, err := filepath.Rel(s.base, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil
	case info.IsDir():
		return s.entry(path)
	case !info.Mode().IsRegular():
		return nil
	}
	return s.file(path)
}

// entry adds the file that an interpreter runs when it is given a directory.
func (s *scan) entry(dir string) error {
	if dir == s.base {
		return nil // as in "lint .", which means the files
	}
	for _, name := range []string{"package.json", "index.js", "index.mjs", "index.cjs", "index.ts", "__main__.py"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := s.file(path); err != nil {
			return err
		}
	}
	return nil
}

// runs returns the parts of a Markdown command that say what to run: its front
// matter, without the texts for people, and its shell lines.
func runs(text string) string {
	var b strings.Builder
	if head, _, ok := strings.Cut(strings.TrimPrefix(text, "---"), "\n---"); ok && head != text {
		for line := range strings.Lines(head) {
			if key, _, _ := strings.Cut(line, ":"); !prose(strings.TrimSpace(key)) {
				b.WriteString(line)
			}
		}
	}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "!`")
		if !ok {
			return b.String()
		}
		var line string
		line, rest, _ = strings.Cut(after, "`")
		b.WriteString("\n" + line)
	}
}

// isCommand reports whether a path below a config directory is a Markdown command.
func isCommand(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	folder, _, nested := strings.Cut(filepath.ToSlash(rel), "/")
	return err == nil && nested && (folder == "command" || folder == "commands") && strings.HasSuffix(path, ".md")
}

// command adds a Markdown command of a config directory and what its front matter
// and its shell lines name.
func (s *scan) command(dir, path string) error {
	if err := s.file(path); err != nil {
		return err
	}
	text, err := workspace.ReadFile(path, maxCommand)
	if err != nil {
		return nil // it is so large that config skips it
	}
	for _, word := range words(runs(string(text))) {
		if s.commands++; s.commands > maxCommands {
			return fmt.Errorf("%s: %w", path, ErrTooMuch)
		}
		if err := s.insideAny(word, filepath.Dir(path), filepath.Dir(dir), s.base); err != nil {
			return err
		}
	}
	return nil
}

// dir adds all files below a directory. Above holds the real paths of the
// directories it was reached through, so that links cannot lead in circles.
func (s *scan) dir(dir string, above []string, depth int) error {
	real, err := workspace.Resolve(dir)
	if err != nil || slices.Contains(above, real) {
		return nil
	}
	if rel, err := filepath.Rel(real, s.base); err == nil && rel != "." && filepath.IsLocal(rel) {
		return fmt.Errorf("%s leads to %s, which holds the repository: %w", dir, real, ErrTooMuch)
	}
	if depth > maxDepth {
		return fmt.Errorf("%s: nested too deeply: %w", dir, ErrTooMuch)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("read what steers lathe: %w", err)
	}
	above = append(above[:len(above):len(above)], real)
	for _, e := range entries {
		if depth == 0 && passedOver[e.Name()] {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil: // a link to nothing
			continue
		case info.IsDir():
			err = s.dir(path, above, depth+1)
		case depth == 0 && (strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".jsonc")):
			err = s.config(path)
		case isCommand(s.top, path) && info.Mode().IsRegular():
			err = s.command(s.top, path)
		case info.Mode().IsRegular():
			err = s.file(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file adds a file.
func (s *scan) file(path string) error {
	rel, err := filepath.Rel(s.base, path)
	if err != nil {
		return fmt.Errorf("read what steers lathe: %w", err)
	}
	rel = filepath.ToSlash(rel)
	if _, done := s.found[rel]; done {
		return nil
	}
	f, info, err := workspace.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what steers lathe: %w", err)
	}
	defer f.Close()
	if s.left -= info.Size(); s.left < 0 || len(s.found) >= maxFiles {
		return fmt.Errorf("%s: %w", path, ErrTooMuch)
	}
	if info.Size() == 0 { // or a file without a size and an end, as in /proc
		s.found[rel] = hex.EncodeToString(sha256.New().Sum(nil))
		return nil
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, info.Size()+1))
	if err == nil && n > info.Size() {
		err = errors.New("it grows while it is read")
	}
	if err != nil {
		return fmt.Errorf("read what steers lathe: %s: %w", path, err)
	}
	s.found[rel] = hex.EncodeToString(h.Sum(nil))
	return nil
}
