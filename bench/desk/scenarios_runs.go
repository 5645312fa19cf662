package main

import (
	"fmt"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/llmtest"
)

// long is a command that prints 40,000 lines with one error far inside.
const long = `for i in $(seq 40000); do if [ $i = 20000 ]; then echo "main.go:6: error: undefined: bye"; else echo "line $i of the build"; fi; done; exit 1`

var commandMistakes = []scenario{
	{class: "commands", name: "git commit without a message", git: true, setup: "git config user.name n; git config user.email n@example.com", play: func(m *model) {
		m.use(runs("echo x > x.txt && git add x.txt"))
		m.slip(slip{runs("git commit"), runs("git commit -m add"), "1 file changed", `-m\b|message`, []call{runs("git status")}})
	}, done: exists("x.txt")},
	once("commands", "an editor", slip{runs("vim main.go"), asEdit, "", instead, []call{runs("git status")}}, isEdited),
	once("commands", "a question", slip{runs(`read -p "Go on? [y/n] " x; echo "you said $x"; [ "$x" = y ]`), runs(`echo y | (read x; echo "you said $x")`), "you said y", `no terminal|input|nobody|exit code`, nil}, nil),
	once("commands", "an interpreter without a script", slip{runs("python3"), runs(`python3 -c 'print("ran")'`), "ran", `-c|script|input|waits|no output`, nil}, nil),
	once("commands", "a pager", slip{runs("git log"), runs("git --no-pager log"), "first", "pager", nil}, nil),
	once("commands", "a password", slip{runs(`sh -c 'printf "Password: " > /dev/tty; read x < /dev/tty'`), runs("true"), "", `terminal|tty`, nil}, nil),
	once("commands", "an exit code and no word", slip{runs("test -f nothing.txt"), runs("test -f main.go"), "", `exit code 1|exit status 1|code: 1`, nil}, nil),
	once("commands", "ended by a signal", slip{runs("kill -9 $$"), runs("true"), "", `signal|SIGKILL|killed|137`, nil}, nil),
	once("commands", "a program that is not there", slip{runs("pythonx --version"), runs("python3 --version"), "", `not found`, nil}, nil),
	once("commands", "a pipeline whose first part fails", slip{runs("sh -c 'echo building; exit 2' | tail -3"), runs("sh -c 'echo building; exit 0' | tail -3"), "", `exit(?:ed with)?(?: code)? 2|code 2`, nil}, nil),
	once("commands", "40,000 lines", slip{runs(long), asEdit, "", `undefined: bye`, []call{runs("(" + long + ") | grep error")}}, isEdited),
	once("commands", "cd in one call, work in the next", slip{runs("cd cli"), with(runs("cat cli.go"), args{"workdir": "cli"}), "", `workdir`, nil}, nil),
	{class: "commands", name: "a server with &", play: func(m *model) {
		server := "sleep 600 > /dev/null 2>&1 & echo $! > pid; sleep 0.2; echo started"
		m.use(runs(server))
		if m.errs {
			m.expect(m.use(runs("kill -0 $(cat pid) && echo alive || echo dead")), "alive")
		} else {
			m.use(runs("true"))
		}
	}},
	{class: "commands", name: "nohup for a server", play: func(m *model) {
		m.use(runs("nohup sleep 600 > out.log 2>&1 & echo $! > pid; sleep 0.2; echo started"))
		if m.errs {
			m.expect(m.use(runs("kill -0 $(cat pid) && echo alive || echo dead")), "alive")
		} else {
			m.use(runs("true"))
		}
	}},
	once("commands", "longer than its timeout", slip{with(runs("echo begun; sleep 30"), args{"timeout": 300}), runs("echo begun; echo ended"), "ended", `timeout`, nil}, nil),
	once("commands", "a here-document without its end", slip{runs("cat > new.txt <<'EOF'\ntext\n"), runs("cat > new.txt <<'EOF'\ntext\nEOF"), "", "here-document|EOF", []call{reads("new.txt")}}, holds("new.txt", "text\n")),
	once("commands", "a quote without its end", slip{runs(`echo "it's`), runs(`echo "it's"`), "^it's\n*$", `quote|matching|unexpected EOF|EOF`, nil}, nil),
	once("commands", "grep without a hit", slip{runs("grep nothing main.go"), runs("grep hello main.go"), hello, `exit code 1|code: 1|exit status 1`, nil}, nil),
	once("commands", "git add -p", slip{runs("git add -p main.go"), runs("git add main.go"), "", `terminal|input|nobody|no changes|exit|no output`, nil}, nil),
	once("commands", "a progress bar", slip{runs(`for i in $(seq 3000); do printf "\r%d of 3000 downloaded" $i; done; echo; echo complete`), runs("echo complete"), "^(?:[^\r]{0,400})complete", "", nil}, nil),
}

func init() {
	for i := range scenarios {
		if s := &scenarios[i]; s.class == "commands" && (s.name == "a pager" || s.name == "git add -p") {
			s.git = true
		}
	}
}

