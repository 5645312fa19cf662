// Package hookcmd runs hooks that are programs: each call starts one, gives it the
// hook's input as JSON, and takes what it prints as the output.
package hookcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lathe/internal/config"
	"lathe/internal/permission"
	"lathe/internal/plugin"
	"lathe/internal/plugin/jsonhook"
	"lathe/internal/shell"
)

const (
	defaultTimeout = 5 * time.Second
	maxOutput      = 32 << 20 // bytes that are taken from a program
	maxTold        = 4 << 10  // bytes of its error output that are reported
	stopGrace      = 200 * time.Millisecond
	refuses        = 2 // the exit code that refuses what the hook was called for
)

// Runner starts programs; a [shell.Runner] does.
type Runner interface {
	Open(p shell.Program) (*shell.Service, error)
}

// Place is where and how programs run.
type Place struct {
	Runner   Runner
	Dir      string   // working directory
	Env      []string // the whole environment
	Describe jsonhook.Describe
	// Guarded says which hooks reach other hosts by rule alone; nil: none.
	Guarded func(config.Hook) bool
}

// Hooks returns the hooks of a configuration, in its order.
func Hooks(list []config.Hook, p Place) []plugin.Hooks {
	out := make([]plugin.Hooks, 0, len(list))
	for _, h := range list {
		out = append(out, jsonhook.Hooks(Name(h), []string{h.Name}, p.caller(h), p.Describe))
	}
	return out
}

// Name is what people are shown as a hook's name.
func Name(h config.Hook) string { return "hook " + strings.Join(h.Command, " ") }

// request is what a program reads.
type request struct {
	Hook   string          `json:"hook"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitempty"`
}

func (p Place) caller(h config.Hook) jsonhook.Caller {
	timeout := defaultTimeout
	if h.Timeout > 0 {
		timeout = time.Duration(h.Timeout * float64(time.Second))
	}
	guarded := p.Guarded != nil && p.Guarded(h)
	return func(ctx context.Context, hook string, input, output json.RawMessage) (json.RawMessage, error) {
		if !Matches(h.Match, subject(hook, input)) {
			return nil, plugin.ErrNotMeant
		}
		text, err := json.Marshal(request{hook, input, output})
		if err != nil {
			return nil, err
		}
		done, err := p.Run(ctx, Call{Args: h.Command, Input: text, Timeout: timeout, Guarded: guarded})
		if err != nil {
			return nil, err
		}
		switch {
		case done.Code == refuses:
			return nil, &plugin.Refusal{Plugin: Name(h), Reason: done.reason()}
		case done.Code != 0:
			return nil, &plugin.NotCalled{Why: done.Failure()}
		}
		return merge(output, done.Stdout)
	}
}

// merge merges what a program printed into the output it was given, key by key. It
// may have printed nothing.
func merge(output json.RawMessage, printed []byte) (json.RawMessage, error) {
	if printed = bytes.TrimSpace(printed); len(printed) == 0 || len(output) == 0 {
		return nil, nil
	}
	var all, over map[string]json.RawMessage
	if err := json.Unmarshal(printed, &over); err != nil {
		return nil, &plugin.NotCalled{Why: fmt.Sprintf("it printed no JSON object: %v", err)}
	}
	if err := json.Unmarshal(output, &all); err != nil {
		return nil, err
	}
	for key, v := range over {
		all[key] = v
	}
	return json.Marshal(all)
}

// subject is what a hook's match is compared with: the tool, the command, or the kind
// of an event. It is empty if there is nothing to match.
func subject(hook string, input json.RawMessage) string {
	var in struct {
		Tool, ToolID, Command, Permission string
		Event                             struct{ Type string }
	}
	_ = json.Unmarshal(input, &in) // input of another shape has no subject
	switch hook {
	case jsonhook.ToolBefore, jsonhook.ToolAfter:
		return in.Tool
	case jsonhook.ToolDefinition:
		return in.ToolID
	case jsonhook.CommandBefore:
		return in.Command
	case jsonhook.PermissionAsk:
		return in.Permission
	case jsonhook.Event:
		return in.Event.Type
	}
	return ""
}

