package instance

import (
	"strings"

	"lathe/internal/redact"
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
// providers and what else looks like a secret, and set up so that nothing waits for
// input. Variables named in keep_env stay as they are. What looks like a secret is there
// in the environment of the person's own commands.
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
	if dir := i.Shell.Scratch; dir != "" {
		extra["LATHE_SCRATCH"] = dir
	}
	var base, own []string
	for _, kv := range o.Environ {
		name, value, _ := strings.Cut(kv, "=")
		kept := shell.Named(name, i.Config.KeepEnv)
		if kept || !hidden[name] {
			own = append(own, kv)
		}
		if kept || !hidden[name] && !redact.Variable(name, value) {
			base = append(base, kv)
		} else if !shell.Named(name, o.Secrets) {
			i.Shell.HeldBack = append(i.Shell.HeldBack, name)
		}
	}
	i.Shell.Own = shell.Env(own, extra, o.Secrets...)
	return shell.Env(base, extra, o.Secrets...)
}