var bigText = strings.Repeat("a line of the file\n", 1000)

var answerMistakes = []scenario{
	{class: "answers", name: "an empty answer", play: func(m *model) {
		if m.errs {
			_, rest := m.step()
			m.judge(rest, "", "empty|nothing|go on|continue")
		}
		m.use(asEdit)
	}, done: isEdited},
	{class: "answers", name: "only reasoning", play: func(m *model) {
		if m.errs {
			_, rest := m.step(llmtest.Reasoning{Text: "I should edit main.go now."})
			m.judge(rest, "", "empty|nothing|go on|continue")
		}
		m.use(asEdit)
	}, done: isEdited},
	{class: "answers", name: "an announcement and no call", play: func(m *model) {
		m.use(reads("main.go"))
		if m.errs {
			_, rest := m.step(llmtest.Text("I have found the place. Now I will edit main.go:"))
			m.judge(rest, "", "call|go on|continue|do it")
		}
		m.use(asEdit)
	}, done: isEdited},
	{class: "answers", name: "a call written as text", play: func(m *model) {
		if m.errs {
			_, rest := m.step(llmtest.Text("<tool_call>\n{\"name\": \"edit\", \"arguments\": {\"filePath\": \"main.go\", \"oldString\": \"hello\", \"newString\": \"bye\"}}\n</tool_call>"))
			m.judge(rest, "", "call")
		}
		m.use(asEdit)
	}, done: isEdited},
	{class: "answers", name: "a call that the output limit cut", play: func(m *model) {
		if m.errs {
			raw := `{"filePath":"big.txt","content":"` + strings.ReplaceAll(bigText[:6000], "\n", `\n`)
			results, _ := m.send(llmtest.Step{Blocks: []llmtest.Block{llmtest.Call{Name: "write", Args: raw}}, Finish: llm.FinishLength})
			m.judge(results[0], "", "cut|limit|length|truncat|max")
			m.use(writes("big.txt", bigText[:len(bigText)/2]))
			m.use(call{"bash", args{"command": "cp big.txt half.txt && cat half.txt >> big.txt && rm half.txt", "description": "doubles it"}})
			return
		}
		m.use(writes("big.txt", bigText[:len(bigText)/2]))
		m.use(call{"bash", args{"command": "cp big.txt half.txt && cat half.txt >> big.txt && rm half.txt", "description": "doubles it"}})
	}, done: holds("big.txt", bigText)},
	{class: "answers", name: "words that the output limit cut", play: func(m *model) {
		if m.errs {
			_, rest := m.send(llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("First I look at the file, then I")}, Finish: llm.FinishLength})
			m.judge(rest, "", "cut|limit|go on|continue")
		}
		m.use(asEdit)
	}, done: isEdited},
	{class: "answers", name: "a call behind a mark of its own", play: func(m *model) {
		if m.errs {
			_, rest := m.step(llmtest.Text("[TOOL_CALLS] [{\"name\": \"read\", \"arguments\": {\"filePath\": \"main.go\"}}]"))
			m.judge(rest, "", "call")
		}
		m.use(asEdit)
	}, done: isEdited},
	{class: "answers", name: "the same call again and again", play: func(m *model) {
		n := 2 // which is what the model wastes by itself
		if m.errs {
			n = 6
		}
		for range n {
			if text := m.use(reads("main.go")); matches("repeat|same (?:input|call)", text) {
				break
			}
		}
		m.use(asEdit)
	}, done: isEdited},
}

const plan = "plan"

var modeMistakes = []scenario{
	{class: "modes", name: "an edit in plan mode", agent: plan, play: refusal(asEdit, `plan`), done: contains("main.go", "hello")},
	{class: "modes", name: "a redirection in plan mode", agent: plan, play: refusal(runs("echo x > c.txt"), `plan.*c\.txt`), done: untouched("c.txt")},
	{class: "modes", name: "git stash in plan mode", agent: plan, git: true, setup: "", play: refusal(runs("git stash"), `plan.*stash`)},
	{class: "modes", name: "a script that writes in plan mode", agent: plan, files: map[string]string{"gen.sh": "#!/bin/sh\necho x > c.txt\n"}, play: refusal(runs("sh gen.sh"), `plan.*(?:gen\.sh|c\.txt)`), done: untouched("c.txt")},
	{class: "modes", name: "sed -i in plan mode", agent: plan, play: refusal(runs("sed -i s/hello/bye/ main.go"), `plan.*main\.go`), done: contains("main.go", "hello")},
	{class: "modes", name: "sed through python in plan mode", agent: plan, play: refusal(runs(`python3 -c 'open("c.txt", "w").write("x")'`), `plan.*writes`), done: untouched("c.txt")},
	{class: "modes", name: "a write in plan mode", agent: plan, play: refusal(writes("c.txt", "x"), `plan`), done: untouched("c.txt")},
	{class: "modes", name: "a patch in plan mode", agent: plan, play: refusal(call{"apply_patch", args{"patchText": addPatch}}, `plan`), done: contains("main.go", "hello")},
	{class: "modes", name: "git commit in plan mode", agent: plan, git: true, play: refusal(runs("git commit --allow-empty -m x"), `plan.*commit`)},
	{class: "modes", name: "a file outside the project", play: refusal(reads("/etc/hostname"), `outside|external`)},
	{class: "modes", name: "a command outside the project", play: refusal(runs("ls /var/log"), `outside|external`)},
	{class: "modes", name: "what a rule refuses", config: map[string]any{"permission": map[string]any{"bash": map[string]any{"git push *": "deny"}}}, play: refusal(runs("git push origin main"), `git push`)},
	{class: "modes", name: "what a rule would ask about, with nobody there", config: map[string]any{"permission": map[string]any{"bash": map[string]any{"*": "allow", "make *": "ask"}}}, play: refusal(runs("make all"), `make|nobody|permission`)},
	{class: "modes", name: "a secret file", files: map[string]string{".env": "KEY=1\n"}, play: refusal(reads(".env"), `\.env`)},
	{class: "modes", name: "a question with nobody there", play: refusal(call{"question", args{"questions": []any{args{"question": "Which?", "header": "Which", "options": []any{args{"label": "a", "description": "a"}}}}}}, `question|nobody|there is no tool`)},
}

