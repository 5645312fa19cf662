package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// A refusal says to the model what refused it and what it can do instead. Plan mode
// means what a command would do, not only the files that it names.
func TestRefusalsInWords(t *testing.T) {
	command := func(line string) use { return use{"bash", args{"command": line}} }
	const plan = "Plan mode changes no files; "
	tests := []struct {
		name, agent string
		call        use
		want        string // of the result; empty: the call is carried out
	}{
		{"redirection", "plan", command("echo a > c.txt"), plan + "this command writes c.txt: drop the redirection, or put it into the plan."},
		{"a program that writes", "plan", command("touch c.txt"), plan + "this command writes c.txt: leave it out, or put it into the plan."},
		{"edit", "plan", use{"edit", args{"filePath": "main.go", "oldString": "main()", "newString": "x()"}}, plan + "this would change main.go: leave it out, or put it into the plan."},
		{"git stash", "plan", command("git stash"), plan + "git stash changes the working tree: leave it out, or put it into the plan."},
		{"git commit in a list", "plan", command("git status && git commit -am x"), plan + "git commit -am x changes the repository: leave it out, or put it into the plan."},
		{"packages", "plan", command("npm install"), plan + "npm install changes installed packages: leave it out, or put it into the plan."},
		{"a script that writes", "plan", command("sh gen.sh"), plan + "gen.sh writes out.txt: read it rather than run it, or put it into the plan."},
		{"a program that is a script", "plan", command("./gen.sh"), plan + "gen.sh writes out.txt: read it rather than run it, or put it into the plan."},
		{"a script that runs one", "plan", command("bash outer.sh"), plan + "gen.sh writes out.txt: read it rather than run it, or put it into the plan."},
		{"a script that stashes", "plan", command("sh save.sh"), plan + "save.sh runs git stash, which changes the working tree: read it rather than run it, or put it into the plan."},
		{"python that writes", "plan", command("python3 gen.py"), plan + `gen.py writes files (open("out.txt", "w")): read it rather than run it, or put it into the plan.`},
		{"python in a line", "plan", command(`python3 -c 'open("x","w").write("a")'`), plan + `python3 writes files (open("x","w")): leave it out, or put it into the plan.`},
		{"a script that looks", "plan", command("sh look.sh"), ""},
		{"python that looks", "plan", command("python3 look.py || true"), ""},
		{"git log", "plan", command("git status && git stash list"), ""},
		{"explore", "explore", command("git stash"), "This agent only searches and reads; git stash changes the working tree: leave it out, and say in your answer what should be done."},
		{"a rule of the person", "build", command("curl x.example"), `Refused by the permission rules: bash "curl x.example" is denied, and this command runs curl x.example. Allowed: curl -V. ` +
			"Do without it, or in another way that the rules allow, and say in your answer what was left out."},
		{"build may", "build", command("sh gen.sh && git stash list && rm out.txt"), ""},
	}
	files := map[string]string{
		"repo/opencode.json": `{"permission":{"bash":{"curl *":"deny","curl -V":"allow"}}, "agent":{"explore":{"mode":"all"}}}`,
		"repo/gen.sh":        "#!/bin/sh\necho a > out.txt\n", "repo/outer.sh": "./gen.sh\n", "repo/save.sh": "git stash\n", "repo/look.sh": "ls > /dev/null\ngit status\n",
		"repo/gen.py": "with open(\"out.txt\", \"w\") as f:\n    f.write('x')\n", "repo/look.py": "print(open('main.go').read())\n",
	}
	p := newPlay(t, files, nil)
	p.open()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			p.mu.Lock()
			p.answer = func(*llm.Request) say {
				if asked {
					return say{text: "done"}
				}
				asked = true
				return say{calls: []use{tt.call}}
			}
			p.mu.Unlock()
			id := p.session(lathe.Rule{Permission: "external_directory", Pattern: "*", Action: lathe.Allow})
			p.prompt(id, session.Prompt{Agent: tt.agent}, "go")
			var got string
			for _, m := range p.messages(id) {
				for _, part := range m.Parts {
					if c, ok := part.Body.(*lathe.ToolCall); ok {
						if f, ok := c.State.(*lathe.ToolFailed); ok {
							got = f.Error
						}
					}
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("refusal (-want +got):\n%s", d)
			}
		})
	}
}
