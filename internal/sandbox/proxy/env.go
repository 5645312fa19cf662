package proxy

import (
	"net"
	"net/url"
	"strings"
)

// Variable is the variable by which lathe itself finds a command's proxy; see [Connect].
const Variable = "LATHE_PROXY"

// near is never sent to the proxy: servers that the command starts itself.
const near = "localhost,127.0.0.1,::1,.localhost"

// silent are the variables that stop programs from sending telemetry, so that nobody is
// asked about that.
var silent = []string{
	"DO_NOT_TRACK", "CHECKPOINT_DISABLE", "DOTNET_CLI_TELEMETRY_OPTOUT", "NEXT_TELEMETRY_DISABLED", "ASTRO_TELEMETRY_DISABLED",
	"GATSBY_TELEMETRY_DISABLED", "NUXT_TELEMETRY_DISABLED", "STORYBOOK_DISABLE_TELEMETRY", "TURBO_TELEMETRY_DISABLED",
	"HOMEBREW_NO_ANALYTICS", "SAM_CLI_TELEMETRY", "AZURE_CORE_COLLECT_TELEMETRY",
}

// Env returns the variables that lead programs to a proxy. Self is the command line that
// connects standard input and output to a host and a port behind it, for ssh; if empty,
// ssh is left alone. get returns a variable's present value.
func Env(at *url.URL, self []string, get func(string) string) map[string]string {
	address := at.String()
	env := map[string]string{
		Variable: address,
		// Only addresses of HTTP proxies: a client that cannot speak SOCKS
		// refuses to start if it finds one here.
		"ALL_PROXY": address, "all_proxy": address,
		"HTTP_PROXY": address, "http_proxy": address,
		"HTTPS_PROXY": address, "https_proxy": address,
		"NO_PROXY": near, "no_proxy": near,
		"NODE_USE_ENV_PROXY": "1", // otherwise Node's own fetch and http ignore these variables
		"YARN_HTTP_PROXY":    address, "YARN_HTTPS_PROXY": address,
	}
	for _, name := range silent {
		switch {
		case get(name) != "":
		case name == "SAM_CLI_TELEMETRY" || name == "AZURE_CORE_COLLECT_TELEMETRY": // these mean yes, not no
			env[name] = "0"
		default:
			env[name] = "1"
		}
	}
	if at.User == nil { // Java has no place for a user name
		for _, name := range []string{"MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS"} {
			env[name] = strings.TrimSpace(get(name) + " " + javaOptions(at))
		}
	}
	if len(self) > 0 {
		ssh := get("GIT_SSH_COMMAND")
		if ssh == "" {
			ssh = "ssh"
		}
		env["GIT_SSH_COMMAND"] = ssh + ` -o ` + quote("ProxyCommand="+quoteAll(self)+" %h %p")
	}
	return env
}

func javaOptions(at *url.URL) string {
	host, port, err := net.SplitHostPort(at.Host)
	if err != nil {
		return ""
	}
	var out []string
	for _, scheme := range []string{"http", "https"} {
		out = append(out, "-D"+scheme+".proxyHost="+host, "-D"+scheme+".proxyPort="+port)
	}
	return strings.Join(append(out, "-Dhttp.nonProxyHosts='localhost|127.*|[::1]'"), " ")
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(strings.ReplaceAll(w, "%", "%%"))
	}
	return strings.Join(quoted, " ")
}

// quote turns a text into one word for a shell.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-=+,@", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
