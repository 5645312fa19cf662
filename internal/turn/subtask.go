package turn

import (
	"context"
	"encoding/json"

	"lathe"
	"lathe/internal/prompt"
	"lathe/internal/tool"
)

// taskTool is the tool that runs subtasks.
const taskTool = "task"

// pendingSubtasks returns the subtasks that have no answer yet, and the user message that holds the
// first of them.
func (t *Turn) pendingSubtasks() (*lathe.Message, []*lathe.Subtask) {
	var user *lathe.Message
	var tasks []*lathe.Subtask
	for i := len(t.History) - 1; i >= 0; i-- {
		m := &t.History[i]
		if _, ok := m.Info.(*lathe.User); !ok {
			break
		}
		var own []*lathe.Subtask
		for _, p := range m.Parts {
			if task, ok := p.Body.(*lathe.Subtask); ok {
				own = append(own, task)
			}
		}
		if own != nil {
			user, tasks = m, append(own, tasks...)
		}
	}
	return user, tasks
}

// subtasks runs the subagents that the user asked for, all at once, in an assistant message of its
// own; no model is asked. Then the loop goes on, so that the model sees the results.
func (t *Turn) subtasks(ctx context.Context, user *lathe.Message, tasks []*lathe.Subtask) (stepResult, error) {
	c, failure := t.castFor(ctx, user)
	if failure != nil {
		return t.failEarly(ctx, user, failure)
	}
	c.agent.Name = tasks[0].Agent              // which is how the message is shown
	s := &step{draft: draft{Turn: t, cast: c}} // it makes no request, so it does not count as a step
	if err := s.begin(ctx); err != nil {
		return stepResult{}, err
	}
	for _, task := range tasks {
		if err := s.startSubtask(ctx, task); err != nil {
			return stepResult{}, err
		}
	}
	s.wg.Wait()
	s.finish = lathe.FinishToolCalls
	res, err := s.end(ctx, nil)
	if err != nil || res.stop {
		return res, err
	}
	return res, t.askToGoOn(ctx, user, tasks)
}

// startSubtask records a call of the task tool and runs it.
func (s *step) startSubtask(ctx context.Context, task *lathe.Subtask) error {
	args := map[string]any{"description": task.Description, "prompt": task.Prompt, "subagent_type": task.Agent}
	if task.Command != "" {
		args["command"] = task.Command
	}
	input, err := json.Marshal(args)
	if err != nil { // strings always encode
		panic(err)
	}
	r := &running{s: s, callID: s.IDs.New(lathe.PrefixCall), name: taskTool, tool: s.Task, input: input, started: s.Now(), done: make(chan struct{})}
	s.mu.Lock()
	r.part = s.fold.add(&lathe.ToolCall{CallID: r.callID, Tool: taskTool, State: &lathe.ToolRunning{Input: input, Start: r.started}})
	s.calls = append(s.calls, r)
	s.mu.Unlock()
	if err := s.record(ctx, r.part); err != nil {
		close(r.done)
		return err
	}
	model := s.modelRef()
	if !task.Model.IsZero() {
		model = task.Model
	}
	s.wg.Go(func() {
		defer close(r.done)
		res, err := r.runSubtask(ctx, model)
		if res.Failed {
			res.Output = "Tool execution failed: " + res.Output
		}
		r.settleLate(ctx, res, err)
	})
	return nil
}

func (r *running) runSubtask(ctx context.Context, model lathe.ModelRef) (res tool.Result, err error) {
	defer r.survive(&res, &err)
	if r.tool == nil {
		return tool.Failf("no subagents can be run here"), nil
	}
	return r.tool.Run(ctx, &tool.Call{
		SessionID: r.s.Session.ID, MessageID: r.s.msg.ID, CallID: r.callID,
		Agent: r.s.user.Info.(*lathe.User).Agent, Model: model, Input: r.input, Messages: r.s.History, UserAsked: true, Direct: true,
		Ask:      func(context.Context, tool.Request) error { return nil },
		Progress: r.progress,
	})
}

// askToGoOn adds a user message after a command's subtask, because a command leaves nothing else to
// answer.
func (t *Turn) askToGoOn(ctx context.Context, user *lathe.Message, tasks []*lathe.Subtask) error {
	command := false
	for _, task := range tasks {
		command = command || task.Command != ""
	}
	if !command {
		return nil
	}
	info := *user.Info.(*lathe.User)
	info.Summary, info.Steers = nil, false
	now := t.Now()
	m := lathe.Message{ID: t.IDs.Message(), SessionID: t.Session.ID, Created: now, Info: &info}
	p := lathe.Part{ID: t.IDs.Part(), MessageID: m.ID, SessionID: m.SessionID,
		Body: &lathe.Text{Text: prompt.AfterSubtask(), Synthetic: true, Time: lathe.Span{Start: now, End: now}}}
	save, done := Saving(ctx)
	defer done()
	if err := t.Log.Commit(save, Change{Message: &m}, Change{Part: &p}); err != nil {
		return err
	}
	m.Parts = []lathe.Part{p}
	t.History = append(t.History, m)
	return nil
}
