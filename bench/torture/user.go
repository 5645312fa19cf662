package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// user is a client that works in a project of its own.
type user struct {
	r       *rig
	n       int
	dir     string
	session string
	random  *rand.Rand
	age     int // rounds of the session

	before   map[string]string // the tree before a revert that may be under way; nil: none is
	reverted map[string]string // the tree that the revert leads to
	trees    map[string]tree   // before each prompt that was sent while idle, by message
}

type tree = map[string]string

var tags atomic.Int64

const (
	maxAnswer  = 8 << 20   // what the answer to a prompt may have: more is a flood
	maxHistory = 512 << 20 // what a session's messages may have
)

// do makes a request. A status of 0 means that there was no whole answer.
func (u *user) do(ctx context.Context, method, path string, in any) (status int, body []byte) {
	status, _, body = u.fetch(ctx, method, path, in)
	return status, body
}

// fetch is do with the header of the answer.
func (u *user) fetch(ctx context.Context, method, path string, in any) (status int, header http.Header, body []byte) {
	var data io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			panic(err)
		}
		data = bytes.NewReader(b)
	}
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	req, err := http.NewRequestWithContext(ctx, method, u.r.srv.url+path+sep+"directory="+url.QueryEscape(u.dir), data)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil
	}
	defer res.Body.Close()
	limit := maxAnswer
	if method == http.MethodGet {
		limit = maxHistory
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, int64(limit)+1))
	switch {
	case len(body) > limit:
		u.r.wrong("flood", "%s %s answers with more than %d bytes, that begin with %.60q", method, path, limit, body)
		return res.StatusCode, nil, nil
	case err != nil:
		return 0, nil, nil
	}
	return res.StatusCode, res.Header, body
}

func (u *user) create(ctx context.Context) error {
	status, body := u.do(ctx, "POST", "/session", map[string]any{"title": "torture"})
	var s struct{ ID string }
	if err := json.Unmarshal(body, &s); err != nil || status != 200 {
		return fmt.Errorf("create a session: %d %s", status, body)
	}
	u.session, u.age, u.before, u.trees = s.ID, 0, nil, map[string]tree{}
	return nil
}

