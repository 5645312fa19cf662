package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// vendors says how each protocol is named in a configuration.
var vendors = map[string]string{
	"anthropic":  "@ai-sdk/anthropic",
	"openai":     "@ai-sdk/openai",
	"openaichat": "@ai-sdk/openai-compatible",
	"google":     "@ai-sdk/google",
}

// providerConfig is a configuration with the model test/m, which answers at url.
func providerConfig(protocol, url string) ([]byte, error) {
	npm := vendors[protocol]
	if npm == "" {
		return nil, fmt.Errorf("there is no protocol %q", protocol)
	}
	return json.MarshalIndent(map[string]any{
		"model": "test/m",
		"provider": map[string]any{"test": map[string]any{
			"npm": npm, "name": "Test",
			"options": map[string]any{"baseURL": url + "/v1", "apiKey": "sk-test-0123456789"},
			"models": map[string]any{"m": map[string]any{
				"reasoning": true, "tool_call": true, "attachment": true,
				"limit":      map[string]any{"context": 200000, "output": 8192},
				"modalities": map[string]any{"input": []string{"text", "image", "pdf"}, "output": []string{"text"}},
				"cost":       map[string]any{"input": 3, "output": 15},
			}},
		}},
	}, "", "  ")
}

// servers are the model servers of the running scripts, by working directory.
var servers serverMap

func home(ts *testscript.TestScript, elem ...string) string {
	return filepath.Join(append([]string{ts.Getenv("LATHE_HOME")}, elem...)...)
}

// cmdLLM starts a model server: llm PROTOCOL FILE [all]. The user's configuration
// names it as the model test/m. With all, requests without tools take steps of the
// script, too.
func cmdLLM(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 || len(args) == 3 && args[2] != "all" {
		ts.Fatalf("usage: llm protocol file [all]")
	}
	opts := []llmtest.Option{llmtest.Chunks(uint64(len(args[0])))}
	if len(args) == 3 {
		opts = append(opts, llmtest.Scripted())
	}
	script, err := llmtest.Parse([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	s, err := llmtest.Start(script, opts...)
	ts.Check(err)
	ts.Defer(s.Close)
	servers.put(ts.Getenv("WORK"), s)
	conf, err := providerConfig(args[0], s.URL)
	ts.Check(err)
	ts.Check(os.WriteFile(home(ts, "config", "lathe.json"), conf, 0o600))
	ts.Setenv("LLM_URL", s.URL)
}

// mainRequests are the requests that offer tools: no titles.
func mainRequests(ts *testscript.TestScript) []llmtest.Request {
	s := servers.get(ts.Getenv("WORK"))
	if s == nil {
		ts.Fatalf("no model server runs: start one with llm")
	}
	var out []llmtest.Request
	for _, r := range s.Requests() {
		if r.Rejected != "" {
			ts.Fatalf("a real provider would refuse the request: %s", r.Rejected)
		}
		if len(r.Tools) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// cmdLLMCount compares the number of requests so far: llmcount N.
func cmdLLMCount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: llmcount n")
	}
	if got := len(mainRequests(ts)); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%d requests, want %s", got, args[0])
	}
}

// cmdLLMPrefix writes the tools and the system prompt of the n-th request to a file, as
// they were sent: llmprefix N FILE. A negative n counts from the end.
func cmdLLMPrefix(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: llmprefix n file")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	reqs := mainRequests(ts)
	if n < 0 {
		n += len(reqs) + 1
	}
	if n < 1 || n > len(reqs) {
		ts.Fatalf("there are %d requests", len(reqs))
	}
	var body struct{ Tools, System json.RawMessage }
	ts.Check(json.Unmarshal(reqs[n-1].Body, &body))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), slices.Concat(body.Tools, []byte("\n"), body.System, []byte("\n")), 0o600))
}

