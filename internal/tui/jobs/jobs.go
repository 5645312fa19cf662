// Package jobs shows a session's jobs, which are processes that keep running: a
// list of them, what each prints as it comes, and a way to type into one and to
// stop it.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	kept  = 64 << 10 // of a job's output that can be seen
	lines = 2000
	piece = 16 << 10
	// A server that goes away is looked for, or another one, for some ten seconds.
	againAfter = 200 * time.Millisecond
	mostAgain  = 50
)

// Room is where a person looks after jobs.
type Room struct {
	access *engine.Access
}

// New returns the room. The engine must support jobs.
func New(access *engine.Access) *Room { return &Room{access} }

// List shows the jobs of a session.
func (r *Room) List(session lathe.SessionID) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		all, err := r.access.Able.Jobs.Jobs(ctx, api.JobFilter{SessionID: session})
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Open{Sheet: dialog.NewList(r.list(all))}
	})
}

func (r *Room) list(all []api.Job) dialog.List {
	l := dialog.List{Title: "jobs", Hint: "enter output · ctrl+k stop · esc close", Empty: "no process lives on in this session"}
	byID := map[string]api.Job{}
	for _, j := range all {
		byID[j.ID] = j
		l.Items = append(l.Items, dialog.Item{ID: j.ID, Title: styled.OneLine(j.Command), Quoted: true, Detail: j.ID, Right: styled.OneLine(state(j))})
	}
	l.Pick = func(it dialog.Item) tea.Msg { return r.watch(byID[it.ID]) }
	l.Strokes = map[string]func(dialog.Item) tea.Msg{"ctrl+k": func(it dialog.Item) tea.Msg { return r.stop(it.ID) }}
	return l
}

// state describes a job's state and where it listens.
func state(j api.Job) string {
	out := j.State
	for _, p := range j.Ports {
		out += fmt.Sprintf(" :%d", p)
	}
	return out
}

func (r *Room) stop(id string) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		j, err := r.access.Able.Jobs.StopJob(ctx, id)
		return dialog.Done{Text: id + " " + j.State, Err: err}
	})
}

// Keep turns the command running in a session into a job.
func (r *Room) Keep(session lathe.SessionID) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		return dialog.Done{Text: "the command goes on as a job: see /jobs", Err: r.access.Able.Jobs.KeepCall(ctx, session, "")}
	})
}

// watch opens the live output of a job.
func (r *Room) watch(j api.Job) tea.Msg {
	ctx, stop := context.WithCancel(r.access.Context())
	o := &output{room: r, job: j, ctx: ctx, stop: stop}
	return dialog.All{dialog.Open{Sheet: o}, o.follow(max(0, j.Output-kept))}
}

// output is a sheet with what a job prints. If the job has a terminal, what is
// typed goes to it.
type output struct {
	room *Room
	job  api.Job
	ctx  context.Context // ends when the sheet is left
	stop context.CancelFunc
	text []byte
	at   int64  // position after it
	over string // why there is no more output
	up   int    // lines scrolled up from the end
	rows int

	waiting []api.JobInput // typed, and not sent yet
	sending bool
}

// Tall says that the output takes the whole screen.
func (o *output) Tall() bool { return true }

// follow begins to read the output from a position on.
func (o *output) follow(from int64) tea.Cmd {
	return func() tea.Msg {
		body, at, err := o.read(from)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Here(func() tea.Msg { o.at = at; return o.next(body) })
	}
}

func (o *output) read(from int64) (body io.ReadCloser, at int64, err error) {
	body, at, err = o.room.access.Able.Jobs.JobOutput(o.ctx, o.job.ID, from, true)
	if err == nil {
		context.AfterFunc(o.ctx, func() { _ = body.Close() })
	}
	return body, at, err
}

// again goes on reading after a connection broke.
func (o *output) again(from int64) tea.Cmd {
	return func() tea.Msg {
		for range mostAgain {
			select {
			case <-time.After(againAfter):
			case <-o.ctx.Done():
				return nil
			}
			body, at, err := o.read(from)
			if err == nil {
				return dialog.Here(func() tea.Msg { o.at = at; return o.next(body) })
			}
			if lathe.CodeOf(err) == lathe.CodeNotFound {
				break
			}
		}
		return dialog.Here(func() tea.Msg { o.over = "not followed any more"; return nil })
	}
}