// newPlan makes work: calls that change files, and words.
func (u *user) newPlan(steps int) plan {
	p := plan{Tag: int(tags.Add(1))}
	file := func() string { return filepath.Join(u.dir, fmt.Sprintf("f%d.txt", u.random.IntN(6))) }
	args := func(v any) string { data, _ := json.Marshal(v); return string(data) }
	for range steps {
		s := step{Slow: u.random.IntN(3)}
		if u.random.IntN(2) == 0 {
			s.Text = wordsOf(p.Tag, u.random.IntN(400))
		}
		switch u.random.IntN(6) {
		case 0, 1:
			s.Tool, s.Args = "write", args(map[string]any{"filePath": file(), "content": wordsOf(p.Tag, u.random.IntN(20_000))})
		case 2:
			s.Tool, s.Args = "bash", args(map[string]any{"command": fmt.Sprintf("mkdir -p d%d/e; echo %d >> d%d/log; sleep 0.0%d", p.Tag%4, p.Tag, p.Tag%4, u.random.IntN(5)), "description": "log"})
		case 3:
			s.Tool, s.Args = "bash", args(map[string]any{"command": fmt.Sprintf("rm -rf d%d f%d.txt; seq 1 %d", u.random.IntN(4), u.random.IntN(6), u.random.IntN(9000)), "description": "remove"})
		case 4:
			s.Tool, s.Args = "read", args(map[string]any{"filePath": filepath.Join(u.dir, "start.txt")})
		default:
			s.Tool, s.Args = "bash", args(map[string]any{"command": fmt.Sprintf("mkdir -p bare%d; seq 1 20", p.Tag%3), "description": "make"})
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func promptOf(p plan) map[string]any {
	return map[string]any{"model": map[string]string{"providerID": "test", "modelID": "m"}, "parts": []any{map[string]string{"type": "text", "text": p.prompt()}}}
}

// later sends a prompt that is acknowledged at once.
func (u *user) later(ctx context.Context, p plan) bool {
	status, _ := u.do(ctx, "POST", "/session/"+u.session+"/prompt_async", promptOf(p))
	if status == 204 {
		u.r.told.acknowledged(p.Tag, u.session)
		u.r.count("prompts acknowledged", 1)
	}
	return status == 204
}

// ask sends a prompt and waits for its answer.
func (u *user) ask(ctx context.Context, p plan) (status int, m message) {
	status, body := u.do(ctx, "POST", "/session/"+u.session+"/message", promptOf(p))
	if status == 200 {
		_ = json.Unmarshal(body, &m)
		u.r.told.acknowledged(p.Tag, u.session)
		u.r.count("prompts acknowledged", 1)
	}
	return status, m
}

// messages returns all messages of a session, page by page.
func (u *user) messages(ctx context.Context, session string) (all []message, status int) {
	for before := ""; ; {
		path := "/session/" + session + "/message?limit=500"
		if before != "" {
			path += "&before=" + url.QueryEscape(before)
		}
		status, header, body := u.fetch(ctx, "GET", path, nil)
		var page []message
		if status == 200 && json.Unmarshal(body, &page) != nil {
			return nil, 0
		}
		all = append(page, all...)
		if before = header.Get("X-Next-Cursor"); before == "" || status != 200 {
			return all, status
		}
	}
}

// tree returns the files and empty directories of the project.
func (u *user) tree() tree {
	out := tree{}
	_ = filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(u.dir, path)
		switch {
		case err != nil || rel == ".":
			return nil
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			if list, err := os.ReadDir(path); err == nil && len(list) == 0 {
				out[rel+"/"] = ""
			}
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			out[rel] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		return nil
	})
	return out
}

func differ(a, b tree) (names []string) {
	for name, sum := range a {
		if other, ok := b[name]; !ok || other != sum {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// firstPrompt returns a user message of the session, by chance.
func (u *user) somePrompt(list []message) (message, bool) {
	var users []message
	for _, m := range list {
		if m.Info.Role == "user" {
			users = append(users, m)
		}
	}
	if len(users) == 0 {
		return message{}, false
	}
	return users[u.random.IntN(len(users))], true
}

// summarize asks for a compaction.
func (u *user) summarize(ctx context.Context) int {
	status, _ := u.do(ctx, "POST", "/session/"+u.session+"/summarize", map[string]string{"providerID": "test", "modelID": "m"})
	return status
}

// fork copies the session and looks whether the copy is at rest.
func (u *user) fork(ctx context.Context) {
	status, body := u.do(ctx, "POST", "/session/"+u.session+"/fork", map[string]any{})
	var s struct{ ID string }
	if status != 200 || json.Unmarshal(body, &s) != nil {
		return
	}
	list, status := u.messages(ctx, s.ID)
	if status != 200 {
		return
	}
	u.r.compare(s.ID, list, true)
	u.r.count("forks", 1)
}

// revert takes the project back to before some prompt, and forth.
func (u *user) revert(ctx context.Context) {
	list, status := u.messages(ctx, u.session)
	m, ok := u.somePrompt(list)
	if status != 200 || !ok {
		return
	}
	if u.before == nil {
		u.before = u.tree()
	}
	status, _ = u.do(ctx, "POST", "/session/"+u.session+"/revert", map[string]string{"messageID": m.Info.ID})
	if status != 200 {
		return
	}
	u.r.count("reverts", 1)
	u.reverted = u.tree()
	if u.random.IntN(2) == 0 { // once more changes nothing
		if status, _ = u.do(ctx, "POST", "/session/"+u.session+"/revert", map[string]string{"messageID": m.Info.ID}); status == 200 {
			if d := differ(u.reverted, u.tree()); len(d) > 0 {
				u.r.wrong("undo", "a revert that is repeated changes %v", d)
			}
		}
	}
	u.unrevert(ctx)
}

// unrevert brings back what a revert took, also one that was cut off.
func (u *user) unrevert(ctx context.Context) {
	if u.before == nil {
		return
	}
	status, _ := u.do(ctx, "POST", "/session/"+u.session+"/unrevert", map[string]any{})
	if status != 200 {
		return
	}
	if d := differ(u.before, u.tree()); len(d) > 0 {
		u.r.wrong("undo", "after the unrevert these are not as before: %v", d)
	}
	u.before = nil
	u.r.count("unreverts compared", 1)
}