// cmdLLMRequest writes the body of the n-th request, indented and without the
// tools and the system prompt, to a file, for grep: llmrequest N FILE. A
// negative n counts from the end.
func cmdLLMRequest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: llmrequest n file")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	reqs := mainRequests(ts)
	if n < 0 {
		n += len(reqs) + 1
	}
	if n < 1 || n > len(reqs) {
		ts.Fatalf("there are %d requests", len(reqs))
	}
	var body map[string]any
	ts.Check(json.Unmarshal(reqs[n-1].Body, &body))
	for _, long := range []string{"tools", "system", "instructions", "systemInstruction"} {
		delete(body, long)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	ts.Check(enc.Encode(body))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}

// cmdExits runs a program that has to end with an exit code: exits CODE program args.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		code = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// cmdTTY runs lathe on a terminal: tty CODE FILE [-reply PROMPT LINE]... args.
// What the terminal shows goes to the file. A reply is typed when its prompt
// was shown.
func cmdTTY(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: tty code file [-reply prompt line]... args...")
	}
	code, file, args := args[0], args[1], args[2:]
	var replies [][2]string
	for len(args) > 2 && args[0] == "-reply" {
		typed, err := strconv.Unquote(`"` + args[2] + `"`)
		ts.Check(err)
		replies = append(replies, [2]string{args[1], typed})
		args = args[3:]
	}
	self, err := os.Executable()
	ts.Check(err)
	cmd := exec.Command(self, args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{asMain + "=1"}
	for _, name := range []string{"PATH", "HOME", "LATHE_HOME", "NO_COLOR", "SHELL", "COLORTERM", "LATHE_BACKGROUND"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, hermetic()...)
	shown, err := runTTY(cmd, replies)
	ts.Logf("[tty]\n%s", shown)
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		if strconv.Itoa(e.ExitCode()) != code {
			ts.Fatalf("exit code %d, want %s", e.ExitCode(), code)
		}
	} else {
		ts.Check(err)
		if code != "0" {
			ts.Fatalf("exit code 0, want %s", code)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(shown), 0o600))
}

// runTTY runs a command on a terminal of its own and returns what it showed.
func runTTY(cmd *exec.Cmd, replies [][2]string) (string, error) {
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 100})
	if err != nil {
		return "", err
	}
	defer f.Close()
	stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	var shown strings.Builder
	seen := 0
	for buf := make([]byte, 4096); ; {
		n, err := f.Read(buf)
		shown.Write(buf[:n])
		for len(replies) > 0 {
			i := strings.Index(shown.String()[seen:], replies[0][0])
			if i < 0 {
				break
			}
			seen += i + len(replies[0][0])
			_, _ = io.WriteString(f, replies[0][1])
			replies = replies[1:]
		}
		if err != nil { // a terminal whose last user left reads as EIO
			return shown.String(), cmd.Wait()
		}
	}
}

// cmdSessionID sets a variable to the id of the n-th newest session here:
// sessionid NAME [N].
func cmdSessionID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: sessionid name [n]")
	}
	n := 1
	if len(args) > 1 {
		n, _ = strconv.Atoi(args[1])
	}
	ts.Check(ts.Exec("lathe", "session", "list"))
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	if n > len(lines) || lines[0] == "" {
		ts.Fatalf("there are fewer than %d sessions", n)
	}
	ts.Setenv(args[0], strings.Fields(lines[n-1])[0])
}

// cmdFileMode checks permissions: filemode 600 FILE.
func cmdFileMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: filemode mode file")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// cmdFill writes a file of n copies of a text, in which \xNN stands for a byte:
// fill FILE N TEXT.
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fill file n text")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte(text), n), 0o644))
}

// cmdImage writes a small picture: image FILE.
func cmdImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: image file")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), tinyPNG(), 0o644))
}

func tinyPNG() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// cmdCount checks how often a text stands in a file: count N TEXT FILE.
func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: count n text file")
	}
	if got := strings.Count(ts.ReadFile(args[2]), args[1]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%d times %q in %s, want %s", got, args[1], args[2], args[0])
	}
}

// cmdPostgres makes an empty database and keeps its address in a variable: postgres VAR.
func cmdPostgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: postgres var")
	}
	address, err := pgtest.Address()
	ts.Check(err)
	ts.Setenv(args[0], address)
}
