package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/tool"
)

// conform is the client that the protocol's conformance suite starts: it connects to a
// server, logs in where it has to, and calls each of its tools.
func conform(address string) error {
	dir, err := os.MkdirTemp("", "conform")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	conf := config.MCP{Name: "s", Type: "remote", URL: address}
	conf.OAuth.RedirectURI = "http://127.0.0.1:1/callback" // its answer is pasted
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given) == nil {
		conf.OAuth.ClientID, conf.OAuth.ClientSecret = given.ID, given.Secret
	}
	s := New(Options{
		Dir: dir, Servers: []config.MCP{conf}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Now: time.Now, Host: defaults{},
		Logins: &Logins{Path: filepath.Join(dir, "auth.json"), Now: time.Now},
	})
	defer s.Close()
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	if err := s.Connect(ctx, "s"); err != nil {
		if err := pasteLogin(ctx, s); err != nil {
			return err
		}
	}
	for _, t := range s.Offer().Tools {
		one := &remoteTool{s, t, false}
		for range 3 {
			res, err := one.Run(ctx, &tool.Call{Input: []byte(`{"a":2,"b":3}`), Ask: func(context.Context, tool.Request) error { return nil }})
			fmt.Fprintln(os.Stderr, t.Key, res.Output, err)
			if !strings.Contains(res.Output, "lathe mcp auth") {
				break
			}
			if err := pasteLogin(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// pasteLogin logs in as a person without a browser on this machine.
func pasteLogin(ctx context.Context, s *Servers) error {
	f, err := s.Login(ctx, "s")
	if err != nil {
		return err
	}
	if f.Already {
		return nil
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Get(f.URL)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return s.FinishLogin(ctx, "s", resp.Header.Get("Location"))
}

// defaults is a person who leaves all questions as they are.
type defaults struct{}

func (defaults) Questions(_ context.Context, _ *tool.Call, list []lathe.Question) ([][]string, error) {
	return make([][]string, len(list)), nil
}

func (defaults) Sample(context.Context, *tool.Call, Sampling) (Sampled, error) {
	return Sampled{Model: "m", Text: "yes"}, nil
}

// beyond are the suite's scenarios for clients that lathe does not pass, and why.
var beyond = map[string]string{
	"auth/2025-03-26-oauth-metadata-backcompat": "its metadata names another issuer than the one that was asked, which RFC 8414 has clients refuse, and the SDK does",
	"auth/basic-cimd":                     "lathe has no document on the web that describes it as a client",
	"auth/client-credentials-jwt":         "an extension for logins without a person",
	"auth/client-credentials-basic":       "an extension for logins without a person",
	"auth/cross-app-access-complete-flow": "an extension for logins without a person",
}

// TestConformance runs the scenarios of the protocol's own suite for clients.
func TestConformance(t *testing.T) {
	suite := filepath.Join(filepath.Dir(published(t)), "@modelcontextprotocol/conformance/dist/index.js")
	list, err := exec.Command("node", suite, "list", "--client").Output()
	if err != nil {
		t.Skip("the suite does not run here: it needs Node 22 or newer")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\s*- (\S+)`).FindAllSubmatch(list, -1)
	if len(found) <= len(beyond) {
		t.Fatalf("the suite lists %q", list)
	}
	for _, m := range found {
		scenario := string(m[1])
		t.Run(scenario, func(t *testing.T) {
			if why := beyond[scenario]; why != "" {
				t.Skip(why)
			}
			cmd := exec.Command("node", suite, "client", "--command", self, "--scenario", scenario, "--timeout", "25000")
			cmd.Env, cmd.Dir = append(os.Environ(), "MCP_TEST_CONFORM=1"), t.TempDir()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, tail(string(out), 3000))
			}
		})
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }
