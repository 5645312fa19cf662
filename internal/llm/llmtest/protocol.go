package llmtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"lathe/internal/llm"
)

// protocol is what differs between the wire formats.
type protocol struct {
	name   string
	suffix string
	decode func(*Request) error
	frames func(req *Request, s *Step, n int) [][]byte
	whole  func(req *Request, s *Step, n int) []byte
	fail   func(status int, code, message string) any
}

func protocols() []protocol {
	return []protocol{
		{"anthropic", "/messages", decodeAnthropic, framesAnthropic, wholeAnthropic, failAnthropic},
		{"openai", "/responses", decodeResponses, framesResponses, wholeResponses, failOpenAI},
		{"openaichat", "/chat/completions", decodeChat, framesChat, wholeChat, failOpenAI},
		{"google", ":streamGenerateContent", decodeGoogle, framesGoogle, wholeGoogle, failGoogle},
	}
}

func protocolOf(path string) (protocol, bool) {
	for _, p := range protocols() {
		if strings.HasSuffix(path, p.suffix) {
			return p, true
		}
	}
	return protocol{}, false
}

func writeError(w http.ResponseWriter, p protocol, s Step) {
	for name, value := range s.Header {
		w.Header().Set(name, value)
	}
	if s.Raw != "" {
		w.WriteHeader(s.Status)
		_, _ = w.Write([]byte(s.Raw))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(s.Status)
	_ = json.NewEncoder(w).Encode(p.fail(s.Status, s.Code, s.Message))
}

type object = map[string]any

func failAnthropic(status int, code, message string) any {
	if code == "" {
		code = map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
			413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
		}[status]
	}
	if code == "" {
		code = "api_error"
	}
	return object{"type": "error", "error": object{"type": code, "message": message}}
}

func failOpenAI(status int, code, message string) any {
	kind := "invalid_request_error"
	switch {
	case status >= 500:
		kind = "server_error"
	case status == http.StatusTooManyRequests:
		kind = "requests"
		if code == "" {
			code = "rate_limit_exceeded"
		}
	}
	e := object{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	return object{"error": e}
}

func failGoogle(status int, code, message string) any {
	if code == "" {
		code = map[int]string{
			400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
			429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE",
		}[status]
	}
	if code == "" {
		code = "INTERNAL"
	}
	return object{"error": object{"code": status, "message": message, "status": code}}
}

// Sign returns the signature that the server gives to reasoning by default.
func Sign(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sig-" + hex.EncodeToString(sum[:12])
}

func signature(r Reasoning) string {
	if r.Signature != "" {
		return r.Signature
	}
	return Sign(r.Text)
}

func callID(c Call, prefix string, n, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("%s_%d_%d", prefix, n, i)
}

func data(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("llmtest: encode an event: %v", err))
	}
	return []byte("data: " + string(raw) + "\n\n")
}

func named(name string, v object) []byte {
	v["type"] = name
	return []byte("event: " + name + "\n" + string(data(v)))
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("llmtest: encode an answer: %v", err))
	}
	return raw
}

// arguments returns a call's arguments as JSON, for wire fields that hold a value.
func arguments(c Call) json.RawMessage {
	if json.Valid([]byte(c.Args)) {
		return json.RawMessage(c.Args)
	}
	return json.RawMessage("{}")
}

func dataURL(s string) llm.Media {
	head, body, _ := strings.Cut(strings.TrimPrefix(s, "data:"), ";base64,")
	raw, err := base64.StdEncoding.DecodeString(body)
	if !strings.HasPrefix(s, "data:") || err != nil {
		return llm.Media{URL: s}
	}
	return llm.Media{MIME: head, Data: raw}
}