// Matches reports whether one of the patterns of a match, separated by "|", fits a
// subject: "*" stands for any run of characters. An empty match fits all.
func Matches(match, subject string) bool {
	if match == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(match, "|"), func(pattern string) bool {
		return permission.Match(strings.TrimSpace(pattern), subject)
	})
}

// Call is one run of a program.
type Call struct {
	Args    []string
	Input   []byte
	Timeout time.Duration
	Env     []string // in addition to the place's
	Guarded bool     // it reaches other hosts by rule alone
}

// Done is how a program ended.
type Done struct {
	Code           int
	Stdout, Stderr []byte
}

func (d Done) reason() string {
	if text := strings.TrimSpace(string(d.Stderr)); text != "" {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return "it gave no reason"
}

// Failure says how a program failed, for people.
func (d Done) Failure() string {
	return fmt.Sprintf("it ended with exit code %d: %s", d.Code, d.reason())
}

// Run runs a program and returns when it has ended. One that takes too long is ended
// and counts as [plugin.NotCalled], as does one that cannot be started. What a
// program leaves running is ended with it.
func (p Place) Run(ctx context.Context, c Call) (Done, error) {
	errs, kind := &head{most: maxTold}, shell.KindHook
	if c.Guarded {
		kind = shell.KindGuardedHook
	}
	svc, err := p.Runner.Open(shell.Program{
		Args: c.Args, Dir: p.Dir, Env: append(slices.Clone(p.Env), c.Env...), Kind: kind, Stderr: func(b []byte) { errs.Write(b) },
	})
	if err != nil {
		return Done{}, &plugin.NotCalled{Why: err.Error()}
	}
	defer svc.Stdout.Close()
	go func() {
		_, _ = svc.Stdin.Write(c.Input) // a program need not read it
		_ = svc.Stdin.Close()
	}()
	read := make(chan []byte, 1)
	go func() {
		out, _ := io.ReadAll(io.LimitReader(svc.Stdout, maxOutput+1))
		read <- out
	}()
	timer := time.NewTimer(c.Timeout)
	defer timer.Stop()
	select {
	case out := <-read:
		if len(out) > maxOutput {
			svc.Stop(0)
			return Done{}, &plugin.NotCalled{Why: fmt.Sprintf("it printed more than %d bytes", maxOutput)}
		}
		return p.ended(ctx, svc, out, errs, timer)
	case <-timer.C:
		svc.Stop(stopGrace)
		return Done{}, &plugin.NotCalled{Why: fmt.Sprintf("it took longer than %s and was stopped", c.Timeout)}
	case <-ctx.Done():
		svc.Stop(0)
		return Done{}, context.Cause(ctx)
	}
}

// ended waits for the end of a program that has closed its output.
func (p Place) ended(ctx context.Context, svc *shell.Service, out []byte, errs *head, timer *time.Timer) (Done, error) {
	select {
	case <-svc.Done():
	case <-timer.C:
		svc.Stop(stopGrace)
		return Done{}, &plugin.NotCalled{Why: "it did not end in time and was stopped"}
	case <-ctx.Done():
		svc.Stop(0)
		return Done{}, context.Cause(ctx)
	}
	exit, err := svc.Exit()
	if err != nil {
		return Done{}, &plugin.NotCalled{Why: err.Error()}
	}
	if exit.Signal != "" {
		return Done{}, &plugin.NotCalled{Why: "it was ended by a signal: " + exit.Signal}
	}
	return Done{exit.Code, out, errs.text}, nil
}

// head keeps the beginning of what is written to it.
type head struct {
	most int
	text []byte
}

func (h *head) Write(b []byte) {
	h.text = append(h.text, b[:min(len(b), h.most-len(h.text))]...)
}

// errNoCommand means that a hook names no program.
var errNoCommand = errors.New("the hook names no program")

// Check says what is wrong with a hook, or nil.
func Check(h config.Hook) error {
	if len(h.Command) == 0 || h.Command[0] == "" {
		return errNoCommand
	}
	if !slices.Contains(jsonhook.Names, h.Name) {
		return fmt.Errorf("there is no hook %q; there are: %s", h.Name, strings.Join(jsonhook.Names, ", "))
	}
	return nil
}
