package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A plan stands in a prompt and tells the provider what to answer: steps of calls
// and words. It comes back with every request, so the provider keeps nothing.
type plan struct {
	Tag   int    `json:"tag"`
	Steps []step `json:"steps"`
}

type step struct {
	Text   string `json:"text,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Args   string `json:"args,omitempty"`
	Status int    `json:"status,omitempty"` // an error instead of an answer
	Slow   int    `json:"slow,omitempty"`   // milliseconds between pieces
	Bad    string `json:"bad,omitempty"`    // a misbehaviour
}

const planMark = "PLAN "

func (p plan) prompt() string {
	data, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return planMark + string(data) + " END"
}

var planText = regexp.MustCompile(planMark + `(\{.*?\}) END`)

// tagOf returns the number of the plan in a text, or 0.
func tagOf(text string) int {
	m := planText.FindStringSubmatch(text)
	var p plan
	if m == nil || json.Unmarshal([]byte(m[1]), &p) != nil {
		return 0
	}
	return p.Tag
}

// model is a provider that follows plans. It refuses what a real one would.
type model struct {
	r      *rig
	url    string
	server *httptest.Server
	calls  atomic.Int64
}

func startModel(r *rig) (*model, error) {
	m := &model{r: r}
	m.server = httptest.NewServer(m)
	m.url = m.server.URL
	return m, nil
}

func (m *model) close() {
	m.server.CloseClientConnections()
	m.server.Close()
}

type chatRequest struct {
	Messages []chatMessage     `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

func (m *model) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var in chatRequest
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if why := refused(in.Messages); why != "" {
		m.r.wrong("bad request", "%s", why)
	}
	now := in.step()
	switch {
	case now.Status != 0:
		w.WriteHeader(now.Status)
		fmt.Fprintf(w, `{"error":{"message":%q,"code":"context_length_exceeded"}}`, now.Text)
	case now.Bad != "":
		misbehave(w, req, now)
	default:
		m.answer(w, req, now)
	}
}

// refused says what a provider would not take: a call without its result, or a
// result without its call.
func refused(messages []chatMessage) string {
	open := map[string]bool{}
	for _, msg := range messages {
		if msg.Role != "tool" && len(open) > 0 {
			return fmt.Sprintf("a %s message follows calls without results", msg.Role)
		}
		if msg.Role == "tool" {
			if !open[msg.ToolCallID] {
				return "a result without its call: " + msg.ToolCallID
			}
			delete(open, msg.ToolCallID)
		}
		for _, c := range msg.ToolCalls {
			if open[c.ID] {
				return "a call twice: " + c.ID
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return "calls without results at the end"
	}
	return ""
}

// step is what the plan of the newest prompt says to do now: as many steps of it
// are done as answers with calls follow the prompt.
func (in chatRequest) step() step {
	done := 0
	for i := len(in.Messages) - 1; i >= 0; i-- {
		msg := in.Messages[i]
		if msg.Role == "assistant" && len(msg.ToolCalls) > 0 {
			done++
		}
		found := planText.FindSubmatch(unescaped(msg.Content))
		if msg.Role != "user" || found == nil {
			continue
		}
		var p plan
		if json.Unmarshal(found[1], &p) != nil {
			break
		}
		if len(in.Tools) == 0 { // a title or a summary
			return step{Text: fmt.Sprintf("Summary of %d", p.Tag)}
		}
		if done < len(p.Steps) {
			return p.Steps[done]
		}
		return step{Text: fmt.Sprintf("end of %d", p.Tag)}
	}
	return step{Text: "Something short"}
}

// unescaped returns the words of a content, which is a string or a list.
func unescaped(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	var list []struct{ Text string }
	_ = json.Unmarshal(raw, &list)
	var b bytes.Buffer
	for _, part := range list {
		b.WriteString(part.Text)
	}
	return b.Bytes()
}

type stream struct {
	w    http.ResponseWriter
	wait time.Duration
}

func (s stream) send(delta string, finish string) {
	fmt.Fprintf(s.w, `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	s.w.(http.Flusher).Flush()
	time.Sleep(s.wait)
}

// answer streams a step in pieces.
func (m *model) answer(w http.ResponseWriter, _ *http.Request, now step) {
	w.Header().Set("Content-Type", "text/event-stream")
	s := stream{w, time.Duration(now.Slow) * time.Millisecond}
	for _, piece := range pieces(now.Text, 12) {
		s.send(`{"content":`+quote(piece)+`}`, "null")
	}
	finish := `"stop"`
	if now.Tool != "" {
		finish = `"tool_calls"`
		id := "call_" + strconv.FormatInt(m.calls.Add(1), 10)
		s.send(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, id, now.Tool), "null")
		for _, piece := range pieces(now.Args, 4) {
			s.send(`{"tool_calls":[{"index":0,"function":{"arguments":`+quote(piece)+`}}]}`, "null")
		}
	}
	s.send(`{}`, finish)
	fmt.Fprint(w, `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`+"\n\ndata: [DONE]\n\n")
}

func quote(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// pieces cuts a text into at most n.
func pieces(text string, n int) (out []string) {
	runes := []rune(text)
	size := max((len(runes)+n-1)/n, 1)
	for len(runes) > 0 {
		k := min(size, len(runes))
		out, runes = append(out, string(runes[:k])), runes[k:]
	}
	return out
}

// wordsOf returns a text of a length that says who said it.
func wordsOf(tag, length int) string {
	return strings.Repeat(fmt.Sprintf("word %d 文 ", tag), length/12+1)
}