// next waits for more output, outside the screen's own loop.
func (o *output) next(body io.ReadCloser) tea.Cmd {
	return func() tea.Msg {
		buf := make([]byte, piece)
		n, err := body.Read(buf)
		return dialog.Here(func() tea.Msg {
			o.take(buf[:n])
			if err == nil {
				return o.next(body)
			}
			_ = body.Close()
			if !errors.Is(err, io.EOF) {
				return o.again(o.at)
			}
			o.over = "ended"
			return nil
		})
	}
}

func (o *output) take(data []byte) {
	o.at += int64(len(data))
	o.text = append(o.text, data...)
	if extra := len(o.text) - kept; extra > 0 {
		o.text = append(o.text[:0], o.text[extra:]...)
	}
}

// Paste types a pasted text.
func (o *output) Paste(text string) {}

// Terminal reports whether keys are typed into the job.
func (o *output) Terminal() bool { return o.job.Terminal && o.over == "" }

// Key leaves the sheet, scrolls it, stops the job, or types into it.
func (o *output) Key(h dialog.Host, k tea.KeyPressMsg) tea.Msg {
	stroke := dialog.Stroke(k)
	switch stroke {
	case "ctrl+]":
		return o.leave()
	case "pgup":
		o.up += max(1, o.rows-1)
		return nil
	case "pgdown":
		o.up = max(0, o.up-max(1, o.rows-1))
		return nil
	}
	if o.Terminal() {
		return o.typed(k, stroke)
	}
	switch stroke {
	case "esc", "q", "enter", "ctrl+c":
		return o.leave()
	case "ctrl+k":
		return o.room.stop(o.job.ID)
	case "up":
		o.up++
	case "down":
		o.up = max(0, o.up-1)
	case "end":
		o.up = 0
	}
	return nil
}

func (o *output) leave() tea.Msg {
	o.stop()
	return dialog.Close{Sheet: o}
}

// typed sends a key to the job, after those before it.
func (o *output) typed(k tea.KeyPressMsg, stroke string) tea.Msg {
	in := api.JobInput{Data: k.Text}
	if k.Text == "" {
		name := strings.NewReplacer("ctrl+", "ctrl-", "pgup", "pageup", "pgdown", "pagedown").Replace(stroke)
		in = api.JobInput{Keys: []string{name}}
	}
	o.up = 0
	if n := len(o.waiting); n > 0 && (len(in.Keys) > 0 || len(o.waiting[n-1].Keys) == 0) { // text comes first
		o.waiting[n-1].Data += in.Data
		o.waiting[n-1].Keys = append(o.waiting[n-1].Keys, in.Keys...)
	} else {
		o.waiting = append(o.waiting, in)
	}
	if o.sending {
		return nil
	}
	return o.send()
}

// send sends what waits, one after the other: side by side, keys would come in any order.
func (o *output) send() tea.Msg {
	if o.sending = len(o.waiting) > 0; !o.sending {
		return nil
	}
	in := o.waiting[0]
	o.waiting = o.waiting[1:]
	return o.room.access.Do(func(ctx context.Context) tea.Msg {
		err := o.room.access.Able.Jobs.TypeJob(ctx, o.job.ID, in)
		return dialog.Here(func() tea.Msg {
			if err != nil {
				o.waiting, o.sending = nil, false
				return dialog.Fail(err)
			}
			return o.send()
		})
	})
}

// Draw shows the end of the output, without what could steer the terminal.
func (o *output) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	hint := "pgup/pgdown scroll · ctrl+k stop · esc close"
	if o.job.Terminal {
		hint = "keys go to the job · pgup/pgdown scroll · ctrl+] close"
	}
	title := o.job.ID + " " + styled.OneLine(o.job.Command)
	if o.over != "" {
		title = o.job.ID + " (" + l.T(o.over) + ") " + styled.OneLine(o.job.Command)
		hint = "pgup/pgdown scroll · esc close"
	}
	out := []styled.Line{l.Title(title, hint)}
	o.rows = max(1, height-1)
	body := o.body(l)
	o.up = min(o.up, max(0, len(body)-o.rows))
	end := len(body) - o.up
	for _, line := range body[max(0, end-o.rows):end] {
		out = append(out, l.Row(line, false))
	}
	return out, -1, 0
}

func (o *output) body(l look.Look) []styled.Line {
	all, _ := l.Printed(string(o.text), lines, l.FG(theme.Text))
	var out []styled.Line
	for _, line := range all {
		out = append(out, styled.Wrap(line, max(1, l.Width-4), l.Method)...)
	}
	return out
}
