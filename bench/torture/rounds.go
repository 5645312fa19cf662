package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	usersAtOnce = 3
	sessionAge  = 15 // rounds that a session lasts; a long one costs more to compare
)

// people makes the users and gives each the round's chance.
func (r *rig) people() error {
	for n := len(r.users); n < usersAtOnce; n++ {
		dir, err := r.project(fmt.Sprintf("project%d", n))
		if err != nil {
			return err
		}
		r.users = append(r.users, &user{r: r, n: n, dir: dir})
	}
	for _, u := range r.users {
		u.random = rand.New(rand.NewPCG(r.seed, uint64(u.n+1)))
		if u.session == "" || u.age > sessionAge {
			if err := u.create(r.ctx); err != nil {
				return err
			}
		}
		u.age++
	}
	return nil
}

// verify compares what was told with what is stored, on a server that has just
// started.
func (r *rig) verify() {
	for _, u := range r.users {
		if u.session == "" {
			continue
		}
		list, status := u.messages(r.ctx, u.session)
		if status != 200 {
			r.wrong("unreadable", "the messages of %s answer %d", u.session, status)
			continue
		}
		r.compare(u.session, list, true)
		u.unrevert(r.ctx)
	}
	r.leftovers()
}

// killRound lets users work, kills the server, and compares.
func killRound(r *rig) error {
	if r.srv == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	if err := r.people(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	moment := r.moment()
	var wg sync.WaitGroup
	for _, u := range r.users {
		wg.Go(func() { u.work(ctx) })
	}
	select {
	case <-moment:
	case <-time.After(patience):
	case <-r.ctx.Done():
	}
	r.kill()
	cancel()
	wg.Wait()
	r.count("kills", 1)
	if err := r.start(); err != nil {
		return err
	}
	r.verify()
	u := r.users[r.random.IntN(len(r.users))]
	p := u.newPlan(1)
	if status, m := u.ask(r.ctx, p); status != 200 || m.Info.Error != nil {
		r.wrong("not resumed", "a prompt after the kill answers %d, error %v", status, m.Info.Error)
	}
	if r.done%25 == 0 {
		r.healthy()
	}
	return nil
}

// moment is when a round's server is killed: at some time, or at an event.
func (r *rig) moment() <-chan struct{} {
	events := []string{`"status":"running"`, `"status":"completed"`, `"type":"step-finish"`, `"type":"step-start"`, `"type":"patch"`,
		`"session.compacted"`, `"message.updated"`, `"revert":{`, `"session.idle"`, `"type":"text"`}
	if r.random.IntN(2) == 0 {
		text, n := events[r.random.IntN(len(events))], 1+r.random.IntN(6)
		first := r.told.on(text, n)
		after := time.Duration(r.random.IntN(2000)) * time.Millisecond
		at := make(chan struct{})
		go func() { // not every event comes
			select {
			case <-first:
			case <-time.After(after):
			}
			close(at)
		}()
		return at
	}
	at := make(chan struct{})
	time.AfterFunc(time.Duration(r.random.IntN(700))*time.Millisecond, func() { close(at) })
	return at
}

// work does what users do until the server is gone.
func (u *user) work(ctx context.Context) {
	for ctx.Err() == nil {
		switch k := u.random.IntN(20); {
		case k < 8:
			status, _ := u.ask(ctx, u.newPlan(u.random.IntN(4)))
			if status == 0 {
				return
			}
		case k < 12:
			u.later(ctx, u.newPlan(u.random.IntN(4)))
			u.later(ctx, u.newPlan(1))
		case k < 13:
			u.do(ctx, "POST", "/session/"+u.session+"/abort", map[string]any{})
		case k < 14:
			u.summarize(ctx)
		case k < 15:
			u.fork(ctx)
		default:
			// What changes files must be over, or the trees tell nothing.
			if status, _ := u.ask(ctx, u.newPlan(1+u.random.IntN(2))); status != 200 {
				continue
			}
			u.revert(ctx)
			if u.before != nil {
				return // it was cut off: the next server goes on with it
			}
		}
	}
}

// raceRound lets requests to one session meet, without a kill. Afterwards every
// prompt that was acknowledged has an answer.
func raceRound(r *rig) error {
	if r.srv == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	if err := r.people(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, u := range r.users {
		wg.Go(func() {
			for range 10 {
				u.race(r.ctx)
			}
		})
	}
	wg.Wait()
	r.verify()
	return nil
}

// race lets some requests meet, and waits until the session is idle.
func (u *user) race(ctx context.Context) {
	slow := u.newPlan(1)
	slow.Steps[0].Text, slow.Steps[0].Slow = wordsOf(slow.Tag, 300), 4
	fails := u.newPlan(1)
	fails.Steps[0] = step{Status: []int{400, 413, 422}[u.random.IntN(3)], Text: "prompt is too long: no"}
	post := func(what string) func() {
		return func() {
			if status, body := u.do(ctx, "POST", "/session/"+u.session+"/"+what, map[string]any{}); status >= 300 {
				u.r.wrong("race", "%s answers %d %s", what, status, body)
			}
		}
	}
	send := func(p plan) func() {
		return func() {
			if u.later(ctx, p) {
				u.notIdle(ctx, p.Tag)
			}
		}
	}
	quick := func() func() { return send(u.newPlan(u.random.IntN(2))) }
	kinds := [][]func(){
		{send(slow), post("abort"), quick()},
		{send(fails), quick(), quick()},
		{send(slow), func() { u.fork(ctx) }, quick()},
		{quick(), func() { u.summarize(ctx) }, quick()},
		{send(slow), quick(), post("abort"), quick()},
		{func() { u.summarize(ctx) }, post("abort"), quick()},
		{func() { u.ask(ctx, u.newPlan(1)) }, func() { u.summarize(ctx) }, quick()},
	}
	var wg sync.WaitGroup
	for _, f := range kinds[u.random.IntN(len(kinds))] {
		wg.Go(f)
		time.Sleep(time.Duration(u.random.IntN(25)) * time.Millisecond)
	}
	wg.Wait()
	u.r.count("races", 1)
	u.idle(ctx)
	left := u.unanswered(ctx)
	for range 5 { // the last may only just have begun
		if len(left) == 0 {
			break
		}
		pause(ctx, time.Second)
		u.idle(ctx)
		left = u.unanswered(ctx)
	}
	for _, tag := range left {
		u.r.wrong("unanswered", "prompt %d of %s was acknowledged, the session is idle, and nothing answers it", tag, u.session)
	}
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if status, _ := u.ask(limit, u.newPlan(0)); status != 200 {
		u.r.wrong("stuck", "a prompt after the race answers %d", status)
	}
}

// notIdle looks whether a session is said to be idle while a prompt that was just
// acknowledged waits for its answer.
func (u *user) notIdle(ctx context.Context, tag int) {
	status, body := u.do(ctx, "GET", "/session/status", nil)
	if status != 200 || strings.Contains(string(body), u.session) || !slices.Contains(u.unanswered(ctx), tag) {
		return
	}
	u.r.wrong("status", "session %s is said to be idle and prompt %d, acknowledged before, is not answered", u.session, tag)
}

// idle waits until nothing runs in the session.
func (u *user) idle(ctx context.Context) {
	for end := time.Now().Add(patience); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
		status, body := u.do(ctx, "GET", "/session/status", nil)
		if status == 200 && !strings.Contains(string(body), u.session) {
			return
		}
	}
	u.r.wrong("stuck", "session %s stays busy", u.session)
}

// unanswered returns the acknowledged prompts after which no answer comes.
func (u *user) unanswered(ctx context.Context) (tags []int) {
	list, status := u.messages(ctx, u.session)
	if status != 200 {
		u.r.wrong("unreadable", "the messages of %s answer %d", u.session, status)
		return nil
	}
	answered := false
	for _, m := range slices.Backward(list) {
		if m.Info.Role == "assistant" {
			answered = answered || m.Info.Time.Completed > 0
			continue
		}
		for _, p := range m.Parts {
			if tag := tagOf(p.Text); tag > 0 && !answered && u.r.told.acked(tag) {
				tags = append(tags, tag)
			}
		}
	}
	return tags
}

func (t *told) acked(tag int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.prompts[tag] != ""
}
