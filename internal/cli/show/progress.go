package show

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/printable"
)

// Progress reports that long tool calls are still running, and what they last
// printed, so that a person who watches `go test` for a minute need not wonder.
// It is silent while held, and may be used concurrently.
type Progress struct {
	say   func(string)
	now   func() time.Time
	width int

	mu    sync.Mutex
	calls map[lathe.PartID]*longCall
	held  bool
}

// longCall is a call that has not ended.
type longCall struct {
	name, last string
	start      time.Time
	told       int
	timer      *time.Timer
}

// NewProgress reports through o. Stop it.
func NewProgress(o *Output) *Progress {
	return &Progress{say: o.ErrLine, now: o.env.Now, width: o.width(), calls: map[lathe.PartID]*longCall{}}
}

// pause returns how long to wait before a call is reported for the nth time.
func pause(n int) time.Duration {
	switch n {
	case 0:
		return 3 * time.Second
	case 1:
		return 7 * time.Second
	case 2:
		return 20 * time.Second
	}
	return 30 * time.Second
}

// running notes the state of a running call. A task is not reported, because its own calls are.
func (p *Progress) running(id lathe.PartID, c *lathe.ToolCall, st *lathe.ToolRunning) {
	if p == nil || c.Tool == "task" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	call := p.calls[id]
	if call == nil {
		call = &longCall{name: strings.TrimSpace(c.Tool + " " + summary(st.Input)), start: st.Start}
		call.timer = time.AfterFunc(pause(0), func() { p.tell(id) })
		p.calls[id] = call
	}
	if out, ok := st.Metadata["output"].(string); ok {
		call.last = lastLine(out)
	}
}

// ended forgets a call.
func (p *Progress) ended(id lathe.PartID) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if call := p.calls[id]; call != nil {
		call.timer.Stop()
		delete(p.calls, id)
	}
}

// Hold keeps progress silent while a person is asked something.
func (p *Progress) Hold(on bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = on
}

// Stop forgets all calls.
func (p *Progress) Stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, call := range p.calls {
		call.timer.Stop()
		delete(p.calls, id)
	}
}

func (p *Progress) tell(id lathe.PartID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	call := p.calls[id]
	if call == nil {
		return
	}
	call.told++
	call.timer.Reset(pause(call.told))
	if p.held {
		return
	}
	line := fmt.Sprintf("… %s (%s)", console.OneLine(call.name, 60), p.now().Sub(call.start).Round(time.Second))
	if call.last != "" {
		line += ": " + call.last
	}
	p.say(cut(line, p.width))
}

// lastLine returns the last line of a text that says anything.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	text = text[strings.LastIndexByte(text, '\n')+1:]
	return console.OneLine(printable.Text(text, printable.Options{Return: printable.RewriteLine}), 200)
}
