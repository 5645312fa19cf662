package server

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// No route for files shows lathe's own, whichever directory a request names, and
// whatever repository they are in.
func TestOwnFilesAreNotShown(t *testing.T) {
	r := newRig(t)
	home := filepath.Join(filepath.Dir(r.dir), "home")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	p := r.srv.opts.Paths
	for _, dir := range []string{p.Data, p.Config, p.State} {
		write(t, filepath.Join(dir, "needle.txt"), "TOPSECRET\n")
	}
	write(t, filepath.Join(home, "mine.txt"), "not TOPSECRETLY private\n")
	if err := os.Symlink(p.Data, filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	own := relative(home, p.Data)
	in := func(dir, path string) string {
		return path + map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "directory=" + url.QueryEscape(dir)
	}
	for _, path := range []string{
		in(home, "/file/content?path="+own+"/needle.txt"), in(home, "/file/content?path=link/needle.txt"), in(home, "/file?path="+own), in(home, "/file?path=link"),
		in("/", "/file/content?path="+p.Data+"/needle.txt"),
		in(p.Data, "/file/content?path=needle.txt"), in(p.Data, "/file?path="), in(p.Data, "/find?pattern=TOPSECRET"), in(p.Config, "/find/file?query=needle"),
		in(p.State, "/lathe/file?query=needle"), in(p.Data, "/lathe/file/text?path=needle.txt"), in(home, "/lathe/file/text?path=link/needle.txt"), in(p.Data, "/lathe/find?pattern=TOPSECRET"),
		in(p.State, "/api/fs/find?query=needle"), in(p.State, "/api/fs/list"), in(p.Data, "/file/status"), in(p.Data, "/vcs/diff?mode=git"), in(p.Data, "/vcs"),
	} {
		if res := r.do("GET", path, ""); res.status != http.StatusForbidden || strings.Contains(string(res.body), "TOPSECRET\\n") {
			t.Errorf("%s: %d %s", path, res.status, res.body)
		}
	}
	for _, path := range []string{
		in(home, "/find?pattern=TOPSECRET"), in(home, "/find/file?query=needle"), in(home, "/lathe/file?query=needle"), in(home, "/api/fs/find?query=needle"), in(home, "/file/status"),
		in(home, "/vcs/diff?mode=git"), in(home, "/vcs/diff/raw"), in(home, "/vcs/status"),
	} {
		res := r.do("GET", path, "")
		if res.status != http.StatusOK || strings.Contains(string(res.body), "needle") {
			t.Errorf("%s: %d %s", path, res.status, res.body)
		}
		if !strings.Contains(path, "query=") && !strings.Contains(string(res.body), "mine.txt") {
			t.Errorf("%s leaves out too much: %s", path, res.body)
		}
	}
}

// A worktree that was made over the interface lies among lathe's data and is shown.
func TestOwnWorktreesAreShown(t *testing.T) {
	r := newRig(t)
	dir := filepath.Join(r.srv.opts.Paths.Data, "worktree", "p", "w")
	write(t, filepath.Join(dir, "a.txt"), "shown\n")
	res := r.do("GET", "/file/content?path=a.txt&directory="+url.QueryEscape(dir), "")
	if res.status != http.StatusOK || !strings.Contains(string(res.body), "shown") {
		t.Errorf("%d %s", res.status, res.body)
	}
}
