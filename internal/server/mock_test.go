package server

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"lathe/internal/llm"
	"lathe/internal/llm/script"
)

// mock is the model that OpenCode was observed with: the user says what it does,
// line by line.
//
//	CALL tool {…}, AND tool {…}    a step with these calls; each CALL is a step
//	THINK, PRE, SAY words          reasoning and words before the first step, the final answer
//	FINISH reason, USAGE in out    of the final answer, of every answer
//	STATUS code n [body]           fail the first n requests
//	SSEERR, DROP                   fail inside the stream; the second time it goes well
//	SLOW n ms                      stop in the middle until release is closed
//	FOREVER                        never give the final answer
type mock struct {
	release chan struct{}

	mu     sync.Mutex
	failed map[string]int // requests that failed, by what was said
}

func newMock() *mock { return &mock{release: make(chan struct{}), failed: map[string]int{}} }

// Stream answers a request as its newest user message says.
func (m *mock) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	text, slow := "text unused\n", false // a title is not told what to be
	if len(req.Tools) > 0 {
		text, slow = m.script(lastSaid(req))
	}
	release := m.release
	return func(yield func(llm.Event, error) bool) {
		if slow && !wait(ctx, release, yield) {
			return
		}
		for ev, err := range script.New(func() ([]byte, error) { return []byte("times 9999\n" + text), nil }).Stream(ctx, req) {
			if !yield(ev, err) {
				return
			}
		}
	}
}

// wait begins an answer and goes on with release.
func wait(ctx context.Context, release chan struct{}, yield func(llm.Event, error) bool) bool {
	for _, ev := range []llm.Event{llm.TextStart{ID: "slow"}, llm.TextDelta{ID: "slow", Text: "chunk "}} {
		if !yield(ev, nil) {
			return false
		}
	}
	select {
	case <-release:
		return yield(llm.TextEnd{ID: "slow"}, nil)
	case <-ctx.Done():
		yield(nil, context.Cause(ctx))
		return false
	}
}

// lastSaid returns the newest user message and how many answers followed it.
func lastSaid(req *llm.Request) (said string, steps int) {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		msg := req.Messages[i]
		if msg.Role == llm.RoleAssistant {
			steps++
			continue
		}
		words := ""
		for _, c := range msg.Content {
			if t, ok := c.(llm.Text); ok {
				words += t.Text + "\n"
			}
		}
		if words != "" {
			return words, steps
		}
	}
	return "", steps
}

// script returns the step in the text form of scripts.
func (m *mock) script(said string, steps int) (text string, slow bool) {
	var out, pre strings.Builder
	var calls []string
	final, forever := "Hello from the mock model.", false
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "CALL":
			calls = append(calls, "tool "+rest+"\n")
		case "AND":
			calls[len(calls)-1] += "tool " + rest + "\n"
		case "THINK":
			fmt.Fprintf(&pre, "reasoning %s\n", rest)
		case "PRE":
			fmt.Fprintf(&pre, "text %s\n", rest)
		case "SAY":
			final = rest
		case "FINISH":
			fmt.Fprintf(&out, "finish %s\n", rest)
		case "USAGE":
			in, o, _ := strings.Cut(rest, " ")
			fmt.Fprintf(&out, "usage in=%s out=%s\n", in, o)
		case "FOREVER":
			forever = true
		case "SLOW":
			slow = true
		case "STATUS":
			if step, ok := m.status(said, rest); ok {
				return step, false
			}
		case "SSEERR":
			return "error the provider had an error\n", false
		case "DROP":
			if m.count(said) <= 1 {
				return "drop 0\n", false
			}
		}
	}
	if len(calls) == 0 && strings.Contains(strings.ToLower(said), "summar") {
		final = mockSummary
	}
	if forever {
		steps = 0
	}
	if steps == 0 {
		out.WriteString(pre.String())
	}
	if steps < len(calls) {
		return out.String() + calls[steps], slow
	}
	return out.String() + "text " + final + "\n", slow
}

// mockSummary is long enough for what it stands for.
const mockSummary = "## Goal\ntext The user tried what the mock model does when it is told to, tool by tool, and looked at the answers.\n" +
	"text ## Done\ntext Commands ran, files were written and read, and nothing is left to do; the next message says what comes."

func (m *mock) count(said string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed[said]++
	return m.failed[said]
}

// status returns a step that fails, while there are failures left. Repetitions of
// the few come at once.
func (m *mock) status(said, rest string) (string, bool) {
	code, rest, _ := strings.Cut(rest, " ")
	times, body, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(times)
	if err != nil || m.count(said) > n {
		return "", false
	}
	var e struct {
		Error struct{ Message, Code string }
	}
	message := "mock error " + code
	if json.Unmarshal([]byte(body), &e) == nil && e.Error.Message != "" {
		message = e.Error.Message
	}
	wait := "1"
	if n > 9 {
		wait = "60000"
	}
	return fmt.Sprintf("status %s retry-after-ms=%s %s\n", code, wait, message), true
}
