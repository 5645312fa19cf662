package screen

import (
	"testing"

	"github.com/spf13/cobra"

	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/jsonc"
)

// TestKindOfScreen holds which screen is shown: what the flags say, then the environment, then
// the configuration.
func TestKindOfScreen(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags []string
		env   map[string]string
		conf  string
		want  screenKind
	}{
		{"nothing said", nil, nil, "", fullScreen},
		{"flag", []string{"--accessible"}, nil, "", plainLines},
		{"older flag", []string{"--screen-reader"}, nil, "", plainLines},
		{"variable", nil, map[string]string{"LATHE_ACCESSIBLE": "1"}, "", plainLines},
		{"older variable", nil, map[string]string{"LATHE_SCREEN_READER": "1"}, "", plainLines},
		{"setting", nil, nil, `{"accessible": true}`, plainLines},
		{"older setting", nil, nil, `{"screen_reader": true}`, plainLines},
		{"setting that is off", nil, nil, `{"accessible": false}`, fullScreen},
		{"setting that is no yes or no", nil, nil, `{"accessible": "yes"}`, fullScreen},
		{"terminal that can do nothing", nil, map[string]string{"TERM": "dumb"}, "", plainLines},
		{"inline", []string{"--inline"}, nil, "", inlineScreen},
		{"inline by the environment", nil, map[string]string{"LATHE_INLINE": "1"}, "", inlineScreen},
		{"inline by the configuration", nil, nil, `{"inline": true}`, inlineScreen},
		{"a flag before the environment", []string{"--inline"}, map[string]string{"LATHE_ACCESSIBLE": "1"}, "", inlineScreen},
		{"the environment before the configuration", nil, map[string]string{"LATHE_INLINE": "1"}, `{"accessible": true}`, inlineScreen},
		{"both settings", nil, nil, `{"inline": true, "accessible": true}`, plainLines},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o Options
			cmd := &cobra.Command{}
			AddFlags(cmd, &o)
			if err := cmd.ParseFlags(tt.flags); err != nil {
				t.Fatal(err)
			}
			conf := &config.Config{}
			if tt.conf != "" {
				v, err := jsonc.Parse("tui", []byte(tt.conf))
				if err != nil {
					t.Fatal(err)
				}
				conf.TUI = v
			}
			env := &console.Env{Getenv: func(name string) string { return tt.env[name] }}
			if got := kindOfScreen(env, o, conf); got != tt.want {
				t.Errorf("kind %d, want %d", got, tt.want)
			}
		})
	}
}
