package guide

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const readmeRead = "<path>/r/README.md</path>\n<type>file</type>\n<content>\n1: # Tea\n2: \n3: It makes\n4: tea.\n5: \n6: ## Install\n7: \n8: More.\n9: ## Use\n\n(End of file - total 9 lines)\n</content>"

const surveyed = "file go.mod\nfile README.md\nentry cmd/tea/main.go\nkind 8000 go\nkind 900 md\nkind 3 Makefile\ndir 8000 cmd/\ndir 950 ./\ntotal 98765\n"

func TestTour(t *testing.T) {
	names, got := drive(t, New(Options{}), request("give me a tour of this project"), surveyed, readmeRead)
	if diff := cmp.Diff([]string{"bash", "read"}, names); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	want := "# Tea\n\n" +
		"**From the README:** It makes tea.\n\n" +
		"**What is here:** 98,765 files: 8,000 Go, 900 Markdown, 3 Makefile, 89,862 others\n\n" +
		"**Directories:** `cmd/` (8,000)\n\n" +
		"**Entry points:** `cmd/tea/main.go`\n\n" +
		"**Project files:** `README.md`, `go.mod`\n\n" +
		"**Build and test:** `go build ./...`, `go test ./...`\n\n" +
		"**The README goes on with:** Install, Use\n\n"
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	_, got = drive(t, New(Options{}), request("这个项目做什么?"), surveyed, readmeRead)
	for _, want := range []string{"98,765 个文件：8,000 Go", "**入口：** `cmd/tea/main.go`", "不是语言模型", "`lathe auth login <provider>`"} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer in Chinese is %q, without %q", got, want)
		}
	}
}

// TestTourWithoutCommands: where no command can run, a search says how much there is.
func TestTourWithoutCommands(t *testing.T) {
	list := "/r/a.go\n/r/README.md\n\n(Only the newest 2 of 4321 files are shown. Use a narrower pattern or path.)"
	names, got := drive(t, New(Options{}), request("tour"), "sh: awk: not found\n", list, readmeRead)
	if diff := cmp.Diff([]string{"bash", "glob", "read"}, names); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if !strings.Contains(got, "**What is here:** 4,321 files\n") || !strings.Contains(got, "It makes tea.") {
		t.Errorf("answer is %q", got)
	}
}

// TestSurvey runs the survey's own command, where git is and where it is not.
func TestSurvey(t *testing.T) {
	for _, program := range []string{"git", "sh", "awk"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"README.md": "x", "go.mod": "x", "cmd/tea/main.go": "x", "internal/a.go": "x", "internal/b 茶.go": "x", "internal/testdata/main.go": "x",
		"Makefile": "x", ".gitignore": "ignored/\n", "ignored/x.go": "x", "sub/go.mod": "x",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(command string) string {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	command := surveyCall().args.(args)["command"].(string)
	want := survey{
		total: 10, kinds: []tally{{"Go", 5}, {"Go module", 2}, {"Makefile", 1}, {"Markdown", 1}},
		dirs:  []tally{{"./", 4}, {"internal/", 3}, {"cmd/", 1}, {"ignored/", 1}, {"sub/", 1}},
		files: []string{"Makefile", "README.md", "go.mod"}, entries: []string{"cmd/tea/main.go"},
	}
	check := func(what string) {
		t.Helper()
		got, whole := readSurvey(run(command))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(survey{}, tally{})); diff != "" || !whole {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("a plain directory")
	if got, want := run(lineCounter), "10 10\n"; got != want {
		t.Errorf("lines and files are %q, want %q", got, want)
	}
	run("git init -q")
	want.total, want.kinds[0].n = 9, 4
	want.dirs = []tally{{"./", 4}, {"internal/", 3}, {"cmd/", 1}, {"sub/", 1}}
	check("files that git does not know yet")
	run("git add .")
	check("files that git knows")
}

func TestReadme(t *testing.T) {
	title, intro, sections := readmeText("[![ci](x)](y)\n<p align=center>\n# The Title\n\n[中文](README.zh-CN.md) | [Docs](d)\n\n![logo](l.png)\n\nFirst line\nsecond line.\n\nOther.\n\n```sh\n## not a heading\n```\n\n## Install\n## 使用\n")
	if title != "The Title" || intro != "First line second line." {
		t.Errorf("title %q, intro %q", title, intro)
	}
	if diff := cmp.Diff([]string{"Install", "使用"}, sections); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

// TestKindsAreCounted holds that one of a kind is told as one, in each language.
func TestKindsAreCounted(t *testing.T) {
	v := survey{total: 9, kinds: []tally{{"Go", 1}, {"Go module", 2}, {"image", 1}, {"C header", 4}}}
	if got, want := v.kindsText(state{}), "9 files: 1 Go, 2 Go modules, 1 image, 4 C headers, 1 other"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := v.kindsText(state{chinese: true}), "9 个文件：1 Go，2 Go 模块文件，1 图片，4 C 头文件，1 其他"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, name := range languages() {
		if name == "image" || strings.HasSuffix(name, " header") || strings.HasSuffix(name, " module") {
			if countable()[name] == "" {
				t.Errorf("%q has no plural", name)
			}
		} else if strings.HasSuffix(name, "s") && name != "CSS" {
			t.Errorf("%q is a plural: name one", name)
		}
	}
}
