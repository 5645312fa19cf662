// Package mcpjson reads the MCP servers that files in Claude Code's form name: .mcp.json of
// a repository, and what `claude mcp add` wrote for the person; and those of Codex'
// configuration (codex.go). None of them is used before the person agrees to what the file
// says, and a file that says something else is asked about again.
//
// [Sources] finds the files and says what they bring. [Answers] (answers.go) keeps what the
// person said of them; [Answers.Agreed] returns the servers that may be used, and reads
// nothing but the answers where there are none. entry.go reads one server.
package mcpjson

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"lathe/internal/config"
	"lathe/internal/order"
	"lathe/internal/say"
	"lathe/internal/trust"
	"lathe/internal/workspace"
)

// Scope says for whom a file names servers.
type Scope string

// Scopes, the strongest first.
const (
	Local   Scope = "local"   // the person, in one directory
	Project Scope = "project" // whoever works in the repository
	User    Scope = "user"    // the person, everywhere
)

// Bounds of what is read.
const (
	maxProject = 1 << 20
	maxPerson  = 64 << 20 // it holds much else
	maxServers = 100      // of one source
)

// Where says where to look.
type Where struct {
	Dir  string // absolute; where lathe works
	Top  string // of the checkout, absolute; empty or "/" outside one
	Home string
	// Getenv is what ${NAME} is read from, CLAUDE_CONFIG_DIR and CODEX_HOME.
	Getenv func(string) string
	// NoProject leaves the repository's files out.
	NoProject bool
}

// Source is a file, or the part of one that is for somebody.
type Source struct {
	Path    string
	Scope   Scope
	Dir     string // of the project; empty for everywhere
	Servers []Server
	Skipped []string // what cannot be used, each with the reason
	// Digest stands for all that it says; of a repository also for the files of the
	// repository that it names.
	Digest string
}

// Server is one that a source names.
type Server struct {
	config.MCP            // with variables filled in
	Shown      config.MCP // as it is written
}

// Codex reports whether it is Codex' configuration.
func (s Source) Codex() bool { return filepath.Base(s.Path) == codexName }

// ID names a source among those of a directory.
func (s Source) ID() string { return string(s.Scope) + ":" + s.Dir + ":" + s.Path }

// Sources returns what there is for a directory, the strongest first. A file that cannot
// be read is told in the Skipped of a source without servers.
func Sources(w Where) []Source {
	var out []Source
	for _, s := range slices.Concat(w.person(), w.project(), w.codex()) {
		if len(s.Servers)+len(s.Skipped) > 0 {
			out = append(out, s)
		}
	}
	rank := map[Scope]int{Local: 0, Project: 1, User: 2}
	order.Stable(out, func(a, b Source) int { return cmp.Compare(rank[a.Scope], rank[b.Scope]) })
	return out
}

// upward lists the directories from Dir to the top of its checkout; outside one, Dir.
func (w Where) upward() []string {
	dirs := []string{filepath.Clean(w.Dir)}
	top := filepath.Clean(w.Top)
	if w.Top == "" || top == filepath.Dir(top) {
		return dirs
	}
	for dir := dirs[0]; dir != top && dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	return dirs
}

// project returns what the repository's files name, the nearest first.
func (w Where) project() (out []Source) {
	if w.NoProject {
		return nil
	}
	dirs := w.upward()
	top := dirs[len(dirs)-1]
	for _, dir := range dirs {
		s := Source{Path: filepath.Join(dir, ".mcp.json"), Scope: Project, Dir: dir}
		text, err := workspace.ReadFile(s.Path, maxProject)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var file struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		if err == nil {
			err = json.Unmarshal(text, &file)
		}
		if err == nil {
			s.Digest, err = bound(top, s.Path, text)
		}
		if err != nil {
			s.Skipped = []string{fmt.Sprintf("it cannot be used: %v", err)}
			out = append(out, s)
			continue
		}
		s.read(file.Servers, w)
		out = append(out, s)
	}
	return out
}

// bound returns a digest of a repository's file as it was read and of the files of the
// repository that it names, as trust in a repository is bound to them.
func bound(top, path string, text []byte) (string, error) {
	files, err := trust.Scan(top, []string{path}, nil)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal([]any{digest(text), files}) // sorted by name
	return digest(raw), err
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// personFile returns the file that `claude mcp add` writes.
func (w Where) personFile() string {
	if dir := w.Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(w.Home, ".claude.json")
}

// person returns what the person's file names, for the directory and for everywhere. A
// file that is broken says nothing of servers, and is not lathe's to complain about.
func (w Where) person() (out []Source) {
	path := w.personFile()
	text, err := workspace.ReadFile(path, maxPerson)
	if err != nil || !bytes.Contains(text, []byte(`"mcpServers"`)) {
		return nil
	}
	type servers struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	var file struct {
		servers
		Projects map[string]servers `json:"projects"`
	}
	if json.Unmarshal(text, &file) != nil {
		return nil
	}
	for _, dir := range w.upward() {
		out = append(out, w.of(Source{Path: path, Scope: Local, Dir: dir}, file.Projects[dir].Servers))
	}
	return append(out, w.of(Source{Path: path, Scope: User}, file.Servers))
}

func (w Where) of(s Source, raw json.RawMessage) Source {
	var list map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return s
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, raw) // it was decoded
	s.Digest = digest(compact.Bytes())
	s.read(list, w)
	return s
}

// read takes the servers in, by name.
func (s *Source) read(list map[string]json.RawMessage, w Where) {
	names := slices.Sorted(maps.Keys(list))
	if over := len(names) - maxServers; over > 0 {
		names = names[:maxServers]
		s.Skipped = append(s.Skipped, fmt.Sprintf("%s beyond the first %d", say.Plural(over, "server"), maxServers))
	}
	for _, name := range names {
		one, err := parse(name, list[name])
		if err != nil {
			s.Skipped = append(s.Skipped, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		if one.Type == "local" {
			one.Cwd = s.cwd(one.Cwd)
		}
		full, err := w.expand(one, cmp.Or(s.Dir, w.Dir))
		if err != nil {
			s.Skipped = append(s.Skipped, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		s.Servers = append(s.Servers, Server{full, one})
	}
}

// cwd returns where a local server runs: from the project's directory, or, for those of
// everywhere, the one at hand.
func (s *Source) cwd(dir string) string {
	if s.Dir == "" || filepath.IsAbs(dir) || len(dir) > 0 && dir[0] == '$' {
		return dir
	}
	return filepath.Join(s.Dir, dir)
}
