package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/llm"
	"lathe/internal/llm/llmtest"
)

const scenario = `when plan the work
text Here is the plan.
---
when build it
text I hand over.
tool task {"description":"find callers","prompt":"find the callers in @main.go","subagent_type":"explore"}
tool task {"description":"write notes","prompt":"write the notes","subagent_type":"general"}
---
when find the callers
tool grep {"pattern":"main"}
---
when Found 2 matches
text callers found
---
when write the notes
tool write {"filePath":"notes.md","content":"notes\n"}
---
when Wrote file
text notes written
---
when task_result
tool question {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"red","description":"R"},{"label":"blue","description":"B"}]}]}
---
when has answered
text Built in blue.
---
when Say hello to World
tool skill {"name":"greeting"}
---
when skill_content
text Hello, World!
`

// TestWorkingSet goes from a plan over the build with two subagents at once and a
// question to a command that loads a skill, and looks at every request on the way.
func TestWorkingSet(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{".lathe/command", ".claude/skills/greeting"} {
		if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.write("main.go", "package main\n\nfunc main() {}\n")
	w.write("AGENTS.md", "Prefer blue.\n")
	w.write(".lathe/command/greet.md", "---\ndescription: greets\n---\nSay hello to $1.")
	w.write(".claude/skills/greeting/SKILL.md", "---\nname: greeting\ndescription: How to greet: politely\n---\nBow first.")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = w.dir, append(w.env, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	script, err := llmtest.Parse([]byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	s := w.model("anthropic", script)

	if got := w.must(w.run("run", "--agent", "plan", "plan the work")); got != "Here is the plan.\n" {
		t.Errorf("plan answered %q", got)
	}
	shown, err := runTTY(w.command("run", "-c", "--agent", "build", "--permission", "ask", "build it"), [][2]string{{"your own words", "2\n"}})
	if err != nil || !strings.Contains(shown, "Which colour?") || !strings.Contains(shown, "Built in blue.") {
		t.Fatalf("build: %v\n%s", err, shown)
	}
	if got := w.must(w.run("run", "-c", "--command", "greet", "World")); got != "Hello, World!\n" {
		t.Errorf("the command answered %q", got)
	}
	if notes, err := os.ReadFile(filepath.Join(w.dir, "notes.md")); err != nil || string(notes) != "notes\n" {
		t.Errorf("notes.md: %q, %v", notes, err)
	}
	reqs := asked(t, s)
	if len(reqs) != 10 || s.Left() != 0 {
		t.Fatalf("%d requests, %d steps left", len(reqs), s.Left())
	}
	checkScenario(t, reqs)
}

// seen is what a request of the scenario must and must not hold.
type seen struct {
	when              string // in its last message
	system, last, all string // words that are in there, separated by "|"
	tools, without    string // offered and not offered
}

func checkScenario(t *testing.T, reqs []llmtest.Request) {
	t.Helper()
	for _, want := range []seen{
		{when: "plan the work", system: "Prefer blue.|<name>greeting</name>|How to greet: politely|Is a git repository: yes", last: "Plan mode is on", tools: "read|skill|task", without: "question|plan_exit|plan_enter"},
		{when: "build it", system: "Prefer blue.", last: "Plan mode is off", all: "Here is the plan.|Plan mode is on", tools: "edit|write|task|question|todowrite|skill"},
		{when: "find the callers", system: "Prefer blue.", last: "Called the Read tool|func main() {}", tools: "grep|read|bash", without: "edit|write|task|question|todowrite"},
		{when: "write the notes", tools: "edit|write|bash", without: "task|question|todowrite"},
		{when: "task_result", last: "callers found|notes written|session_id: ses_", tools: "question"},
		{when: "has answered", last: `"Which colour?"="blue"`},
		{when: "Say hello to World", tools: "skill", without: "question", all: "Built in blue."},
		{when: "skill_content", last: "Bow first."},
	} {
		i := slices.IndexFunc(reqs, func(r llmtest.Request) bool { return strings.Contains(r.LastText(), want.when) })
		if i < 0 {
			t.Errorf("no request says %q", want.when)
			continue
		}
		r := reqs[i]
		var names []string
		for _, tool := range r.Tools {
			names = append(names, tool.Name)
		}
		has := func(where, text, words string) {
			for word := range strings.SplitSeq(words, "|") {
				if word != "" && !strings.Contains(text, word) {
					t.Errorf("request %q: its %s has no %q:\n%s", want.when, where, word, text)
				}
			}
		}
		has("system", strings.Join(r.System, "\n"), want.system)
		has("last message", r.LastText(), want.last)
		has("conversation", words(r.Messages), want.all)
		has("tools", strings.Join(names, " "), want.tools)
		for name := range strings.SplitSeq(want.without, "|") {
			if name != "" && slices.Contains(names, name) {
				t.Errorf("request %q offers %s", want.when, name)
			}
		}
	}
}

// words returns the text of a conversation.
func words(messages []llm.Message) string {
	var out []string
	for _, m := range messages {
		for _, c := range m.Content {
			if text, ok := c.(llm.Text); ok {
				out = append(out, text.Text)
			}
		}
	}
	return strings.Join(out, "\n")
}
