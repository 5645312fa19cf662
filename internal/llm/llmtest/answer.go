package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/script"
)

// stops maps finish reasons to a protocol's words: Anthropic, Chat, Gemini.
func stops(r llm.FinishReason, column int) string {
	words := map[llm.FinishReason][3]string{
		llm.FinishStop:      {"end_turn", "stop", "STOP"},
		llm.FinishToolCalls: {"tool_use", "tool_calls", "STOP"},
		llm.FinishLength:    {"max_tokens", "length", "MAX_TOKENS"},
		llm.FinishFilter:    {"refusal", "content_filter", "SAFETY"},
	}[r]
	if words[column] == "" {
		return "other"
	}
	return words[column]
}

func usageAnthropic(s *Step) object {
	u := s.Report()
	if u == nil {
		return nil
	}
	o := object{"input_tokens": u.Input, "output_tokens": u.Output + u.Reasoning,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite}
	if u.Reasoning > 0 {
		o["output_tokens_details"] = object{"thinking_tokens": u.Reasoning}
	}
	return o
}

// framesAnthropic tells the input tokens at the start and all at the end.
func framesAnthropic(req *Request, s *Step, n int) [][]byte {
	message := object{"id": "msg_test", "type": "message", "role": "assistant", "model": req.Model, "content": []any{}, "stop_reason": nil}
	if u := usageAnthropic(s); u != nil {
		start := object{}
		for k, v := range u {
			start[k] = v
		}
		start["output_tokens"] = 1
		message["usage"] = start
	}
	out := [][]byte{named("message_start", object{"message": message}), named("ping", object{})}
	for i, b := range s.Blocks {
		var start, end object
		var deltas []object
		switch b := b.(type) {
		case Text:
			start = object{"type": "text", "text": ""}
			for _, p := range script.Pieces(string(b)) {
				deltas = append(deltas, object{"type": "text_delta", "text": p})
			}
		case Reasoning:
			start = object{"type": "thinking", "thinking": "", "signature": ""}
			for _, p := range script.Pieces(b.Text) {
				deltas = append(deltas, object{"type": "thinking_delta", "thinking": p})
			}
			end = object{"type": "signature_delta", "signature": signature(b)}
		case Call:
			start = object{"type": "tool_use", "id": callID(b, "toolu", n, i), "name": b.Name, "input": object{}}
			for _, p := range script.Pieces(b.Args) {
				deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
			}
		}
		if end != nil {
			deltas = append(deltas, end)
		}
		out = append(out, named("content_block_start", object{"index": i, "content_block": start}))
		for _, d := range deltas {
			out = append(out, named("content_block_delta", object{"index": i, "delta": d}))
		}
		out = append(out, named("content_block_stop", object{"index": i}))
	}
	switch {
	case s.Broken != "":
		return append(out, named("error", object{"error": object{"type": or(s.Code, "overloaded_error"), "message": s.Broken}}))
	case s.Stall:
		return out
	}
	end := object{"delta": object{"stop_reason": stops(s.Reason(), 0), "stop_sequence": nil}}
	if u := usageAnthropic(s); u != nil {
		end["usage"] = u
	}
	return append(out, named("message_delta", end), named("message_stop", object{}))
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func wholeAnthropic(req *Request, s *Step, n int) []byte {
	content := []any{}
	for i, b := range s.Blocks {
		switch b := b.(type) {
		case Text:
			content = append(content, object{"type": "text", "text": string(b)})
		case Reasoning:
			content = append(content, object{"type": "thinking", "thinking": b.Text, "signature": signature(b)})
		case Call:
			content = append(content, object{"type": "tool_use", "id": callID(b, "toolu", n, i), "name": b.Name, "input": arguments(b)})
		}
	}
	return encode(object{"id": "msg_test", "type": "message", "role": "assistant", "model": req.Model, "content": content,
		"stop_reason": stops(s.Reason(), 0), "usage": usageAnthropic(s)})
}

func usageChat(s *Step) object {
	u := s.Report()
	if u == nil {
		return nil
	}
	in, out := u.Input+u.CacheRead+u.CacheWrite, u.Output+u.Reasoning
	return object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning}}
}

