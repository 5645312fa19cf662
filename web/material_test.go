package web_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// many returns an exported session of many messages, as a long piece of work has them.
func many(dir string, n int, id string) []byte {
	type obj = map[string]any
	messages := make([]obj, 0, n)
	base := 0x100000000000 + int(crc32.ChecksumIEEE([]byte(id)))<<8
	for i := range n {
		msg := fmt.Sprintf("msg_%012x%014d", base+i*4096, i)
		at := 1_700_000_000_000 + int64(i)*1000
		part := func(k int, o obj) obj {
			o["id"], o["messageID"], o["sessionID"] = fmt.Sprintf("prt_%012x%014d", base+i*4096+k, i), msg, id
			return o
		}
		if i%5 == 0 {
			messages = append(messages, obj{"info": obj{"id": msg, "sessionID": id, "role": "user", "time": obj{"created": at}, "agent": "build", "model": obj{"providerID": "script", "modelID": "a"}},
				"parts": []obj{part(0, obj{"type": "text", "text": fmt.Sprintf("Prompt %d: look at the **parser** and mend what is wrong.", i)})}})
			continue
		}
		parts := []obj{part(0, obj{"type": "text", "text": fmt.Sprintf("Answer %d.\n\nThe function `parse` reads *one* token at a time:\n\n- first this\n- then that\n\n```go\nfunc parse(n int) error {\n\treturn nil // %d\n}\n```\n", i, i), "time": obj{"start": at, "end": at + 1}})}
		if i%5 < 4 {
			parts = append(parts, part(1, obj{"type": "tool", "callID": "c" + strconv.Itoa(i), "tool": "bash", "state": obj{"status": "completed", "input": obj{"command": "go test ./..."},
				"output": strings.Repeat("ok  \texample.org/pkg\t0.01s\n", 12), "title": "go test", "metadata": obj{"exit": 0}, "time": obj{"start": at, "end": at + 400}}}))
		}
		messages = append(messages, obj{"info": obj{"id": msg, "sessionID": id, "role": "assistant", "parentID": fmt.Sprintf("msg_%012x%014d", base+(i-i%5)*4096, i-i%5), "time": obj{"created": at, "completed": at + 500},
			"modelID": "a", "providerID": "script", "mode": "build", "agent": "build", "path": obj{"cwd": dir, "root": dir}, "cost": 0, "tokens": obj{"input": 10, "output": 10, "reasoning": 0, "cache": obj{"read": 0, "write": 0}}, "finish": "stop"}, "parts": parts})
	}
	data, err := json.Marshal(obj{"info": obj{"id": id, "projectID": "global", "directory": dir, "title": "A long piece of work", "version": "1.1.36", "slug": "long", "time": obj{"created": 1_700_000_000_000, "updated": 1_700_100_000_000}}, "messages": messages})
	if err != nil {
		panic(err) // it is all plain values
	}
	return data
}

// imported puts a session of n messages into the site's store.
func (s *site) imported(n int, id string) {
	s.t.Helper()
	lathe, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	name := filepath.Join(s.t.TempDir(), "session.json")
	s.write(name, string(many(s.dir, n, id)))
	cmd := exec.Command(lathe, "import", name)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("import: %v: %s", err, out)
	}
}

var proseWords = strings.Fields("The parser reads one token at a time and `keeps` what it **found** so far in a list")

// prose is the n-th token of an answer that has a paragraph every so often.
func prose(n int) string {
	if n%60 == 59 {
		return proseWords[n%len(proseWords)] + "\n\n"
	}
	return proseWords[n%len(proseWords)] + " "
}

// streaming returns a configuration whose model answers with a number of tokens a
// second, for a while: token is asked for each of them, and may hold the answer up.
func streaming(b testing.TB, rate int, life time.Duration, token func(n int) string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		put := func(data string) {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
			_ = http.NewResponseController(w).Flush()
		}
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		n, all, began := 0, int(life.Seconds()*float64(rate)), time.Now()
		for n < all {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
			for want := min(all, int(time.Since(began).Seconds()*float64(rate))); n < want; n++ {
				data, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": token(n)}}}})
				put(string(data))
			}
		}
		put(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`)
		put("[DONE]")
	}))
	b.Cleanup(server.Close)
	return fmt.Sprintf(`{"model":"fast/m","provider":{"fast":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"k"},"models":{"m":{"name":"m","limit":{"context":200000,"output":100000}}}}}}`, server.URL)
}
