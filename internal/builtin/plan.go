package builtin

import (
	"context"
	_ "embed" // the descriptions

	"lathe"
	"lathe/internal/tool"
)

//go:embed plan_exit.md
var planExitText string

//go:embed plan_enter.md
var planEnterText string

// planTool makes plan_exit or plan_enter.
func (e sessionTools) planTool(name string) tool.Tool {
	text, agent := planExitText, "build"
	question := "The plan is ready. Switch to the build agent and start to carry it out?"
	if name == "plan_enter" {
		text, agent = planEnterText, "plan"
		question = "Switch to the plan agent, to work out a plan before anything is changed?"
	}
	s := spec(name, text, `{"type":"object","properties":{},"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, func(ctx context.Context, call *tool.Call, _ struct{}) (tool.Result, error) {
		return e.plan(ctx, call, agent, question)
	})
}

// plan asks the user and switches the agent. A no counts as a dismissed question:
// the turn stops, so that the user can say what is missing.
func (e sessionTools) plan(ctx context.Context, call *tool.Call, agent, question string) (tool.Result, error) {
	answers, err := e.Ask(ctx, call, []lathe.Question{{
		Text: question, Header: "Switch agent",
		Options: []lathe.QuestionOption{
			{Label: "Yes", Description: "Go on with the " + agent + " agent"},
			{Label: "No", Description: "Stay with the present agent"},
		},
	}})
	if err != nil {
		return tool.Result{}, &refused{err}
	}
	if len(answers) != 1 || len(answers[0]) != 1 || answers[0][0] != "Yes" {
		return tool.Result{}, &refused{&Dismissed{}}
	}
	if err := e.SwitchAgent(ctx, call, agent); err != nil {
		return tool.Result{}, failf("The agent could not be switched: %v", err)
	}
	return tool.Result{
		Title:    "Switching to " + agent + " agent",
		Output:   "The user agreed. The " + agent + " agent takes over from here.",
		Metadata: map[string]any{},
	}, nil
}
