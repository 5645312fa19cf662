package judge

import (
	"strings"

	"lathe"
)

// in reports whether a blank-separated list has the word. The lists are
// constants, so that they cost nothing at start.
func in(word, list string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(" "+list+" ", " "+word+" ")
}

const (
	arity1 = "cat cd chmod chown cp echo env export grep kill killall ln ls mkdir mv ps pwd rm rmdir sleep source tail touch unset which"
	arity2 = "bazel brew bun cargo cdk cf cmake composer consul crictl deno docker eksctl firebase flyctl git go gradle helm heroku hugo " +
		"ip kind kubectl kustomize make mc minikube mongosh mysql mvn ng npm nvm nx openssl pip pipenv pnpm poetry podman psql pulumi pyenv " +
		"python rake rbenv redis-cli rustup serverless skaffold sls sst swift systemctl terraform tmux turbo ufw vault vercel volta wp yarn"
	arity3     = "aws az doctl gcloud gh sfdx"
	arity3Pair = "bun/run bun/x cargo/add cargo/run consul/kv deno/task docker/builder docker/compose docker/container docker/image " +
		"docker/network docker/volume eksctl/create git/config git/remote git/stash ip/addr ip/link ip/netns ip/route kind/create " +
		"kubectl/kustomize kubectl/rollout mc/admin npm/exec npm/init npm/run npm/view openssl/req openssl/x509 pnpm/dlx pnpm/exec pnpm/run " +
		"podman/container podman/image pulumi/stack terraform/workspace vault/auth vault/kv yarn/dlx yarn/run"
)

// arity returns how many leading words say what a command does.
func arity(words []field) int {
	name := words[0].text
	if len(words) > 1 && in(name+"/"+words[1].text, arity3Pair) || in(name, arity3) {
		return 3
	}
	if in(name, arity2) {
		return 2
	}
	return 1 // arity1 and all others
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

// inert reports whether a command can, whatever its words are, neither write a
// file nor run anything.
func inert(name string) bool {
	return in(name, "echo true false : wc cat head tail grep egrep fgrep zgrep ls stat basename dirname realpath readlink du df cut nl rev "+
		"cmp md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum seq expr sleep uname whoami id which type pwd tac column paste "+
		"comm join fold strings od hexdump jq exit return break continue shift cd pushd popd diff nproc free uptime tr groups tty arch "+
		"printenv dirs times basenc base64 base32 sum")
}

// runsByOption lists commands with options that run programs of any name.
func runsByOption(name string) bool {
	return in(name, "tar bsdtar gtar rsync rg ripgrep sort gsort fd fdfind scp sftp ssh man split zip find gfind bfs sed gsed awk gawk mawk nawk")
}

// wildcardRisk lists commands with options that run programs and are given where
// files are.
func wildcardRisk(name string) bool { return in(name, "tar rsync zip 7z 7za scp ssh") }

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
