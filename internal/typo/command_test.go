package typo

import "testing"

// commands are those of lathe, and what people type instead of them.
var commands = []string{
	"acp", "agent", "attach", "auth", "commands", "completion", "config", "context", "db", "debug", "doctor", "export", "help", "import", "job", "learn", "lsp", "mcp", "models",
	"permissions", "plugin", "review", "run", "search", "serve", "session", "share", "skills", "stats", "trust", "tui", "unshare", "upgrade", "web", "worker", "workers", "worktree",
}

func TestCommand(t *testing.T) {
	for word, want := range map[string]string{
		"rn": "run", "ru": "run", "runn": "run", "urn": "run", "rnu": "run", "Run": "run",
		"modles": "models", "modls": "models", "model": "models", "moedls": "models", "mdoels": "models",
		"sesion": "session", "sessoin": "session", "ses": "session", "sessions": "session", "confg": "config", "cofnig": "config",
		"contxt": "context", "doctr": "doctor", "docotr": "doctor", "exprot": "export", "improt": "import", "serach": "search", "sever": "serve", "srve": "serve",
		"tust": "trust", "trsut": "trust", "wrktree": "worktree", "worktre": "worktree", "pluign": "plugin", "plugni": "plugin", "hlep": "help", "hep": "help",
		"stat": "stats", "sats": "stats", "shre": "share", "skill": "skills", "aget": "agent", "agnet": "agent", "atach": "attach", "perm": "permissions", "autth": "auth", "revew": "review",
		"jbo": "job", "mpc": "mcp", "lps": "lsp", "wbe": "web", "bd": "db",
		"x": "", "explain": "", "hello": "", "fix": "", "build": "", "zzzz": "", "": "", "install": "", "chat": "",
	} {
		if got := Command(word, commands); got != want {
			t.Errorf("%q is %q, not %q", word, got, want)
		}
	}
}

// Each command is found from each slip in it: a letter too few, one twice, two in the wrong order.
func TestCommandFromSlips(t *testing.T) {
	for _, name := range commands {
		if len(name) < 4 {
			continue
		}
		for i := range name {
			slips := []string{name[:i] + name[i+1:], name[:i] + name[i:i+1] + name[i:]}
			if i > 0 {
				slips = append(slips, name[:i-1]+name[i:i+1]+name[i-1:i]+name[i+1:])
			}
			for _, word := range slips {
				if got := Command(word, commands); got != name && Distance(word, got) > Distance(word, name) {
					t.Errorf("%q is %q, not %q", word, got, name)
				}
			}
		}
	}
}

func FuzzCommand(f *testing.F) {
	f.Add("rn")
	f.Fuzz(func(t *testing.T, word string) { Command(word, commands) })
}
