package claude

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/plugin/hookcmd"
	"lathe/internal/tool"
)

// idleTime is how long a session waits for the person before hooks are told.
const idleTime = time.Minute

// endLimit is how long hooks may take at the end of a session.
const endLimit = 10 * time.Second

// Options say what hooks work with.
type Options struct {
	Place   hookcmd.Place
	Project string          // the directory that hooks know as CLAUDE_PROJECT_DIR
	Servers func() []string // the names of MCP servers
	// Owner returns the session that a person leads: a subagent's is that of its caller.
	Owner func(ctx context.Context, id lathe.SessionID) lathe.SessionID
	// Begun reports whether a session has messages.
	Begun func(ctx context.Context, id lathe.SessionID) bool
	// Messages yields a session's messages, newest first, for the transcripts that are
	// written into the directory Transcripts.
	Messages    func(ctx context.Context, id lathe.SessionID) Messages
	Transcripts string
	// Halt stops a session's turn; it does not wait for the end of it.
	Halt func(id lathe.SessionID)
	// Tell tells the person something.
	Tell func(text string)
	// Report gets what went wrong with hooks.
	Report func(err error)
}

func (o Options) shell(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/C", command}
	}
	return []string{"/bin/sh", "-c", command}
}

type callKey struct {
	session lathe.SessionID
	call    string
}

// mostAllowed bounds the calls that are remembered; one that is forgotten is asked about.
const mostAllowed = 1000

// Set are the hooks that a person agreed to. It is safe for concurrent use. Close it.
type Set struct {
	o   Options
	all []Settings

	mu      sync.Mutex
	met     map[lathe.SessionID]string // sessions that SessionStart was called for; or how they begin anew
	allowed map[callKey]bool           // calls that a hook allowed
	idle    map[lathe.SessionID]*time.Timer
	told    map[string]bool // files that have changed
}

// New returns the hooks of settings that the person agreed to.
func New(all []Settings, o Options) *Set {
	return &Set{o: o, all: all, met: map[lathe.SessionID]string{}, allowed: map[callKey]bool{}, idle: map[lathe.SessionID]*time.Timer{}, told: map[string]bool{}}
}

// still reports whether what a repository brings is what the person agreed to.
func (s *Settings) still() bool { return s.Base == "" || Read(s.File).Digest == s.Digest }

// changed tells once that hooks do not run any more.
func (s *Set) changed(one *Settings) {
	s.mu.Lock()
	known := s.told[one.Path]
	s.told[one.Path] = true
	s.mu.Unlock()
	if !known {
		s.o.Tell("the hooks in " + one.Path + ", or a file that they name, have changed and do not run; look at them with: lathe plugin hooks")
	}
}

// uses reports whether there are hooks for one of the events.
func (s *Set) uses(events ...string) bool {
	for _, one := range s.all {
		for _, h := range one.Hooks {
			for _, event := range events {
				if h.Event == event {
					return true
				}
			}
		}
	}
	return false
}

// Hooks returns what the hooks take part in.
func (s *Set) Hooks() plugin.Hooks {
	h := plugin.Hooks{Name: Name}
	for _, one := range []struct {
		needed bool
		set    func()
	}{
		{s.uses(UserPromptSubmit, SessionStart, SessionEnd), func() { h.ChatMessage = s.prompt }},
		{s.uses(PreToolUse), func() { h.ToolBefore, h.PermissionAsk = s.before, s.ask }},
		{s.uses(PostToolUse), func() { h.ToolAfter = s.after }},
		{s.uses(Stop, SubagentStop), func() { h.Stop = s.ending }},
		{s.uses(PreCompact, SessionStart), func() { h.Compacting = s.compacting }},
		{s.uses(Notification, SessionEnd), func() { h.Event = s.event }},
	} {
		if one.needed {
			one.set()
		}
	}
	return h
}

// prompt calls the hooks for a prompt of the person's, and for the session's start before.
func (s *Set) prompt(ctx context.Context, in plugin.ChatMessageInput, out *plugin.ChatMessage) error {
	if s.o.Owner(ctx, in.SessionID) != in.SessionID {
		return nil // a subagent is asked by its caller
	}
	var texts []string
	for _, p := range out.Parts {
		if t, ok := p.(*lathe.Text); ok && !t.Synthetic {
			texts = append(texts, t.Text)
		}
	}
	more, failed := s.starting(ctx, in.SessionID)
	v, err := s.fire(ctx, UserPromptSubmit, "", in.SessionID, map[string]any{"prompt": strings.Join(texts, "\n\n"), "permission_mode": mode(in.Agent)})
	if v.blocked || v.halt != "" {
		if v.halt != "" {
			v.reasons = append(v.reasons, v.halt)
		}
		return &plugin.Refusal{Plugin: Name, Reason: v.reason()}
	}
	for _, text := range append(more, v.context...) {
		out.Parts = append(out.Parts, &lathe.Text{Text: text, Synthetic: true})
	}
	s.report(errors.Join(failed, err)) // what the others added counts
	return nil
}

