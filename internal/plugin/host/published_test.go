//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/plugin"
	"lathe/internal/plugin/host"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
)

// published are plugins as their authors publish them, with what a test sees of them.
var published = []struct {
	name   string
	effect func(t *testing.T, r *rig, h *host.Host) string
	want   string
}{
	{"@tarquinen/opencode-dcp", func(t *testing.T, _ *rig, h *host.Host) string {
		return toolNames(h, "@tarquinen/opencode-dcp") + " " + fmt.Sprint(strings.Contains(string(h.Config()["command"]), "dcp"))
	}, "compress true"},
	{"opencode-skills", func(t *testing.T, _ *rig, h *host.Host) string { return toolNames(h, "opencode-skills") }, "skills_a_skill"},
	{"opencode-prompt-recorder", func(t *testing.T, r *rig, h *host.Host) string {
		return fmt.Sprint(hooksOf(h, "opencode-prompt-recorder"))
	}, "[event]"},
	{"@sureshsankaran/opencode-destructive-check", func(t *testing.T, _ *rig, h *host.Host) string {
		res, err := call(t, h, "destructive-check-status", `{}`)
		return fmt.Sprint(err == nil && !res.Failed && res.Output != "")
	}, "true"},
	{"opencode-antigravity-auth", func(t *testing.T, _ *rig, h *host.Host) string {
		return toolNames(h, "opencode-antigravity-auth") + " " + logins(h, "opencode-antigravity-auth")
	}, "google_search google"},
	{"opencode-gemini-auth", func(t *testing.T, _ *rig, h *host.Host) string { return logins(h, "opencode-gemini-auth") }, "google"},
	{"opencode-anthropic-auth", func(t *testing.T, _ *rig, h *host.Host) string {
		return logins(h, "opencode-anthropic-auth") + " " + fmt.Sprint(methods(h, "opencode-anthropic-auth"))
	}, "anthropic 3"},
	{"opencode-beads", func(t *testing.T, _ *rig, h *host.Host) string {
		var commands map[string]any
		if err := json.Unmarshal(h.Config()["command"], &commands); err != nil {
			return err.Error()
		}
		return fmt.Sprint(len(commands) >= 27)
	}, "true"},
	{"opencode-swarm", func(t *testing.T, r *rig, h *host.Host) string {
		var agents map[string]any
		if err := json.Unmarshal(h.Config()["agent"], &agents); err != nil {
			return err.Error()
		}
		return fmt.Sprint(len(agents) >= 7) + " " + toolNames(h, "opencode-swarm")
	}, "true detect_domains extract_code_blocks gitingest"},
	{"opencode-sonarqube", func(t *testing.T, _ *rig, h *host.Host) string { return toolNames(h, "opencode-sonarqube") }, "sonarqube"},
	{"opencode-supermemory", func(t *testing.T, _ *rig, h *host.Host) string {
		return fmt.Sprint(hooksOf(h, "opencode-supermemory"))
	}, "[chat.message event]"},
	{"@different-ai/opencode-browser", func(t *testing.T, _ *rig, h *host.Host) string {
		return fmt.Sprint(len(strings.Fields(toolNames(h, "@different-ai/opencode-browser"))) >= 20)
	}, "true"},
	{"opencode-lmstudio", func(t *testing.T, _ *rig, h *host.Host) string { return fmt.Sprint(hooksOf(h, "opencode-lmstudio")) }, "[chat.params event]"},
}

func one(h *host.Host, name string) host.Plugin {
	for _, p := range h.Plugins() {
		if p.Name == name {
			return p
		}
	}
	return host.Plugin{}
}

func hooksOf(h *host.Host, name string) []string { return one(h, name).Hooks }

func toolNames(h *host.Host, name string) string {
	var names []string
	for _, t := range one(h, name).Tools {
		names = append(names, t.ID)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func logins(h *host.Host, name string) string {
	var out []string
	for _, l := range one(h, name).Auth {
		out = append(out, l.Provider)
	}
	return strings.Join(out, " ")
}

func methods(h *host.Host, name string) int {
	n := 0
	for _, l := range one(h, name).Auth {
		n += len(l.Methods)
	}
	return n
}

// Published plugins run as they are, all in one process.
func TestPublishedPlugins(t *testing.T) { publishedPlugins(t, func(*rig) {}, nil) }

// Some of them do not work where their process is confined, because they change files in
// the home directory when they start. That is why the person's own plugins are not confined
// unless they say so.
func TestPublishedPluginsConfined(t *testing.T) {
	if sandbox.Detect() == sandbox.RulesOnly {
		t.Skip("nothing confines here: " + sandbox.Missing())
	}
	publishedPlugins(t, func(r *rig) {
		box := sandbox.NewBox(sandbox.Options{})
		t.Cleanup(func() { _ = box.Close() })
		runner := shell.New(shell.Options{})
		t.Cleanup(func() { _ = runner.Close() })
		home := filepath.Join(r.dir, "home")
		if err := os.MkdirAll(filepath.Join(home, ".config"), 0o700); err != nil {
			t.Fatal(err)
		}
		r.o.Env = append(r.o.Env, "HOME="+home)
		policy := sandbox.Policy{
			Write: []string{r.dir}, Hide: []string{r.o.Data}, Lasting: true,
			Protect: func() []string { return []string{home} },
		}
		r.o.Runner = runner.Confined(func(shell.Kind) (*sandbox.Box, sandbox.Policy) { return box, policy })
	}, []string{"@tarquinen/opencode-dcp", "opencode-supermemory", "@different-ai/opencode-browser"})
}

func publishedPlugins(t *testing.T, set func(*rig), broken []string) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`[]`))
	})
	each(t, func(t *testing.T, r *rig) {
		set(r)
		r.o.Door = client.InProcess(mux)
		skill := filepath.Join(r.dir, ".opencode", "skills", "a-skill", "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(skill), 0o700); err != nil {
			t.Fatal(err)
		}
		front := "---\nname: a-skill\ndescription: shows that skills of plugins are found here\n---\ndo it\n"
		if err := os.WriteFile(skill, []byte(front), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range published {
			file, err := host.Entry(filepath.Join(npm(t), "node_modules", filepath.FromSlash(p.name)))
			if err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
			r.sources = append(r.sources, host.Source{Name: p.name, Kind: "plugin", Spec: file, File: file})
		}
		h := r.start(`{}`)
		var bad []string
		for _, p := range published {
			if one(h, p.name).Error != "" {
				bad = append(bad, p.name)
			}
		}
		if diff := cmp.Diff(broken, bad); diff != "" {
			t.Errorf("not working (-want +got):\n%s%s", diff, r.said())
		}
		for _, p := range published {
			if slices.Contains(broken, p.name) {
				continue
			}
			if diff := cmp.Diff(p.want, p.effect(t, r, h)); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%+v", p.name, diff, one(h, p.name).Late)
			}
		}
		c := r.chain(h)
		_ = c.System(context.Background(), plugin.SystemInput{SessionID: said.SessionID}, []string{"one"})
		c.Event(context.Background(), lathe.Envelope{Event: lathe.SessionStatus{SessionID: said.SessionID, Status: lathe.Idle{}}})
		h.Settle(DefaultWait)
	})
}

// DefaultWait is how long a test waits for what takes no time.
const DefaultWait = host.DefaultLimit
