package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/sandbox"
	"lathe/internal/sandbox/overlay"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// Held holds back what one command changes in the project. Who gets it closes it, which
// drops what was not applied.
type Held interface {
	// Overlays are what the command is started with. That fails with
	// [sandbox.ErrOverlay] where nothing can be held back.
	Overlays() []sandbox.Overlay
	// Changes lists what it changed, when it has ended.
	Changes() ([]overlay.Change, error)
	// Apply makes the changes, and tells what of them was taken back since it steers
	// other programs and is not allowed.
	Apply(changes []overlay.Change, by shell.Confine, allow sandbox.Grant) ([]sandbox.Refusal, error)
	Close() error
}

// quietGit keeps git from refreshing its index where it only reads.
const quietGit = "GIT_OPTIONAL_LOCKS=0"

// reviewed runs the command with what it changes held back, and asks whether to make the
// changes, if there are any. Where they cannot be held back it is asked about first.
func (e bashRun) reviewed(ctx context.Context, c shell.Command) (tool.Result, error) {
	for last := false; ; last = true {
		res, refused, err := e.heldOnce(ctx, c)
		if errors.Is(err, sandbox.ErrOverlay) {
			if err := e.askFirst(ctx, err); err != nil {
				return tool.Result{}, err
			}
			return e.run(ctx, c)
		}
		if err != nil || last {
			return res, err
		}
		more := e.again(ctx, res.Output, refused)
		if !more.ok {
			return more.tell(res), nil
		}
		c = more.allow(e, c)
	}
}

// askFirst asks for the command as a rule that asks would.
func (e bashRun) askFirst(ctx context.Context, why error) error {
	req, ok := e.commandRequest()
	if !ok {
		return nil
	}
	req.Metadata["reason"] = strings.TrimPrefix(why.Error(), "hold changes back: ") + ": it is not run before you answer"
	return ask(ctx, e.call, req)
}

// commandRequest is the request to run the command.
func (e bashRun) commandRequest() (tool.Request, bool) {
	for _, req := range e.would.Requests(e.Root) {
		if req.Permission == "bash" {
			req.Metadata["command"] = e.in.Command
			if e.in.Description != "" {
				req.Metadata["description"] = e.in.Description
			}
			e.describe(&req, e.would)
			return req, true
		}
	}
	return tool.Request{}, false
}

// heldOnce runs the command once, and tells what it was refused if it failed and changed
// nothing.
func (e bashRun) heldOnce(ctx context.Context, c shell.Command) (tool.Result, []sandbox.Refusal, error) {
	held, err := e.Hold()
	if err != nil {
		return tool.Result{}, nil, err
	}
	defer held.Close()
	c.Env = append(slices.Clone(c.Env), quietGit)
	c.Allow.Overlays = held.Overlays()
	view := viewerOf(e.Seen, e.call)
	known := view.current(e.would)
	res, refused, err := e.once(ctx, c)
	if err != nil {
		return res, nil, err
	}
	changes, err := held.Changes()
	if err != nil {
		return res, nil, failf("The command ran, but what it changed cannot be told, and was dropped: %v", err)
	}
	if len(changes) == 0 {
		return res, refused, nil
	}
	if err := e.askForChanges(ctx, res, changes); err != nil {
		return tool.Result{}, nil, err
	}
	taken, err := held.Apply(changes, c.Confine, c.Allow)
	if err != nil {
		return res, nil, failf("The command ran, but what it changed is not in the project: %v. Look at what is there now, and run it again.", err)
	}
	view.formatted(known)
	if lines := refusals(shell.Exit{Refused: taken}, nil); len(lines) > 0 {
		res.Output += "\n\n" + strings.Join(lines, "\n")
	}
	return res, nil, nil
}

// askForChanges shows what the command changed, and asks whether it may.
func (e bashRun) askForChanges(ctx context.Context, res tool.Result, changes []overlay.Change) error {
	req, ok := e.commandRequest()
	if !ok {
		req = tool.Request{Permission: "bash", Patterns: []string{e.in.Command}, Metadata: map[string]any{"command": e.in.Command}}
	}
	shown := e.show(changes)
	req.Metadata["diff"], req.Metadata["files"] = shown.diff.String(), shown.files
	req.Metadata["held"] = true
	reason := "it has run, and waits for you: nothing of this is in the project yet. " + shown.summary()
	if code, ok := res.Metadata["exit"].(int); ok && code != 0 {
		reason = fmt.Sprintf("it failed with exit code %d. %s", code, reason)
	}
	req.Metadata["reason"] = reason
	req.Doing = "this command would change " + shown.names() + ", of which nothing was kept"
	req.Instead = "leave it out"
	return ask(ctx, e.call, req)
}