func (s *Set) report(err error) {
	if err != nil {
		s.o.Report(err)
	}
}

// starting calls the hooks for a session that this process has not met, or whose history
// was compacted.
func (s *Set) starting(ctx context.Context, id lathe.SessionID) ([]string, error) {
	s.mu.Lock()
	source, met := s.met[id]
	s.met[id] = ""
	s.mu.Unlock()
	if met && source == "" {
		return nil, nil
	}
	if !met {
		source = "startup"
		if s.o.Begun(ctx, id) {
			source = "resume"
		}
	}
	v, err := s.fire(ctx, SessionStart, source, id, map[string]any{"source": source})
	return v.context, err
}

func mode(agent string) string {
	if agent == "plan" {
		return "plan"
	}
	return "default"
}

// before calls the hooks for a call that is about to be made.
func (s *Set) before(ctx context.Context, in plugin.ToolInput, args *json.RawMessage) error {
	allow, called := true, false
	var doubts []string
	for _, c := range s.calls(in.Tool, *args) {
		v, err := s.fire(ctx, PreToolUse, c.Name, in.SessionID, map[string]any{
			"tool_name": c.Name, "tool_input": c.Input, "tool_use_id": in.CallID, "permission_mode": "default",
		})
		if err != nil {
			return err
		}
		called = called || v.called
		switch {
		case v.halt != "":
			return &plugin.Refusal{Plugin: Name, Reason: v.halt}
		case v.decision == "deny":
			return &plugin.Refusal{Plugin: Name, Reason: v.reason()}
		case v.decision == "ask":
			doubts = append(doubts, v.reason())
		}
		allow = allow && v.decision == "allow"
		if v.updated != nil && c.back {
			if *args, err = unmapped(in.Tool, v.updated); err != nil {
				return err
			}
		}
	}
	s.allow(callKey{in.SessionID, in.CallID}, allow || len(doubts) > 0) // the person is asked once
	if len(doubts) > 0 {
		return &plugin.Doubt{Plugin: Name, Reason: strings.Join(doubts, "\n")}
	}
	return meant(called)
}

// meant is what a hook returns that had nothing to say.
func meant(called bool) error {
	if called {
		return nil
	}
	return plugin.ErrNotMeant
}

// allow notes whether a call needs no other permission. What was said of an earlier call
// of the same name is forgotten.
func (s *Set) allow(key callKey, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.allowed, key)
	if !yes {
		return
	}
	if len(s.allowed) >= mostAllowed {
		clear(s.allowed)
	}
	s.allowed[key] = true
}

// ask allows what the hooks allowed.
func (s *Set) ask(_ context.Context, ask lathe.Ask, out *lathe.Action) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ask.Tool != nil && ask.Permission != plugin.DoubtPermission && s.allowed[callKey{ask.SessionID, ask.Tool.CallID}] {
		*out = lathe.Allow
		return nil
	}
	return plugin.ErrNotMeant
}

// after calls the hooks for a call that was carried out.
func (s *Set) after(ctx context.Context, in plugin.ToolInput, out *tool.Result) error {
	if out.Failed {
		return plugin.ErrNotMeant
	}
	called := false
	for _, c := range s.calls(in.Tool, in.Args) {
		v, err := s.fire(ctx, PostToolUse, c.Name, in.SessionID, map[string]any{
			"tool_name": c.Name, "tool_input": c.Input, "tool_response": response(c, *out), "tool_use_id": in.CallID, "permission_mode": "default",
		})
		s.report(err)
		called = called || v.called
		more := v.context
		if v.blocked {
			more = append(more, v.reason())
		}
		for _, text := range more {
			out.Output = strings.TrimRight(out.Output, "\n") + "\n\n<hook>\n" + text + "\n</hook>"
		}
	}
	return meant(called)
}

// ending calls the hooks for a turn that is about to end.
func (s *Set) ending(ctx context.Context, in plugin.StopInput, out *string) error {
	event := Stop
	if in.Subagent {
		event = SubagentStop
	}
	v, err := s.fire(ctx, event, in.Agent, in.SessionID, map[string]any{"stop_hook_active": in.Continued, "permission_mode": mode(in.Agent), "agent_type": in.Agent})
	if v.blocked && v.halt == "" {
		*out = v.reason()
		return nil
	}
	return err
}

// compacting calls the hooks for a compaction. What comes after it begins anew.
func (s *Set) compacting(ctx context.Context, in plugin.CompactingInput, _ *plugin.Compacting) error {
	s.mu.Lock()
	s.met[in.SessionID] = "compact"
	s.mu.Unlock()
	trigger := "manual"
	if in.Auto {
		trigger = "auto"
	}
	v, err := s.fire(ctx, PreCompact, trigger, in.SessionID, map[string]any{"trigger": trigger, "custom_instructions": ""})
	if v.blocked {
		s.o.Tell(Name + ": " + v.reason())
	}
	return err
}

// stop ends a session's turn because a hook wants it.
func (s *Set) stop(id lathe.SessionID, why string) {
	s.o.Tell(Name + ": stopped: " + why)
	s.o.Halt(id)
}
