package worktree

import (
	"bytes"
	"testing"

	"lathe/internal/workspace"
)

// What git says of its progress is told as it comes, and what goes wrong is kept, wherever
// the pieces end.
func TestProgress(t *testing.T) {
	said := "Cloning into 'x'...\nremote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.\nfatal: 项目 is gone"
	for size := 1; size <= len(said); size += 7 {
		var told bytes.Buffer
		errs := &workspace.Limited{Max: 1 << 10}
		p := &progress{to: &told, errs: errs}
		for rest := []byte(said); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := p.Write(rest[:min(size, len(rest))]); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		p.flush()
		if want := "remote: Counting objects:  50% (1/2)\nremote: Counting objects: 100% (2/2), done.\n"; told.String() != want {
			t.Errorf("pieces of %d: told %q", size, told.String())
		}
		if want := "Cloning into 'x'...\nfatal: 项目 is gone\n"; errs.String() != want {
			t.Errorf("pieces of %d: kept %q", size, errs.String())
		}
	}
}

func TestIsPlain(t *testing.T) {
	for key, want := range map[string]bool{
		"core.bare": true, "remote.origin.url": true, "branch.feature/x.y.merge": true, "user.email": true,
		"core.sshcommand": false, "core.hookspath": false, "core.gitproxy": false, "remote.origin.uploadpack": false, "remote.origin.vcs": false, "remote.https://x/y.url": false,
		"url.ext::sh.insteadof": false, "include.path": false, "includeif.gitdir:/.path": false, "credential.helper": false, "core.*.bare": false,
		"extensions.worktreeconfig": false, "http.proxy": false, "nodot": false, "": false,
	} {
		if got := isPlain(key); got != want {
			t.Errorf("isPlain(%q) = %v", key, got)
		}
	}
}
