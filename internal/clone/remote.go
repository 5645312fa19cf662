package clone

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"lathe"
	"lathe/internal/worktree"
)

// Remote is a git repository elsewhere, as git is told of it.
type Remote struct {
	address string
	local   bool
}

const (
	maxAddress = 4096
	hintRemote = "write it as https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH, git://HOST/PATH, or an absolute path"
)

var (
	// helper is how git is told to run a program of any name, ext among them.
	helper = pattern(`^[A-Za-z0-9][A-Za-z0-9+.-]*::`)
	scheme = pattern(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	// brief is USER@HOST:PATH, which git takes for ssh.
	brief = pattern(`^(?:[A-Za-z0-9._][A-Za-z0-9._-]*@)?(?:[A-Za-z0-9._][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\]):[^:-]`)
)

func pattern(p string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(p) })
}

// Parse reads the name of a remote. It refuses what would have git run a program, what git
// could take for an option, paths that are not absolute, and passwords, which belong to
// git's credential helpers.
func Parse(name string) (Remote, error) {
	no := func(format string, args ...any) (Remote, error) {
		return Remote{}, lathe.Errorf(lathe.CodeInvalid, hintRemote, format, args...)
	}
	if name == "" || len(name) > maxAddress || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.HasPrefix(name, "-") {
		return no("%q is not a git remote", name)
	}
	if helper().MatchString(name) {
		return no("%q would have git run a program", name)
	}
	switch kind := scheme().FindStringSubmatch(name); {
	case kind != nil:
		return parseURL(name, strings.ToLower(kind[1]))
	case filepath.IsAbs(name):
		return Remote{address: filepath.Clean(name), local: true}, nil
	case brief().MatchString(name):
		return Remote{address: name}, nil
	}
	return no("%q is not a git remote", name)
}

func parseURL(name, kind string) (Remote, error) {
	no := func(hint, format string, args ...any) (Remote, error) {
		return Remote{}, lathe.Errorf(lathe.CodeInvalid, hint, format, args...)
	}
	u, err := url.Parse(name)
	if err != nil {
		return no(hintRemote, "%q is not a git remote", scheme().FindString(name)+"…")
	}
	if _, secret := u.User.Password(); secret {
		return no("leave it out, and keep it in a credential helper of git or in an ssh key", "the remote %q has a password in it", tidy(u))
	}
	if kind == "file" {
		if u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
			return no(hintRemote, "%q is not an absolute path", name)
		}
		return Remote{address: filepath.Clean(u.Path), local: true}, nil
	}
	if protocols[kind] == "" {
		return no(hintRemote, "git is not asked to fetch with %q", kind)
	}
	if u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-") {
		return no(hintRemote, "%q is not a git remote", tidy(u))
	}
	return Remote{address: strings.TrimRight(name, "/")}, nil
}

// protocols are those that git may use for a remote with each scheme: the person's own git
// configuration may have it use ssh for https, or the other way round.
var protocols = map[string]string{
	"https": network, "http": network, "ssh": network, "git+ssh": network, "ssh+git": network, "git": network,
}

const network = "https:http:ssh:git"

// Protocols are those that git may use, as GIT_ALLOW_PROTOCOL has them.
func (r Remote) Protocols() string {
	if r.local {
		return "file"
	}
	return network
}

// Address is the remote as git is told of it.
func (r Remote) Address() string { return r.address }

// String is the remote as people are shown it: without a user of a web address, which may be
// a token, and without a query.
func (r Remote) String() string {
	if scheme().MatchString(r.address) {
		if u, err := url.Parse(r.address); err == nil {
			return tidy(u)
		}
	}
	return r.address
}

func tidy(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" && strings.Contains(u.Scheme, "ssh") {
		shown.User = url.User(name)
	}
	return shown.String()
}

// name is that of the directory of a clone: the same wherever the remote is given the
// same way, and different for all others.
func (r Remote) name() string {
	base := strings.TrimSuffix(path.Base(filepath.ToSlash(r.String())), ".git")
	if i := strings.LastIndexByte(base, ':'); i >= 0 {
		base = base[i+1:]
	}
	slug, err := worktree.Slug(base)
	if err != nil {
		slug = "clone"
	}
	sum := sha256.Sum256([]byte(r.String()))
	return slug + "-" + hex.EncodeToString(sum[:4])
}
