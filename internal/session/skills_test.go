package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	"lathe/internal/session"
)

func skill(name, description, body string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n" + body
}

func TestSkills(t *testing.T) {
	p := newPlay(t, map[string]string{
		"repo/.claude/skills/one/SKILL.md":     skill("one", "From: claude", "One."),
		"repo/.agents/skills/two/SKILL.md":     skill("two", "agents", "Two."),
		"repo/.opencode/skill/deep/x/SKILL.md": skill("three", "<opencode>", "Three."),
		"repo/.opencode/skill/deep/x/run.sh":   "echo",
		"repo/.lathe/skills/one/SKILL.md":      skill("one", "lathe's own", "Better one."),
		"repo/.claude/skills/quiet/SKILL.md":   "---\nname: quiet\n---\nQuiet.",
		"repo/.claude/skills/secret/SKILL.md":  skill("secret-x", "hidden", "Secret."),
		"repo/.claude/skills/broken/SKILL.md":  "---\nname: [\n---\nx",
		"repo/.claude/skills/noname/SKILL.md":  "just text",
		"home/.claude/skills/mine/SKILL.md":    skill("mine", "of the person", "Mine."),
		"home/more/far/SKILL.md":               skill("far", "elsewhere", "Far."),
		"repo/opencode.json":                   `{"skills":{"paths":["~/more"]},"permission":{"skill":{"secret-*":"deny"}}}`,
	}, func(req *llm.Request) say {
		if last(req) == "go" {
			return say{calls: []use{{"skill", args{"name": "three"}}, {"skill", args{"name": "nope"}}, {"skill", args{"name": "secret-x"}}, {"skill", args{"name": "one"}}}}
		}
		return say{text: "ok"}
	}).open()
	id := p.session()
	if out := p.prompt(id, session.Prompt{}, "go"); out.Failure != nil || out.Blocked {
		t.Fatalf("outcome %+v", out)
	}
	system := p.asked()[0].System[1]
	_, block, _ := strings.Cut(system, "<available_skills>")
	var names []string
	for line := range strings.Lines(block) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "<name>"); ok {
			names = append(names, strings.TrimSuffix(name, "</name>"))
		}
	}
	if diff := cmp.Diff([]string{"far", "mine", "one", "three", "two"}, names); diff != "" {
		t.Errorf("advertised (-want +got):\n%s", diff)
	}
	if !strings.Contains(block, "&lt;opencode&gt;") || !strings.Contains(block, "lathe&#39;s own") {
		t.Errorf("block %s", block)
	}
	tools := p.tools(id)
	for i, want := range []string{
		"<file>" + filepath.Join(p.dir, ".opencode/skill/deep/x/run.sh") + "</file>", `Skill "nope" not found.`, `skill "secret-x" is denied`, "Better one.",
	} {
		if !strings.Contains(tools[i], want) {
			t.Errorf("call %d: %s, want %q", i, tools[i], want)
		}
	}
	inst, err := p.svc.Instance(t.Context(), p.dir)
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, e := range inst.Skills.Problems() {
		problems = append(problems, e.Error())
	}
	all := strings.Join(problems, "\n")
	for _, want := range []string{"noname/SKILL.md was left out: its front matter has no name", "broken/SKILL.md was left out", `skill "one" is in`} {
		if !strings.Contains(all, want) {
			t.Errorf("problems do not tell %q:\n%s", want, all)
		}
	}
}

// TestSkillsOfAnUntrustedRepository holds that they count as text, and open no
// door to files outside.
func TestSkillsOfAnUntrustedRepository(t *testing.T) {
	p := newPlay(t, map[string]string{
		"repo/.claude/skills/in/SKILL.md": skill("in", "inside", "In."),
		"home/private/SKILL.md":           skill("out", "outside", "Out."),
		"home/private/key":                "the key",
	}, func(req *llm.Request) say { return say{text: "ok"} })
	p.env["LATHE_TRUST"] = ""
	if err := os.Symlink(filepath.Join(p.home, "private"), filepath.Join(p.dir, ".claude/skills/link")); err != nil {
		t.Fatal(err)
	}
	p.open()
	p.prompt(p.session(), session.Prompt{}, "go")
	system := p.asked()[0].System[1]
	if !strings.Contains(system, "<name>in</name>") || strings.Contains(system, "<name>out</name>") {
		t.Errorf("system %s", system)
	}
}

// TestSkillsStayInTheirPlace holds that no link among skills, and no path that an
// untrusted repository names, leads out of it, and that none costs a walk of the
// whole machine.
func TestSkillsStayInTheirPlace(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{
		"home/private/x/SKILL.md":           skill("out", "outside", "Out."),
		"repo/.opencode/skills/in/SKILL.md": skill("in", "inside", "In."),
		"repo/.opencode/skills/root":        "-> /",
		"repo/.opencode/skills/all":         "-> " + w.home,
		"repo/.claude/skills":               "-> " + filepath.Join(w.home, "private"),
		"repo/linked":                       "-> " + filepath.Join(w.home, "private"),
		"repo/tree/in2/SKILL.md":            skill("in2", "inside", "In."),
		"repo/tree/up":                      "-> ..",
		"home/.claude/skills/root":          "-> /",
		"home/.claude/skills/m/SKILL.md":    skill("mine", "of the person", "Mine."),
		"repo/opencode.json":                `{"skills": {"paths": ["linked", "tree"]}}`,
	})
	names := func() (out []string) {
		list, _ := w.instance().Skills.All()
		for _, s := range list {
			out = append(out, s.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"in", "in2", "mine"}, names()); diff != "" {
		t.Errorf("of an untrusted repository (-want +got):\n%s", diff)
	}
	w.write(map[string]string{"home/lathe/config/lathe.json": `{"skills": ["~/private"]}`, "repo/opencode.json": "{}"})
	if diff := cmp.Diff([]string{"in", "mine", "out"}, names()); diff != "" {
		t.Errorf("of the person (-want +got):\n%s", diff)
	}
}

// TestSkillFilesAreReadable holds that files of the person's skills are read
// without an ask.
func TestSkillFilesAreReadable(t *testing.T) {
	p := newPlay(t, map[string]string{
		"home/.claude/skills/mine/SKILL.md": skill("mine", "d", "Mine."),
		"home/.claude/skills/mine/notes.md": "the notes",
	}, func(req *llm.Request) say {
		if last(req) == "go" {
			return say{calls: []use{{"read", args{"filePath": "~/.claude/skills/mine/notes.md"}}}}
		}
		return say{text: "ok"}
	}).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	if tools := p.tools(id); len(tools) != 1 || !strings.Contains(tools[0], "the notes") {
		t.Errorf("calls %q", tools)
	}
	if got, err := p.command(p.session(), "mine", "now"); err != nil || !strings.HasPrefix(got, `Load the skill "mine"`) || !strings.HasSuffix(got, "now") {
		t.Errorf("a skill as a command: %q, %v", got, err)
	}
}

func TestSkillsStayFrozen(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/.claude/skills/in/SKILL.md": skill("in", "inside", "In.")},
		func(req *llm.Request) say { return say{text: "ok"} }).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "a")
	if err := os.RemoveAll(filepath.Join(p.dir, ".claude")); err != nil {
		t.Fatal(err)
	}
	p.prompt(id, session.Prompt{}, "b")
	reqs := p.asked()
	if diff := cmp.Diff(reqs[0].System, reqs[1].System); diff != "" {
		t.Errorf("the system prompt changed (-first +second):\n%s", diff)
	}
}
