package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"

	"lathe/internal/llm"
	"lathe/internal/llm/llmtest"
)

// maxSteps is after how many steps a played model gives up.
const maxSteps = 20

type args = map[string]any

// call is a tool call as a model makes it.
type call struct {
	tool string
	args any // a string is sent as it is, valid JSON or not
}

func (c call) block(id string) llmtest.Call {
	text, raw := c.args.(string)
	if !raw {
		data, err := json.Marshal(c.args)
		if err != nil {
			panic(err) // cases hold plain values
		}
		text = string(data)
	}
	return llmtest.Call{ID: id, Name: c.tool, Args: text}
}

// model plays a language model: its case is written as if every call returned at once,
// and goes on with each request of the harness. With errs it makes the mistakes of the
// case, without it does the same work without one.
type model struct {
	errs  bool
	yield func(llmtest.Step) bool

	mu      sync.Mutex // over what follows: requests come from the harness
	req     *llmtest.Request
	next    func() (llmtest.Step, bool)
	steps   int
	calls   int
	log     []string
	ended   bool // it gave up
	through bool // its case was played to the end

	untold []string // mistakes of which a result said nothing of use
	silent []string // those of which it said nothing at all
}

// ended ends a case whose harness asks no more.
type ended struct{}

// start begins a case. The caller calls stop when the harness has ended.
func (m *model) start(play func(*model)) (stop func()) {
	next, stop := iter.Pull(func(yield func(llmtest.Step) bool) {
		defer func() {
			if r := recover(); r != nil && r != (ended{}) {
				panic(r)
			}
		}()
		m.yield = yield
		play(m)
		m.through = true
		for {
			m.step(llmtest.Text("All of it is done."))
		}
	})
	m.next = next
	return stop
}

// subtask begins the first message of a subagent, which answers at once.
const subtask = "As a subagent: "

// answer is the step that answers a request.
func (m *model) answer(req *llmtest.Request) llmtest.Step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(req.Messages) > 0 && strings.Contains(said(req.Messages[:1]), subtask) {
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("The subagent found nothing.")}}
	}
	m.req = req
	step, ok := m.next()
	if !ok || m.steps >= maxSteps {
		m.ended = true
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("I give up.")}}
	}
	m.steps++
	return step
}

// step answers with blocks and returns what the harness then says: the results of the
// calls, in order, and whatever else stands in the next request.
func (m *model) step(blocks ...llmtest.Block) (results []string, rest string) {
	return m.send(llmtest.Step{Blocks: blocks})
}

func (m *model) send(s llmtest.Step) (results []string, rest string) {
	var ids []string
	for i, b := range s.Blocks {
		if c, ok := b.(llmtest.Call); ok {
			if c.ID == "" {
				m.calls++
				c.ID = fmt.Sprintf("call_%d", m.calls)
				s.Blocks[i] = c
			}
			ids = append(ids, c.ID)
		}
		m.log = append(m.log, fmt.Sprintf("> %v", b))
	}
	if !m.yield(s) {
		panic(ended{})
	}
	results, rest = m.heard(ids)
	for _, text := range append(results, rest) {
		if text != "" {
			m.log = append(m.log, "< "+text)
		}
	}
	return results, rest
}

// heard returns the results of calls, and the rest of what is new in the request.
func (m *model) heard(ids []string) (results []string, rest string) {
	at := len(m.req.Messages)
	for at > 0 && m.req.Messages[at-1].Role != llm.RoleAssistant {
		at--
	}
	results = make([]string, len(ids))
	var words []string
	for _, msg := range m.req.Messages[at:] {
		for _, c := range msg.Content {
			switch c := c.(type) {
			case llm.ToolResult:
				for i, id := range ids {
					if c.ID == id {
						results[i] = c.Output
					}
				}
			case llm.Text:
				words = append(words, c.Text)
			}
		}
	}
	return results, strings.Join(words, "\n")
}

func said(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, c := range m.Content {
			if t, ok := c.(llm.Text); ok {
				b.WriteString(t.Text + "\n")
			}
		}
	}
	return b.String()
}

// use makes one call in a step of its own and returns its result.
func (m *model) use(c call) string {
	results, _ := m.step(c.block(""))
	return results[0]
}

// useAll makes several calls in one step.
func (m *model) useAll(calls ...call) []string {
	var blocks []llmtest.Block
	for _, c := range calls {
		blocks = append(blocks, c.block(""))
	}
	results, _ := m.step(blocks...)
	return results
}

// slip is a deliberate mistake and how a model gets over it.
type slip struct {
	wrong, right call
	done         string // pattern of a result: what was meant was done anyway
	tells        string // pattern of a result: it says what to do instead
	look         []call // what the model does when the result does not say it
}

// troubled is what any word of trouble looks like, however little it helps.
var troubled = regexp.MustCompile(`(?i)error|fail|multiple|warning|nothing|no changes|not |n't|invalid|refus|reject|denied|unknown|missing|required|must|exit code|no such|unable|could`)

// slip makes a mistake and goes on as a model does that reads what it is told. It
// returns the result of the call that did the work.
func (m *model) slip(s slip) string {
	if !m.errs {
		return m.use(s.right)
	}
	result := m.use(s.wrong)
	if m.judge(result, s.done, s.tells) {
		return result
	}
	if !matches(s.tells, result) {
		for _, c := range s.look {
			m.use(c)
		}
	}
	return m.use(s.right)
}

// judge reports whether a result did what was meant, and notes when it neither did nor
// told what to do.
func (m *model) judge(result, done, tells string) bool {
	switch {
	case done != "" && matches(done, result):
		return true
	case matches(tells, result):
	case troubled.MatchString(result):
		m.untold = append(m.untold, clip(result))
	default:
		m.silent = append(m.silent, clip(result))
	}
	return false
}

// expect notes a fault that a text has to speak of, in whatever words match.
func (m *model) expect(text, pattern string) bool {
	if matches(pattern, text) {
		return true
	}
	m.silent = append(m.silent, clip(text))
	return false
}

func matches(pattern, text string) bool {
	return pattern != "" && regexp.MustCompile(`(?is)`+pattern).MatchString(text)
}

func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
