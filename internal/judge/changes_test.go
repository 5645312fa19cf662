package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChanges(t *testing.T) {
	tests := map[string]string{
		"git stash": "the working tree", "git stash pop": "the working tree", "git -C d stash push -m x": "the working tree", "git checkout -b x": "the working tree",
		"git commit -am x": "the repository", "git add .": "the repository", "git push": "the repository", "git branch new": "the repository", "git branch -D old": "the repository",
		"git tag v1": "the repository", "git tag -a v1 -m x": "the repository", "git config user.name me": "the repository", "git remote add o u": "the repository",
		"git worktree add ../x": "the repository", "cd x && git reset --hard": "the working tree", "git submodule update": "the repository",
		"npm install": "installed packages", "npm i -D x": "installed packages", "npm ci": "installed packages", "pip install -r r.txt": "installed packages",
		"go get x": "the module or its files", "go mod tidy": "the module or its files", "go generate ./...": "the module or its files", "sudo apt-get install x": "installed packages",

		"git status": "", "git log --oneline": "", "git diff": "", "git show HEAD": "", "git stash list": "", "git stash show -p": "", "git branch": "", "git branch -a": "",
		"git branch --list 'x*'": "", "git branch --contains HEAD": "", "git tag": "", "git tag -l 'v*'": "", "git config user.name": "", "git config --get x.y": "", "git remote -v": "",
		"git worktree list": "", "git reflog": "", "git fetch": "", "git blame f": "", "git grep x": "", "git --no-pager log": "", "git apply --check p": "", "git clean -n": "",
		"npm test": "", "npm run build": "", "npm ls": "", "go test ./...": "", "go build ./...": "", "go mod graph": "", "go list ./...": "", "go vet": "", "cargo test": "", "make": "",
		"pip list": "", "python x.py": "", "ls": "", "uv pip list": "", "git rev-parse HEAD": "", "git submodule status": "", "npm install --dry-run": "",
	}
	for script, want := range tests {
		var got []string
		for _, c := range Analyze(script, Env{Dir: "/w", Home: "/h"}).Changes() {
			got = append(got, c.What)
		}
		if diff := cmp.Diff(want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", script, diff)
		}
	}
}