// framesChat streams parallel calls one after the other, each under its index.
func framesChat(req *Request, s *Step, n int) [][]byte {
	var out [][]byte
	chunk := func(delta object, finish any) {
		out = append(out, data(object{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": req.Model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}}))
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	calls := 0
	for i, b := range s.Blocks {
		switch b := b.(type) {
		case Text:
			for _, p := range script.Pieces(string(b)) {
				chunk(object{"content": p}, nil)
			}
		case Reasoning:
			for _, p := range script.Pieces(b.Text) {
				chunk(object{"reasoning_content": p}, nil)
			}
		case Call:
			chunk(object{"tool_calls": []object{{"index": calls, "id": callID(b, "call", n, i), "type": "function",
				"function": object{"name": b.Name, "arguments": ""}}}}, nil)
			for _, p := range script.Pieces(b.Args) {
				chunk(object{"tool_calls": []object{{"index": calls, "function": object{"arguments": p}}}}, nil)
			}
			calls++
		}
	}
	switch {
	case s.Broken != "":
		return append(out, data(object{"error": object{"message": s.Broken, "type": "server_error", "code": or(s.Code, "server_error")}}))
	case s.Stall:
		return out
	}
	chunk(object{}, stops(s.Reason(), 1))
	if u := usageChat(s); u != nil {
		out = append(out, data(object{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": req.Model,
			"choices": []any{}, "usage": u}))
	}
	return append(out, []byte("data: [DONE]\n\n"))
}

func wholeChat(req *Request, s *Step, n int) []byte {
	var text, thought string
	var calls []object
	for i, b := range s.Blocks {
		switch b := b.(type) {
		case Text:
			text += string(b)
		case Reasoning:
			thought += b.Text
		case Call:
			calls = append(calls, object{"id": callID(b, "call", n, i), "type": "function",
				"function": object{"name": b.Name, "arguments": b.Args}})
		}
	}
	message := object{"role": "assistant", "content": text}
	if thought != "" {
		message["reasoning_content"] = thought
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return encode(object{"id": "chatcmpl-test", "object": "chat.completion", "model": req.Model, "usage": usageChat(s),
		"choices": []object{{"index": 0, "message": message, "finish_reason": stops(s.Reason(), 1)}}})
}

func usageResponses(s *Step) object {
	u := s.Report()
	if u == nil {
		return nil
	}
	in, out := u.Input+u.CacheRead+u.CacheWrite, u.Output+u.Reasoning
	return object{"input_tokens": in, "output_tokens": out, "total_tokens": in + out,
		"input_tokens_details":  object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"output_tokens_details": object{"reasoning_tokens": u.Reasoning}}
}

func itemID(kind string, n, i int) string { return fmt.Sprintf("%s_test_%d_%d", kind, n, i) }

// itemResponses returns a block as a finished item of the protocol.
func itemResponses(b Block, n, i int) object {
	switch b := b.(type) {
	case Text:
		return object{"type": "message", "id": itemID("msg", n, i), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": string(b), "annotations": []any{}}}}
	case Reasoning:
		return object{"type": "reasoning", "id": itemID("rs", n, i), "encrypted_content": signature(b),
			"summary": []object{{"type": "summary_text", "text": b.Text}}}
	case Call:
		return object{"type": "function_call", "id": itemID("fc", n, i), "call_id": callID(b, "call", n, i), "name": b.Name, "arguments": b.Args, "status": "completed"}
	}
	return nil
}

// responseObject returns the answer as a whole.
func responseObject(req *Request, s *Step, n int) object {
	items := []object{}
	for i, b := range s.Blocks {
		items = append(items, itemResponses(b, n, i))
	}
	r := object{"id": "resp_test", "object": "response", "model": req.Model, "status": "completed", "output": items, "error": nil, "incomplete_details": nil}
	if u := usageResponses(s); u != nil {
		r["usage"] = u
	}
	reason := map[llm.FinishReason]string{llm.FinishLength: "max_output_tokens", llm.FinishFilter: "content_filter", llm.FinishUnknown: "other"}[s.Reason()]
	if reason != "" {
		r["status"], r["incomplete_details"] = "incomplete", object{"reason": reason}
	}
	return r
}

func framesResponses(req *Request, s *Step, n int) [][]byte {
	var out [][]byte
	add := func(name string, o object) {
		o["sequence_number"] = len(out)
		out = append(out, named(name, o))
	}
	add("response.created", object{"response": object{"id": "resp_test", "status": "in_progress", "output": []any{}}})
	for i, b := range s.Blocks {
		start := itemResponses(b, n, i)
		delta, text := "", ""
		switch b := b.(type) {
		case Text:
			delta, text = "response.output_text", string(b)
			start["content"] = []any{}
		case Reasoning:
			delta, text = "response.reasoning_summary_text", b.Text
			start["summary"], start["encrypted_content"] = []any{}, ""
		case Call:
			delta, text = "response.function_call_arguments", b.Args
			start["arguments"] = ""
		}
		start["status"] = "in_progress"
		place := func(more object) object {
			o := object{"output_index": i, "content_index": 0, "summary_index": 0, "item_id": start["id"]}
			for k, v := range more {
				o[k] = v
			}
			return o
		}
		add("response.output_item.added", object{"output_index": i, "item": start})
		part, begun, ended := partResponses(b)
		if part != "" {
			add(part+".added", place(object{"part": begun}))
		}
		for _, p := range script.Pieces(text) {
			add(delta+".delta", place(object{"delta": p}))
		}
		add(delta+".done", place(object{doneField(b): text}))
		if part != "" {
			add(part+".done", place(object{"part": ended}))
		}
		add("response.output_item.done", object{"output_index": i, "item": itemResponses(b, n, i)})
	}
	switch {
	case s.Broken != "":
		add("response.failed", object{"response": object{"status": "failed", "error": object{"code": or(s.Code, "server_error"), "message": s.Broken}}})
		return out
	case s.Stall:
		return out
	}
	r := responseObject(req, s, n)
	add("response."+r["status"].(string), object{"response": r})
	return out
}

// partResponses returns the event of the part that an item is made of, and the part
// at its begin and end; calls have none.
func partResponses(b Block) (event string, begun, ended object) {
	switch b := b.(type) {
	case Text:
		part := func(s string) object { return object{"type": "output_text", "text": s, "annotations": []any{}} }
		return "response.content_part", part(""), part(string(b))
	case Reasoning:
		part := func(s string) object { return object{"type": "summary_text", "text": s} }
		return "response.reasoning_summary_part", part(""), part(b.Text)
	}
	return "", nil, nil
}

func doneField(b Block) string {
	if _, ok := b.(Call); ok {
		return "arguments"
	}
	return "text"
}

func wholeResponses(req *Request, s *Step, n int) []byte { return encode(responseObject(req, s, n)) }

func usageGoogle(s *Step) object {
	u := s.Report()
	if u == nil {
		return nil
	}
	return object{"promptTokenCount": u.Input + u.CacheRead, "cachedContentTokenCount": u.CacheRead,
		"candidatesTokenCount": u.Output, "thoughtsTokenCount": u.Reasoning,
		"totalTokenCount": u.Input + u.CacheRead + u.Output + u.Reasoning}
}

// partsGoogle returns a block as parts; calls come whole and without identifier.
// A signature stands on the reasoning's last part.
// partsGoogle gives a call an identifier where the script does, and for the
// models that the service does it for.
func partsGoogle(req *Request, b Block, n, i int) []object {
	var out []object
	switch b := b.(type) {
	case Text:
		for _, p := range script.Pieces(string(b)) {
			out = append(out, object{"text": p})
		}
	case Reasoning:
		for _, p := range script.Pieces(b.Text) {
			out = append(out, object{"text": p, "thought": true})
		}
		if len(out) > 0 {
			out[len(out)-1]["thoughtSignature"] = signature(b)
		}
	case Call:
		call := object{"name": b.Name, "args": arguments(b)}
		if b.ID != "" || strings.Contains(req.Model, "gemini-3") {
			call["id"] = callID(b, "fc", n, i)
		}
		out = append(out, object{"functionCall": call, "thoughtSignature": Sign(b.Name + b.Args)})
	}
	return out
}

func chunkGoogle(req *Request, parts []object, finish string, u object) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	c := object{"candidates": []object{candidate}, "modelVersion": req.Model}
	if u != nil {
		c["usageMetadata"] = u
	}
	return c
}

func framesGoogle(req *Request, s *Step, n int) [][]byte {
	var out [][]byte
	for i, b := range s.Blocks {
		for _, p := range partsGoogle(req, b, n, i) {
			out = append(out, data(chunkGoogle(req, []object{p}, "", nil)))
		}
	}
	switch {
	case s.Broken != "":
		return append(out, data(failGoogle(503, s.Code, s.Broken)))
	case s.Stall:
		return out
	}
	return append(out, data(chunkGoogle(req, []object{{"text": ""}}, stops(s.Reason(), 2), usageGoogle(s))))
}

func wholeGoogle(req *Request, s *Step, n int) []byte {
	parts := []object{}
	for i, b := range s.Blocks {
		parts = append(parts, partsGoogle(req, b, n, i)...)
	}
	raw, _ := json.Marshal([]object{chunkGoogle(req, parts, stops(s.Reason(), 2), usageGoogle(s))})
	return raw
}
