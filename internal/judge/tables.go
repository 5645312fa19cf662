package judge

import (
	"strings"

	"lathe"
)

// in reports whether a blank-separated list has the word.
func in(word, list string) bool {
	if word == "" || strings.Contains(word, " ") {
		return false
	}
	for from := 0; ; {
		i := strings.Index(list[from:], word)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(word)
		if (begin == 0 || list[begin-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		from = begin + 1
	}
}

// arity returns how many leading words say what a command does.
func arity(words []field) int {
	p := lookup(words[0].text)
	if len(words) > 1 && p.always[words[1].text] > 0 {
		return p.always[words[1].text]
	}
	return max(p.always[""], 1)
}

// alwaysPattern is the pattern that allows the like of a command from then on. A
// wildcard in the words stays a character.
func alwaysPattern(words []field) string {
	n := min(arity(words), len(words))
	for _, f := range words[:n] {
		if !f.known || f.glob {
			return ""
		}
	}
	return lathe.LiteralPattern(joinWords(words[:n])) + " *"
}

// steers reports whether a variable changes what later commands do.
func steers(name string, f field) bool {
	if f.known && harmlessValue(name, f.text) {
		return false
	}
	if in(name, "PATH IFS ENV BASH_ENV SHELL SHELLOPTS BASHOPTS PS4 PS0 PROMPT_COMMAND CDPATH GLOBIGNORE FPATH ZDOTDIR HOME EDITOR VISUAL "+
		"PAGER BROWSER LESSOPEN LESSCLOSE LESS MANPAGER MANOPT MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES PERL5OPT PERL5LIB PERLLIB PERL5DB "+
		"RUBYOPT RUBYLIB PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONWARNINGS PYTHONBREAKPOINT NODE_OPTIONS NODE_PATH "+
		"JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH GOFLAGS GOTOOLCHAIN GOPROXY GOENV GOROOT CC CXX LD AR AS FC CPP TAR_OPTIONS TAPE RSYNC_RSH "+
		"CVS_RSH SSH_ASKPASS SUDO_ASKPASS RUSTC RUSTFLAGS GREP_OPTIONS RIPGREP_CONFIG_PATH JQ_LIBRARY_PATH AWKPATH AWKLIBPATH GCONV_PATH "+
		"LOCPATH NLSPATH TERMINFO TERMCAP HOSTALIASES XDG_CONFIG_HOME XDG_DATA_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS DOCKER_HOST DOCKER_CONFIG "+
		"KUBECONFIG BASH_LOADABLES_PATH EXECIGNORE POSIXLY_CORRECT TMPPREFIX READNULLCMD NULLCMD WGETRC CURL_HOME INPUTRC FCEDIT HISTFILE "+
		"OPENSSL_CONF SSL_CERT_FILE http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY PHPRC PHP_INI_SCAN_DIR LUA_INIT "+
		"LUA_PATH LUA_CPATH R_PROFILE R_PROFILE_USER TCLLIBPATH ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ELIXIR_ERL_OPTIONS DENO_CONFIG PSQLRC "+
		"path fpath cdpath aliases functions commands precmd_functions preexec_functions chpwd_functions") {
		return true
	}
	if in(name, "PS1 PS2 PS3 PROMPT RPROMPT PROMPT2 PROMPT3 PROMPT4") && (!f.known || strings.Contains(f.text, "$(") || strings.Contains(f.text, "${") || strings.Contains(f.text, "`")) {
		return true
	}
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_", "CARGO_", "npm_config_", "NPM_CONFIG_", "YARN_", "PNPM_", "PIP_", "BUNDLE_", "LUA_INIT_", "GLIBC_", "MALLOC_", "LATHE_", "OPENCODE_", "BASH_ALIASES", "BASH_CMDS", "UV_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{"_PAGER", "_EDITOR", "_COMMAND", "_CMD", "_OPTS", "_OPTIONS", "_WRAPPER", "_SHELL", "_ASKPASS", "_PRELOAD", "_BROWSER", "_RSH", "_RUNNER", "_LAUNCHER"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// harmlessValue lists everyday settings of variables that could do more.
func harmlessValue(name, text string) bool {
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "AWS_PAGER":
		return text == "" || text == "cat"
	case "GIT_EDITOR", "EDITOR", "GIT_SEQUENCE_EDITOR":
		return text == "true" || text == ":"
	case "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_LFS_SKIP_SMUDGE", "CARGO_TERM_COLOR", "CARGO_INCREMENTAL", "CARGO_NET_OFFLINE":
		return in(text, "0 1 true false always never auto")
	case "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE":
		return true
	case "NODE_OPTIONS":
		size, ok := strings.CutPrefix(text, "--max-old-space-size=")
		return ok && isNumber(size)
	case "GOFLAGS":
		return in(text, "-mod=mod -mod=vendor -mod=readonly -count=1 -race -v")
	case "GOPROXY", "GOTOOLCHAIN":
		return in(text, "off local")
	case "POSIXLY_CORRECT":
		return true
	}
	return false
}
