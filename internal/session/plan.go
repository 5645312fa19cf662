package session

import (
	"context"
	_ "embed" // the plan reminder
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/prompt"
	"lathe/internal/tool"
)

//go:embed text/plan-mode.md
var planModeText string

// planFile is where a session keeps its plan.
func planFile(i *instance.Instance, sess lathe.Session) string {
	name := fmt.Sprintf("%d-%s.md", sess.Created.UnixMilli(), sess.Slug)
	if i.Root.VCS == "" {
		return filepath.Join(i.Paths.Data, "plans", name)
	}
	return filepath.Join(i.Root.TopLevel, ".lathe", "plans", name)
}

// SwitchAgent lets a session go on with another agent: it stores a user message
// for that agent, which the running turn answers next.
func (s sessions) SwitchAgent(ctx context.Context, i *instance.Instance, call *tool.Call, agent string) error {
	if _, err := i.Agents.Get(agent); err != nil {
		return err
	}
	sess, err := s.Get(ctx, call.SessionID)
	if err != nil {
		return err
	}
	text := "The user agreed to plan first. Work out a plan; change nothing yet."
	if agent != "plan" {
		text = "The user approved the plan. Carry it out now."
		if file := planFile(i, sess); isFile(file) {
			text += " It is in " + file + "."
		}
	}
	_, _, err = s.Prompt(ctx, call.SessionID, Prompt{
		Agent: agent, Model: call.Model, Parts: []lathe.PartBody{&lathe.Text{Text: text, Synthetic: true}},
	})
	return err
}

// planNotes tells a model that enters plan mode where its plan goes, and one that
// leaves plan mode where the plan is, if the plan tools are offered.
func planNotes(i *instance.Instance, sess lathe.Session, before, now string, alone bool) []string {
	if !i.Config.Flags.ExperimentalPlanMode || before == now || (before != "plan" && now != "plan") {
		return nil
	}
	file := planFile(i, sess)
	exists := isFile(file)
	if now != "plan" {
		if !exists {
			return nil
		}
		return []string{prompt.Reminder("The plan is in " + file + ". Follow it.")}
	}
	_ = os.MkdirAll(filepath.Dir(file), 0o755) // if this failed, writing the plan says why
	state := "It does not exist yet; create it."
	if exists {
		state = "It exists already; read it and bring it up to date."
	}
	ask, end := "Ask the user, with the question tool, what only they can decide.", "Call plan_exit. End your turn only with that or with a question."
	if alone {
		ask, end = "Decide what is unclear, and write down what you assumed.", "End your turn with the plan in short."
	}
	return []string{prompt.Reminder(strings.NewReplacer("{{file}}", file, "{{state}}", state, "{{ask}}", ask, "{{end}}", end).Replace(strings.TrimSpace(planModeText)))}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
