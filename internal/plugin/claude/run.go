package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/plugin/hookcmd"
)

// Name is what a person is told of these hooks.
const Name = "Claude Code's hooks"

const maxContext = 32 << 10 // bytes of what one hook adds to a conversation

// answer is what a hook says as JSON.
type answer struct {
	Continue      *bool
	StopReason    string
	SystemMessage string
	Decision      string // "approve" or "block"
	Reason        string
	Specific      struct {
		Decision string         `json:"permissionDecision"` // "allow", "deny" or "ask"
		Reason   string         `json:"permissionDecisionReason"`
		Updated  map[string]any `json:"updatedInput"`
		Context  string         `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// verdict is what the hooks for one event say together.
type verdict struct {
	decision string // of a call: "deny" before "ask" before "allow"
	blocked  bool   // what it was called for is not wanted
	reasons  []string
	context  []string
	updated  map[string]any
	halt     string // the session is to stop, and why
	called   bool   // a hook was meant
}

func (v *verdict) reason() string {
	if len(v.reasons) == 0 {
		return "it gave no reason"
	}
	return strings.Join(v.reasons, "\n")
}

// rank orders decisions about a call.
var rank = []string{"", "allow", "ask", "deny"}

func (v *verdict) decide(decision, reason string) {
	if slices.Index(rank, decision) > slices.Index(rank, v.decision) {
		v.decision = decision
	}
	if reason != "" && decision != "allow" {
		v.reasons = append(v.reasons, reason)
	}
}

// fire calls the hooks for an event, all at once, and says what they decided. The error is
// that of hooks that failed, which decide nothing.
func (s *Set) fire(ctx context.Context, event, subject string, id lathe.SessionID, input map[string]any) (verdict, error) {
	var v verdict
	list := s.fitting(event, subject)
	if len(list) == 0 {
		return v, nil
	}
	v.called = true
	input["session_id"], input["cwd"], input["hook_event_name"] = id, s.o.Place.Dir, event
	input["transcript_path"] = s.transcript(ctx, event, id)
	text, err := json.Marshal(input)
	if err != nil {
		return v, err
	}
	done, errs := make([]hookcmd.Done, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, h := range list {
		wg.Go(func() { done[i], errs[i] = s.run(ctx, h, text) })
	}
	wg.Wait()
	for i, h := range list {
		if errs[i] == nil {
			errs[i] = s.take(&v, event, done[i])
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", short(h.Command), errs[i])
		}
	}
	if v.halt != "" {
		s.stop(id, v.halt)
	}
	return v, notCalled(errors.Join(errs...))
}

// notCalled makes a failure one that stops nothing.
func notCalled(err error) error {
	if err == nil {
		return nil
	}
	return &plugin.NotCalled{Why: err.Error()}
}

func short(command string) string {
	line, _, _ := strings.Cut(command, "\n")
	if r := []rune(line); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return line
}

// fitting returns the hooks for an event, each command once.
func (s *Set) fitting(event, subject string) (out []Hook) {
	for i := range s.all {
		one := &s.all[i]
		if !one.still() {
			s.changed(one)
			continue
		}
		for _, h := range one.Hooks {
			if h.Event != event || !h.fits(subject) {
				continue
			}
			if !slices.ContainsFunc(out, func(o Hook) bool { return o.Command == h.Command }) {
				out = append(out, h)
			}
		}
	}
	return out
}

func (s *Set) run(ctx context.Context, h Hook, input []byte) (hookcmd.Done, error) {
	return s.o.Place.Run(ctx, hookcmd.Call{
		Args: s.o.shell(h.Command), Input: input, Timeout: h.Timeout, Env: []string{"CLAUDE_PROJECT_DIR=" + s.o.Project}, Guarded: !h.own,
	})
}

// take adds what one hook said.
func (s *Set) take(v *verdict, event string, d hookcmd.Done) error {
	const blocks = 2
	switch d.Code {
	case 0:
	case blocks:
		v.blocked = true
		v.decide("deny", strings.TrimSpace(strings.ToValidUTF8(string(d.Stderr), "\uFFFD")))
		return nil
	default:
		return errors.New(d.Failure())
	}
	text := bytes.TrimSpace(d.Stdout)
	var a answer
	if len(text) == 0 || text[0] != '{' || json.Unmarshal(text, &a) != nil {
		if event == UserPromptSubmit || event == SessionStart {
			v.add(string(text))
		}
		return nil
	}
	if a.SystemMessage != "" {
		s.o.Tell(a.SystemMessage)
	}
	v.add(a.Specific.Context)
	if a.Specific.Updated != nil {
		v.updated = a.Specific.Updated
	}
	switch a.Decision {
	case "block":
		v.blocked = true
		v.decide("deny", a.Reason)
	case "approve":
		v.decide("allow", "")
	}
	if slices.Contains(rank[1:], a.Specific.Decision) {
		v.decide(a.Specific.Decision, a.Specific.Reason)
	}
	if a.Continue != nil && !*a.Continue {
		v.halt = "a hook stopped it"
		if a.StopReason != "" {
			v.halt = a.StopReason
		}
	}
	return nil
}

func (v *verdict) add(text string) {
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")); text != "" {
		v.context = append(v.context, strings.ToValidUTF8(text[:min(len(text), maxContext)], ""))
	}
}
