package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

const deploy = "../../deploy"

func deployed(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(deploy, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// documents are those of a YAML file.
func documents(t *testing.T, name string) (all []map[string]any) {
	t.Helper()
	for text := range strings.SplitSeq(deployed(t, name), "\n---\n") {
		var doc map[string]any
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, doc)
	}
	return all
}

// knows fails the test for a flag that a command of lathe does not have.
func knows(t *testing.T, where string, args []string) {
	t.Helper()
	help := newWorld(t).must(newWorld(t).run(args[0], "--help"))
	for _, a := range args[1:] {
		if strings.HasPrefix(a, "--") && !strings.Contains(help, a+" ") {
			t.Errorf("%s: lathe %s has no %s", where, args[0], a)
		}
	}
}

// commands returns the commands of lathe in a document.
func commands(doc any) (all [][]string) {
	switch v := doc.(type) {
	case map[string]any:
		for _, child := range v {
			all = append(all, commands(child)...)
		}
	case []any:
		var args []string
		for _, child := range v {
			all = append(all, commands(child)...)
			if s, ok := child.(string); ok {
				args = append(args, s)
			}
		}
		if len(args) > 0 && (args[0] == "serve" || args[0] == "worker") {
			all = append(all, args)
		}
	}
	return all
}

// What is given for running lathe is read by what it is for, as far as that is here, and
// names flags and figures that there are.
func TestDeploy(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"compose.yaml", "kubernetes/lathe.yaml"} {
		n := 0
		for _, doc := range documents(t, name) {
			for _, c := range commands(doc) {
				n++
				knows(t, name, c)
			}
			if name != "compose.yaml" && (doc["apiVersion"] == nil || doc["kind"] == nil || doc["spec"] == nil || doc["metadata"] == nil) {
				t.Errorf("%s: no manifest: %v", name, doc)
			}
		}
		if n < 2 {
			t.Errorf("%s: %d commands", name, n)
		}
	}
	services := documents(t, "compose.yaml")[0]["services"].(map[string]any)
	for _, name := range []string{"db", "server", "worker", "caddy"} {
		if s, ok := services[name].(map[string]any); !ok || s["image"] == nil {
			t.Errorf("compose.yaml: service %s is %v", name, services[name])
		}
	}
	units := []string{"systemd/lathe.service", "systemd/lathe-worker.service"}
	for _, name := range units {
		_, line, ok := strings.Cut(deployed(t, name), "ExecStart=/usr/local/bin/lathe ")
		if !ok {
			t.Fatalf("%s starts no lathe", name)
		}
		line, _, _ = strings.Cut(line, "\n")
		knows(t, name, strings.Fields(line))
	}
	for _, conf := range []string{"nginx.conf", "Caddyfile"} {
		if text := deployed(t, conf); !strings.Contains(text, "proxy_buffering off") && !strings.Contains(text, "flush_interval -1") {
			t.Errorf("%s buffers events", conf)
		}
	}
	t.Run("programs", func(t *testing.T) { deployPrograms(t, units) })
}

// installed reports whether a program is here, which CI sees to (.ci/deploy).
func installed(t *testing.T, name string) bool {
	t.Helper()
	_, err := exec.LookPath(name)
	switch {
	case err == nil:
		return true
	case os.Getenv("LATHE_TEST_DEPLOY") != "" && name != "systemd-analyze":
		t.Errorf("%s is not installed here", name)
	default:
		t.Logf("%s is not installed here", name)
	}
	return false
}

// deployPrograms has the programs check what they read.
func deployPrograms(t *testing.T, units []string) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	check := func(args ...string) {
		t.Helper()
		if !installed(t, args[0]) {
			return
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", args[0], err, out)
		}
	}
	for _, name := range units {
		text := strings.ReplaceAll(deployed(t, name), "/usr/local/bin/lathe", "/bin/true")
		check("systemd-analyze", "verify", write(filepath.Base(name), text))
	}
	check("nginx", "-t", "-c", write("nginx.conf", "events {}\npid "+dir+"/pid;\nerror_log stderr;\nhttp { access_log off; client_body_temp_path "+dir+"/b; proxy_temp_path "+dir+"/p;\n"+deployed(t, "nginx.conf")+"}\n"))
	for _, name := range []string{"lathe-password", "metrics-password"} {
		write(name, "sesame")
	}
	check("promtool", "check", "config", write("prometheus.yml", deployed(t, "prometheus.yml")))
	check("caddy", "validate", "--adapter", "caddyfile", "--config", write("Caddyfile", deployed(t, "Caddyfile")))
}

// The dashboard shows figures that there are.
func TestDashboard(t *testing.T) {
	text, panels := deployed(t, "grafana.json"), dashboard(t)
	var sources strings.Builder
	for _, path := range []string{"../../internal/metrics/metrics.go", "../../internal/cli/app/metrics.go"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(b)
	}
	var shown []string
	for _, name := range regexp.MustCompile(`lathe_[a-z_]+`).FindAllString(text, -1) {
		name = strings.TrimSuffix(name, "_bucket")
		if !slices.Contains(shown, name) {
			shown = append(shown, name)
		}
		if !strings.Contains(sources.String(), `"`+name+`"`) {
			t.Errorf("%s is not counted", name)
		}
	}
	if len(shown) < 15 || len(panels) < 8 {
		t.Errorf("it shows %q", shown)
	}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, panel := range panels {
		for j, target := range panel.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h").Replace(target.Expr)
			if expr == "" || strings.Contains(expr, "$__") {
				t.Errorf("%s asks %q", panel.Title, target.Expr)
			}
			fmt.Fprintf(&rules, "  - {record: 'panel_%d_%d', expr: %s}\n", i, j, strconv.Quote(expr))
		}
	}
	if !installed(t, "promtool") {
		return
	}
	cmd := exec.Command("promtool", "check", "rules", "/dev/stdin")
	cmd.Stdin = strings.NewReader(rules.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("Prometheus does not take its queries: %v\n%s\n%s", err, out, rules.String())
	}
}
