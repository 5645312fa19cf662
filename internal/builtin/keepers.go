package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/shell"
)

// keeper is a program, or a directory, that keeps a person's keys: programs that miss it
// rarely say where it is.
type keeper struct {
	words  func() *regexp.Regexp
	places func(getenv func(string) string) []string
}

var (
	ofSSH = pattern(`connecting to agent|authentication agent|agent socket|Permission denied \(publickey`)
	ofGPG = pattern(`gpg failed to sign|can't connect to the (?:gpg-)?agent|No secret key`)
)

func keepers() []keeper {
	return []keeper{
		{ofSSH, func(getenv func(string) string) []string { return []string{getenv("SSH_AUTH_SOCK")} }},
		{ofGPG, keyRing},
	}
}

// keyRing lists GnuPG's directory and that of its agent's sockets.
func keyRing(getenv func(string) string) []string {
	dir := getenv("GNUPGHOME")
	if home := getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".gnupg")
	}
	return []string{dir, fmt.Sprintf("/run/user/%d/gnupg", os.Getuid())}
}

// missedKeepers lists which of the hidden places that keep keys a text complains about.
func (e shellTools) missedKeepers(said string, hidden []string) (list []string) {
	for _, k := range keepers() {
		if !k.words().MatchString(said) {
			continue
		}
		for _, place := range k.places(func(name string) string { return shell.Getenv(e.ShellEnv, name) }) {
			real, err := filepath.EvalSymlinks(place)
			if err == nil && filepath.IsAbs(place) && slices.ContainsFunc(hidden, func(dir string) bool { return within(dir, real) }) {
				list = append(list, real)
			}
		}
	}
	return list
}

// socketBelow returns the socket below a hidden directory that a text names: it is less
// than the directory, which has those of other programs, too. It is "" if there is none.
func socketBelow(text, dir string) string {
	for {
		at := strings.Index(text, dir+"/")
		if at < 0 {
			return ""
		}
		path := text[at:]
		path = path[:strings.IndexAny(path+" ", ":'\"\u2018\u2019 \t\r\n")]
		path = strings.TrimRight(path, ".,;)")
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			return path
		}
		text = text[at+len(dir):]
	}
}
