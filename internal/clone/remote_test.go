package clone

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for name, shown := range map[string]string{
		"https://git.example.com/team/app.git":         "https://git.example.com/team/app.git",
		"https://git.example.com/team/app/":            "https://git.example.com/team/app",
		"https://token@git.example.com/team/app.git?x": "https://git.example.com/team/app.git",
		"http://127.0.0.1:8080/a":                      "http://127.0.0.1:8080/a",
		"ssh://git@git.example.com:2222/a.git":         "ssh://git@git.example.com:2222/a.git",
		"git@git.example.com:team/app.git":             "git@git.example.com:team/app.git",
		"git.example.com:app":                          "git.example.com:app",
		"git://git.example.com/项目.git":                 "git://git.example.com/%E9%A1%B9%E7%9B%AE.git",
		"/srv/git/../git/app.git":                      "/srv/git/app.git",
		"file:///srv/git/app.git":                      "/srv/git/app.git",
	} {
		r, err := Parse(name)
		if err != nil || r.String() != shown {
			t.Errorf("Parse(%q) is %q, %v; want %q", name, r, err, shown)
		}
	}
	for _, name := range []string{
		"", "-", "--upload-pack=touch x", "-oProxyCommand=x:y", "ext::sh -c touch% x", "fd::17", "a+b::x", "app", "./app", "../app", "~/app",
		"ftp://git.example.com/a", "file://app", "file://other.example.com/srv/a", "ssh://-oProxyCommand=x/y", "ssh://-x@host/y", "-x@host:y", "host:-x",
		"https://", "https:///a", "https://me:secret@git.example.com/a", "https://git.example.com/a\nb", "https://%zz/", "a b:c", "\xff",
		"https://git.example.com/" + strings.Repeat("a", maxAddress),
	} {
		if r, err := Parse(name); err == nil {
			t.Errorf("Parse(%q) is %q", name, r)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("Parse(%q) tells the password: %v", name, err)
		}
	}
}

// Remotes have directories of their own, whose names are safe.
func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{
		"https://git.example.com/a/app.git", "https://git.example.com/b/app.git", "git@git.example.com:app.git", "/srv/app.git", "/srv/..app", "/",
		"https://git.example.com", "git://git.example.com/项目",
	} {
		r, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := r.name()
		if seen[dir] != "" || strings.ContainsAny(dir, `/\. `) || strings.HasPrefix(dir, "-") {
			t.Errorf("%q and %q are in %q", seen[dir], name, dir)
		}
		seen[dir] = name
	}
	with, _ := Parse("https://token@git.example.com/a")
	without, _ := Parse("https://git.example.com/a")
	if with.name() != without.name() {
		t.Errorf("who fetches makes a difference: %s, %s", with.name(), without.name())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"https://a@b/c", "git@h:p", "ext::x", "-x", "file:///a", "ssh://h:22/a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r, err := Parse(name)
		if err != nil {
			return
		}
		if strings.HasPrefix(r.Address(), "-") || helper().MatchString(r.Address()) || strings.ContainsAny(r.name(), `/\`) || r.name() == "" {
			t.Errorf("Parse(%q) is %q in %q", name, r.Address(), r.name())
		}
	})
}
