package instance

import (
	"slices"
	"strings"

	"lathe/internal/shell"
)

// unattended is set for every command: nobody can answer it, so no editor, pager or
// prompt may wait. "true" as the editor leaves a text unchanged.
var unattended = map[string]string{
	"LATHE": "1", "OPENCODE": "1", "AGENT": "1",
	"TERM":  "dumb",
	"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "GH_PAGER": "cat", "SYSTEMD_PAGER": "cat", "AWS_PAGER": "",
	"EDITOR": "true", "VISUAL": "true", "GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true", "GIT_MERGE_AUTOEDIT": "no",
	"GIT_TERMINAL_PROMPT": "0", "GCM_INTERACTIVE": "never", "SSH_ASKPASS_REQUIRE": "never", "GH_PROMPT_DISABLED": "1",
	"DEBIAN_FRONTEND": "noninteractive", "GPG_TTY": "",
}

// commandEnv returns the environment of commands: the person's, without the keys of
// providers, and set up so that nothing waits for input. Variables named in
// keep_env stay as they are.
func (i *Instance) commandEnv(o Options) []string {
	hidden := map[string]bool{}
	for _, name := range append(i.Models.KeyVariables(), i.Config.SecretVariables(o.Getenv)...) {
		hidden[name] = true
	}
	extra := make(map[string]string, len(unattended))
	for name, value := range unattended {
		if o.Getenv(name) == "" || !shell.Named(name, i.Config.KeepEnv) {
			extra[name] = value
		}
	}
	base := slices.DeleteFunc(slices.Clone(o.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return hidden[name] && !shell.Named(name, i.Config.KeepEnv)
	})
	if dir := i.Shell.Scratch; dir != "" {
		extra["LATHE_SCRATCH"] = dir
	}
	return shell.Env(base, extra, o.Secrets...)
}
