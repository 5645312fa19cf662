//go:build linux

// Command runaway measures what a provider that never ends its answer costs in
// memory: it starts the real program beside such a provider on loopback and reads
// the largest resident size that the kernel saw.
//
//	go run ./bench/runaway -lathe PROGRAM
//	go run ./bench/runaway -lathe PROGRAM -serve -listen 4
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// bound is what an answer may hold where its model sets no lower one.
const bound = 32 << 20

// timeout ends a run that hangs.
const timeout = 2 * time.Minute

// answer is what the provider says.
type answer struct {
	name               string
	head, again, after string
	times              int // 0 for ever
	limit              int // output limit of the model in tokens; 0 for none
}

func main() {
	program := flag.String("lathe", "lathe", "the program to measure")
	only := flag.String("only", "", "measure the answers whose name contains this")
	face := flag.String("format", "default", "--format of the run")
	server := flag.Bool("serve", false, "measure a server that answers over HTTP, in place of a run")
	listen := flag.Int("listen", 1, "clients that follow the server's events")
	flag.Parse()
	for _, a := range answers() {
		if !strings.Contains(a.name, *only) {
			continue
		}
		var r fmt.Stringer
		var err error
		if *server {
			r, err = serve(*program, *listen, a)
		} else {
			r, err = measure(*program, *face, a)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "runaway:", err)
			os.Exit(1)
		}
		fmt.Println(r)
	}
}

func answers() []answer {
	short, long := strings.Repeat("abcd ", 8), strings.Repeat("abcd ", 2000)
	open := delta(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"write","arguments":"{\"content\":\""}}]}`)
	more := func(s string) string {
		return delta(`{"tool_calls":[{"index":0,"function":{"arguments":` + quote(s) + `}}]}`)
	}
	var calls strings.Builder
	for i := range 256 {
		fmt.Fprintf(&calls, "%s", delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"filePath\":\"start.txt\"}"}}]}`, i, i)))
	}
	return []answer{
		{name: "hello", head: delta(`{"content":"hello"}`), after: finish("stop")},
		{name: "text, no limit", again: delta(`{"content":` + quote(long) + `}`)},
		{name: "text, 32k tokens", again: delta(`{"content":` + quote(long) + `}`), limit: 32_000},
		{name: "short deltas, no limit", again: delta(`{"content":` + quote(short) + `}`)},
		{name: "short deltas, 32k tokens", again: delta(`{"content":` + quote(short) + `}`), limit: 32_000},
		{name: "reasoning, no limit", again: delta(`{"reasoning_content":` + quote(long) + `}`)},
		{name: "arguments, no limit", head: open, again: more(long)},
		{name: "a text of 31 MB", again: delta(`{"content":` + quote(long) + `}`), times: 3100, after: finish("stop")},
		{name: "arguments of 15 MB", head: open, again: more(long), times: 1500, after: more(`","filePath":"big.txt"}`) + finish("tool_calls")},
		{name: "256 calls", head: calls.String(), after: finish("tool_calls")},
	}
}

func delta(d string) string {
	return `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}` + "\n\n"
}

func finish(reason string) string {
	return `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\ndata: [DONE]\n\n"
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be encoded
	}
	return string(b)
}

// provider says a once, to the first request with tools; everything else, such as
// the request for a title, it answers with a word.
func provider(a answer, sent *atomic.Int64) http.Handler {
	var asked atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		body, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Contains(body, []byte(`"tools"`)) || asked.Add(1) > 1 {
			_, _ = w.Write([]byte(delta(`{"content":"fine"}`) + finish("stop")))
			return
		}
		_, err = w.Write([]byte(a.head))
		for i := 0; err == nil && a.again != "" && (a.times == 0 || i < a.times); i++ {
			var n int
			n, err = w.Write([]byte(a.again))
			sent.Add(int64(n))
		}
		_, _ = w.Write([]byte(a.after))
	})
}

// result is what a run took and told.
type result struct {
	name       string
	peak       int64 // bytes
	wall, used time.Duration
	came       int64 // bytes from the provider
	err        error // its exit code
	told       string
	printed    int64 // bytes of the answer
}

func (r result) String() string {
	last := strings.Join(strings.Fields(r.told), " ")
	if len(last) > 160 {
		last = "…" + last[len(last)-160:]
	}
	return fmt.Sprintf("%-26s %4d MB at most, %5.1f s, %5.1f s of processor, %d MB came; %v: %s",
		r.name, r.peak>>20, r.wall.Seconds(), r.used.Seconds(), r.came>>20, r.err, strings.ToValidUTF8(last, ""))
}

// measure starts a run whose provider answers with a.
func measure(program, format string, a answer, environ ...string) (r result, err error) {
	p, err := newPlace(a, environ)
	if err != nil {
		return r, err
	}
	defer p.close()
	first := exec.Command(program, "session", "list") // makes the database, once for all runs
	first.Dir, first.Env = p.repo, p.env
	if out, err := first.CombinedOutput(); err != nil {
		return r, fmt.Errorf("%w: %s", err, out)
	}
	cmd := exec.Command(program, "run", "--trust", "--title", "t", "--permission", "allow", "--format", format, "-m", "p/m", "go on")
	cmd.Dir, cmd.Env = p.repo, p.env
	var told strings.Builder
	out, err := os.Create(filepath.Join(p.dir, "out"))
	if err != nil {
		return r, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, &told
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	stop := time.AfterFunc(timeout, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	r = result{name: a.name, err: cmd.Wait(), wall: time.Since(began), came: p.came.Load(), told: told.String()}
	r.used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = usage.Maxrss << 10
	}
	info, err := out.Stat() // not read: what this process takes when it starts the next one counts for that
	if err == nil {
		r.printed = info.Size()
	}
	return r, err
}

// place is where the program runs: a repository, a home of its own, and a provider.
type place struct {
	dir, repo string
	env       []string // of the program
	came      atomic.Int64
	upstream  *httptest.Server
}

// newPlace makes a place with a provider that answers with a. Close it.
func newPlace(a answer, environ []string) (*place, error) {
	dir, err := os.MkdirTemp("", "runaway-")
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir, repo: filepath.Join(dir, "repo")}
	p.upstream = httptest.NewServer(provider(a, &p.came))
	p.env = append(append(os.Environ(), environ...), "LATHE_HOME="+filepath.Join(dir, "home"), "LATHE_DISABLE_MODELS_FETCH=1")
	if a.limit == 0 {
		p.env = append(p.env, "LATHE_EXPERIMENTAL_OUTPUT_TOKEN_MAX=100000000") // else it is 32,000
	}
	if err := prepare(p.repo, p.upstream.URL, a.limit); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *place) close() {
	p.upstream.Close()
	_ = os.RemoveAll(p.dir)
}

func prepare(repo, url string, limit int) error {
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return err
	}
	model := map[string]any{"name": "m"}
	if limit == 0 {
		limit = 100_000_000
	}
	model["limit"] = map[string]any{"context": 200_000, "output": limit}
	conf, err := json.Marshal(map[string]any{"permission": "allow", "provider": map[string]any{"p": map[string]any{
		"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": url + "/v1", "apiKey": "k"},
		"models": map[string]any{"m": model},
	}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo, "start.txt"), []byte("start\n"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(repo, "opencode.json"), conf, 0o644)
}