// refusal is a call that is refused: the model has to hear why, and goes on with the
// rest of its work.
func refusal(c call, tells string) func(*model) {
	return func(m *model) {
		if m.errs {
			m.judge(m.use(c), "", tells)
		}
		m.use(reads("main.go"))
	}
}

var parallelMistakes = []scenario{
	{class: "calls at once", name: "two edits of one file", play: func(m *model) {
		one, two := edits("docs/list.md", "one", "1"), edits("docs/list.md", "two", "2")
		if m.errs {
			for _, text := range m.useAll(one, two) {
				m.expect(text, "applied")
			}
			return
		}
		m.use(one)
		m.use(two)
	}, done: holds("docs/list.md", "1\n2\nthree\n")},
	{class: "calls at once", name: "write and edit of a new file", play: func(m *model) {
		one, two := writes("new.txt", "one\n"), edits("new.txt", "one", "two")
		if m.errs {
			m.useAll(one, two)
			return
		}
		m.use(one)
		m.use(two)
	}, done: holds("new.txt", "two\n")},
	{class: "calls at once", name: "an edit and the test of it", play: func(m *model) {
		one, two := asEdit, runs("grep bye main.go")
		if m.errs {
			m.expect(m.useAll(one, two)[1], `Println\("bye"\)`)
			return
		}
		m.use(one)
		m.use(two)
	}, done: isEdited},
	{class: "calls at once", name: "two edits, the second of what the first replaced", play: func(m *model) {
		one := edits("cli/cli.go", "func Run() int {\n\treturn 0", "func Run(code int) int {\n\treturn code")
		two := edits("cli/cli.go", "// Run runs.\nfunc Run() int {", "// Run returns its code.\nfunc Run() int {")
		if m.errs {
			m.judge(m.useAll(one, two)[1], "applied", `4: func Run\(code int\)`)
		} else {
			m.use(one)
		}
		m.use(edits("cli/cli.go", "// Run runs.", "// Run returns its code."))
	}, done: contains("cli/cli.go", "// Run returns its code.\nfunc Run(code int) int {\n\treturn code")},
	{class: "calls at once", name: "one of them is broken", play: func(m *model) {
		if m.errs {
			results := m.useAll(reads("main.go"), call{"read", `{"filePath":`}, reads("cli/cli.go"))
			m.expect(results[0], hello)
			m.expect(results[2], "func Run")
			m.judge(results[1], "", "JSON|pars|incomplete|cut")
		} else {
			m.useAll(reads("main.go"), reads("cli/cli.go"))
		}
		m.use(reads("docs/list.md"))
	}},
	{class: "calls at once", name: "thirty reads", files: many(30), play: func(m *model) {
		var calls []call
		for i := range 30 {
			calls = append(calls, reads(fmt.Sprintf("many/f%02d.txt", i)))
		}
		if m.errs {
			for i, text := range m.useAll(calls...) {
				m.expect(text, fmt.Sprintf("file %d begins", i))
			}
			return
		}
		m.useAll(calls[:15]...)
		m.useAll(calls[15:]...)
	}},
	{class: "calls at once", name: "more than a small window holds", window: 24_000, files: many(12), play: func(m *model) {
		var calls []call
		for i := range 12 {
			calls = append(calls, reads(fmt.Sprintf("many/f%02d.txt", i)))
		}
		if m.errs {
			for i, text := range m.useAll(calls...) {
				m.expect(text, fmt.Sprintf("file %d begins", i))
			}
			return
		}
		m.use(calls[0])
	}},
}

func many(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "file %d begins\n", i)
		for line := range 400 {
			fmt.Fprintf(&b, "value %d of the file number %d is here\n", line*7919+i, i)
		}
		files[fmt.Sprintf("many/f%02d.txt", i)] = b.String()
	}
	return files
}
