package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxMemory is how much a server may take whatever its provider sends; it takes 90 to
// 105 MB.
const maxMemory = 192 << 20

func chunk(delta, finish string) string {
	return fmt.Sprintf(`data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
}

const done = "data: [DONE]\n\n"

func sent(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(text))
	}
}

func refusing(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, status) }
}

// endless sends a piece again and again, until nobody listens.
func endless(first, piece string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, err := w.Write([]byte(first))
		for err == nil && req.Context().Err() == nil {
			_, err = w.Write([]byte(piece))
		}
	}
}

func call(index int, name, args string) string {
	return chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"c%d","type":"function","function":{"name":%q,"arguments":%s}}]}`, index, index, name, quote(args)), "null")
}

func manyCalls(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(call(i, "read", `{"filePath":"start.txt"}`))
	}
	return b.String() + chunk("{}", `"tool_calls"`) + done
}

// misbehaviours of a provider, by name. They are made when they are first needed: a
// server that this program plays must not be measured with them.
var misbehaviours = sync.OnceValue(func() map[string]func(http.ResponseWriter, *http.Request) {
	return map[string]func(http.ResponseWriter, *http.Request){
		"nothing":    sent(""),
		"only done":  sent(done),
		"plain text": refusing(200, "hello, this is no stream"),
		"a page":     refusing(200, "<html><body>Sign in</body></html>"),
		"zipped noise": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("\x1f\x8b not really"))
		},
		"cut off":           sent(chunk(`{"content":"half of`, "null")[:60]),
		"no finish":         sent(chunk(`{"content":"words"}`, "null") + done),
		"two finishes":      sent(chunk(`{"content":"words"}`, `"stop"`) + chunk(`{"content":"more"}`, `"length"`) + done),
		"not JSON":          sent("data: {{{{\n\n" + done),
		"wrong types":       sent(`data: {"choices":{"delta":7}}` + "\n\n" + `data: [1,2,3]` + "\n\n" + done),
		"nulls":             sent(`data: {"id":null,"choices":[{"index":0,"delta":{"content":null,"tool_calls":null},"finish_reason":"stop"}],"usage":null}` + "\n\n" + done),
		"deep":              sent("data: " + strings.Repeat("[", 100_000) + "\n\n" + done),
		"no name":           sent(call(0, "", "{}") + chunk("{}", `"tool_calls"`) + done),
		"unknown tool":      sent(call(0, "frobnicate", "{}") + chunk("{}", `"tool_calls"`) + done),
		"arguments no JSON": sent(call(0, "bash", `{"command": "ech`) + chunk("{}", `"tool_calls"`) + done),
		"same id":           sent(call(0, "read", `{"filePath":"start.txt"}`) + strings.Replace(call(1, "read", `{"filePath":"start.txt"}`), `"c1"`, `"c0"`, 1) + chunk("{}", `"tool_calls"`) + done),
		"huge index":        sent(call(1<<30, "read", "{}") + chunk("{}", `"tool_calls"`) + done),
		"zero bytes":        sent(chunk(`{"content":"a\u0000b\u0000"}`, `"stop"`) + done),
		"bad UTF-8":         sent(chunk("{\"content\":\"\xff\xfe\xc3\"}", `"stop"`) + done),
		"one long frame":    sent(chunk(`{"content":"`+strings.Repeat("x", 40<<20)+`"}`, `"stop"`) + done),
		"endless text":      endless("", chunk(`{"content":"`+strings.Repeat("abcd ", 2000)+`"}`, "null")),
		"endless arguments": endless(call(0, "bash", `{"command":"`), chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"`+strings.Repeat("abcd ", 2000)+`"}}]}`, "null")),
		"endless line":      endless("data: ", strings.Repeat("x", 64<<10)),
		"2,000 calls":       sent(manyCalls(2000)),
		"400":               refusing(400, `{"error":{"message":"prompt is too long: 250000 tokens > 200000 maximum"}}`),
		"401":               refusing(401, `{"error":{"message":"no"}}`),
		"413":               refusing(413, "too large"),
		"429":               refusing(429, `{"error":{"message":"slow down"}}`),
		"500":               refusing(500, "oops"),
		"redirect": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, "/v1/chat/completions", http.StatusTemporaryRedirect)
		},
	}
})

func misbehave(w http.ResponseWriter, req *http.Request, now step) { misbehaviours()[now.Bad](w, req) }

// hostileRound lets the provider do everything that it should not. Each prompt
// ends with an answer or an error that is told, in bounded memory, and the next
// one is answered as usual.
func hostileRound(r *rig) error {
	if r.srv == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	if err := r.people(); err != nil {
		return err
	}
	u := r.users[0]
	for _, bad := range slices.Sorted(maps.Keys(misbehaviours())) {
		if err := u.create(r.ctx); err != nil {
			return err
		}
		p := u.newPlan(1)
		p.Steps[0] = step{Bad: bad}
		limit, cancel := context.WithTimeout(r.ctx, 2*patience)
		began := time.Now()
		status, m := u.ask(limit, p)
		stuck := limit.Err() != nil
		cancel()
		switch {
		case stuck:
			r.wrong("hostile", "%s: no end", bad)
		case status != 200:
			r.wrong("hostile", "%s: the prompt answers %d", bad, status)
		case m.Info.Error == nil && !says(m):
			r.wrong("hostile", "%s: the answer tells neither words nor an error", bad)
		}
		if peak := r.memory("VmHWM"); peak > maxMemory {
			r.wrong("memory", "%s: %d MB", bad, peak>>20)
			r.stop() // the next is measured afresh
			if err := r.start(); err != nil {
				return err
			}
		}
		if status, m := u.ask(r.ctx, u.newPlan(0)); status != 200 || m.Info.Error != nil {
			r.wrong("hostile", "%s: the next prompt answers %d, error %v", bad, status, m.Info.Error)
		}
		if took := time.Since(began); took > 20*time.Second {
			fmt.Fprintf(r.out, "slow: %s took %s\n", bad, took.Round(time.Second))
		}
		r.count("misbehaviours", 1)
	}
	r.verify()
	return nil
}

// memory returns a value of the server's status in bytes, or 0.
func (r *rig) memory(key string) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.srv.cmd.Process.Pid))
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// says reports whether an answer holds anything that a person or a program would see:
// words, a call, or a step that the provider itself ended.
func says(m message) bool {
	for _, p := range m.Parts {
		if p.Type == "tool" || p.Type == "step-finish" || p.Text != "" {
			return true
		}
	}
	return false
}
