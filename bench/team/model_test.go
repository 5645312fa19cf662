//go:build unix

package team

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
)

var wanted = regexp.MustCompile(`token (\w+)(?: with (\S+r\d+))?`)

// asked is what a model is sent.
type asked struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []any `json:"tools"`
}

// chunks begins an answer and returns what sends a piece of it.
func chunks(w http.ResponseWriter) func(delta map[string]any, finish any) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(delta map[string]any, finish any) {
		raw, err := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		if err == nil {
			fmt.Fprintf(w, "data: %s\n\n", raw)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// answer is a model: it has the token of the newest prompt written to a file, once, by the
// shell or by the program that the prompt names, and then says so.
func answer(w http.ResponseWriter, r *http.Request) {
	var in asked
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	token, program, called := "", "", false
	for _, m := range in.Messages {
		if all := wanted.FindAllStringSubmatch(string(m.Content), -1); m.Role == "user" && len(all) > 0 {
			newest := all[len(all)-1]
			token, program, called = newest[1], newest[2], false
		}
		called = called || m.Role == "tool"
	}
	chunk := chunks(w)
	if called || len(in.Tools) == 0 || token == "" {
		chunk(map[string]any{"role": "assistant", "content": "done with " + token}, nil)
		chunk(map[string]any{}, "stop")
	} else {
		command := "echo ran >> runs/" + token + "; sleep 0.2"
		if program != "" {
			command = program + " " + token
		}
		args, err := json.Marshal(map[string]string{"command": command, "description": "run"})
		if err != nil {
			return
		}
		chunk(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": "call_" + token, "type": "function", "function": map[string]any{"name": "bash", "arguments": string(args)},
		}}}, nil)
		chunk(map[string]any{}, "tool_calls")
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
