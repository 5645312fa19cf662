package guide

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for prompt, want := range map[string]intent{
		"":                          help{},
		"help":                      help{},
		"What can you do?":          help{},
		"你能做什么？":                    help{},
		"hello":                     greeting{},
		"Hi there!":                 greeting{},
		"你好":                        greeting{},
		"thanks":                    thanks{},
		"see @a/b.txt":              read{"a/b.txt"},
		"explain @a.txt#2-3":        nearest{file: "a.txt"},
		"谢谢":                        thanks{},
		"who are you?":              about{},
		"what model is this":        about{},
		"how do I connect a model?": connect{},
		"use claude":                connect{},
		"怎么连接模型":                    connect{},
		"undo that":                 undo{},
		"撤销刚才的修改":                   undo{},
		"show me a change":          demo{},
		"demo":                      demo{},
		"演示一个修改":                    demo{},
		"给我演示一下":                    demo{},

		"give me a tour":                 tour{},
		"give me a tour of this project": tour{},
		"What is this project?":          tour{},
		"what does this project do?":     tour{},
		"explain this repo to me":        tour{},
		"tell me about this codebase":    tour{},
		"where should I start?":          tour{},
		"介绍一下这个项目":                       tour{},
		"这个项目做什么?":                       tour{},
		"这个项目是做什么的？":                     tour{},
		"这是什么项目":                         tour{},
		"项目结构":                           tour{},
		"看看这个项目":                         tour{},

		"how do I run this?":       tour{},
		"how do I run the tests?":  tour{},
		"explain the architecture": tour{},
		"这个项目怎么运行?":                tour{},
		"怎么测试":                     tour{},
		"what's in this folder?":   read{"."},
		"看看 README.md 写了什么":        read{"README.md"},
		"show me the README":       read{"README"},
		"add tests":                nearest{},

		"find TODO":               find{"TODO"},
		"where is Parse defined?": find{"Parse"},
		"who calls Parse":         find{"Parse"},
		"search for \"a b\"":      find{"a b"},
		"查找 main":                 find{"main"},
		"Parse 在哪里定义":             find{"Parse"},

		"read README.md":             read{"README.md"},
		"读取 README.md":               read{"README.md"},
		"请读取 README.md":              read{"README.md"},
		"读一下 README.md 的内容":          read{"README.md"},
		"README.md":                  read{"README.md"},
		"README.md 里写了什么？":           read{"README.md"},
		"what does README.md say?":   read{"README.md"},
		"what is in docs/cli.md?":    read{"docs/cli.md"},
		"can you open go.mod please": read{"go.mod"},
		"show me internal/a/b.go":    read{"internal/a/b.go"},
		"explain main.go":            read{"main.go"},
		"list files":                 read{"."},
		"list the files in docs":     read{"docs"},
		"列出文件":                       read{"."},

		"fix the typo in README":   proofread{"README.md"},
		"fix typos in docs/cli.md": proofread{"docs/cli.md"},
		"Please fix the typos.":    proofread{"README.md"},
		"修正 README.md 的错别字":        proofread{"README.md"},
		"修复 README 里的拼写错误":         proofread{"README.md"},
		"spell check notes.txt":    proofread{"notes.txt"},

		"count lines":                         countLines{},
		"how many lines in a.txt?":            countLines{"a.txt"},
		"how many lines of code are there?":   countLines{},
		"有多少行代码":                              countLines{},
		"count go files":                      countFiles{"go"},
		"how many files are there?":           countFiles{},
		"how many files are in this project?": countFiles{},
		"有多少 go 文件":                           countFiles{"go"},
		"这个项目有多少个文件？":                         countFiles{},
		"count panic":                         count{"panic"},

		"replace foo with bar in a.txt":      replace{"foo", "bar", "a.txt"},
		`change "x y" to 'z' in dir/b.md`:    replace{"x y", "z", "dir/b.md"},
		"in a.txt replace foo with bar":      replace{"foo", "bar", "a.txt"},
		"在 a.txt 中把 foo 改成 bar":              replace{"foo", "bar", "a.txt"},
		"把 a.txt 里的 foo 改成 bar":              replace{"foo", "bar", "a.txt"},
		"create hello.txt with hello there":  create{"hello.txt", "hello there"},
		"please create a file a.md with # A": create{"a.md", "# A"},
		"创建 hello.txt 内容为 你好":                create{"hello.txt", "你好"},

		"run git status":     run{"git status"},
		"git status":         run{"git status"},
		"运行 git status":      run{"git status"},
		"what changed?":      run{"git status --short --branch"},
		"最近的提交":              run{"git log --oneline -n 15"},
		"run the tests":      test{},
		"test":               test{},
		"do the tests pass?": test{},
		"运行测试":               test{},
		"跑一下测试":              test{},
		"build it":           test{build: true},

		"write me a compiler":                        nearest{word: "compiler"},
		"fix the bug in parser.go":                   nearest{file: "parser.go"},
		"refactor `readFile` please":                 nearest{word: "readFile"},
		"add a retry to fetchUser when it times out": nearest{word: "fetchUser"},
		"improve the readme":                         nearest{file: "README.md"},
		"给 openStore 加上日志":                           nearest{word: "openStore"},
		"写一首诗":                                       nearest{},
		strings.Repeat("find ", 1000):                nearest{},
	} {
		if diff := cmp.Diff(want, parse(prompt), cmp.AllowUnexported(find{}, read{}, count{}, countFiles{}, countLines{}, run{}, create{}, replace{}, proofread{}, nearest{}, test{})); diff != "" {
			t.Errorf("parse(%.40q) is %T (-want +got):\n%s", prompt, parse(prompt), diff)
		}
	}
}

func TestLanguage(t *testing.T) {
	for prompt, want := range map[string]bool{
		"hello": false, "读取 README.md": true, "这个项目做什么?": true, "查找 main": true, "在 a.txt 中把 foo 改成 bar": true,
		"replace 你好 with hello in a.txt": false, "このプロジェクトは何ですか": false, "README.md 里写了什么？": true,
	} {
		if got := chinese(prompt); got != want {
			t.Errorf("chinese(%q) is %v", prompt, got)
		}
	}
}
