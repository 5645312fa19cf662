package redact

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Endings of the last word of a variable's name that say that it holds a credential:
// GITHUB_TOKEN, npm_config__authToken, PGPASSWORD.
var secretEndings = []string{"TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIAL", "CREDENTIALS"}

// secretWords do so as a whole word after another: STRIPE_KEY, DB_PASS, not COMPASS.
var secretWords = []string{"KEY", "PASS", "PWD", "PAT"}

// knownNames are credentials although their names do not end like one.
var knownNames = []string{"AWS_ACCESS_KEY_ID", "SSHPASS", "MYSQL_PWD", "REDISCLI_AUTH", "COMPOSER_AUTH", "NPM_CONFIG__AUTH", "DOCKER_AUTH_CONFIG"}

// knownBeginnings begin such names.
var knownBeginnings = []string{"TF_TOKEN_"}

// secretSettings say in a value of several settings that one of them is a credential, as
// in connections to databases and queues.
var secretSettings = []string{"accountkey=", "sharedaccesskey=", "sharedaccesssignature=", "password=", "pwd="}

// plainKeys are words before KEY by which it is no secret: GPG_KEY names one (container
// images set it), OLD_PWD is a directory.
var plainKeys = []string{"PUBLIC", "PUBLISHABLE", "PRIMARY", "FOREIGN", "SORT", "CACHE", "PARTITION", "HOST", "COMPOSE", "GPG", "OLD"}

// secretPrefixes begin the values of well-known kinds of credentials.
var secretPrefixes = []string{
	"sk-", "sk_live_", "sk_test_", "rk_live_", "pk-lf-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xoxe-", "xapp-",
	"AKIA", "ASIA", "AIza", "ya29.", "hf_", "npm_", "pypi-", "dop_v1_", "SG.", "eyJhbGciOi", "-----BEGIN ", "AGE-SECRET-KEY-", "Bearer ",
}

// longSecret is how long a value is at least that counts by its beginning.
const longSecret = 20

// Variable reports whether a variable of the environment looks like a credential, by its
// name or its value. Switches and the names of files do not, whatever they are called,
// nor do addresses with a password that lead to this machine or a name without a dot, as
// databases for development have.
func Variable(name, value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "1", "true", "false", "yes", "no", "on", "off":
		return false
	}
	if len(value) >= longSecret && slices.ContainsFunc(secretPrefixes, func(p string) bool { return strings.HasPrefix(value, p) }) {
		return true
	}
	if strings.Contains(value, ";") && slices.ContainsFunc(secretSettings, func(s string) bool { return strings.Contains(strings.ToLower(value), s) }) {
		return true
	}
	if strings.Contains(value, "://") {
		return carriesPassword(name, value)
	}
	return secretVariable(strings.ToUpper(name)) && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "~/")
}

func secretVariable(name string) bool {
	if slices.Contains(knownNames, name) || slices.ContainsFunc(knownBeginnings, func(b string) bool { return strings.HasPrefix(name, b) }) {
		return true
	}
	at := strings.LastIndexAny(name, "_-.:")
	last, before := name[at+1:], ""
	if at > 0 {
		before = name[:at]
		before = before[strings.LastIndexAny(before, "_-.:")+1:]
	}
	if slices.ContainsFunc(secretEndings, func(end string) bool { return strings.HasSuffix(last, end) }) {
		return true
	}
	return before != "" && slices.Contains(secretWords, last) && !slices.Contains(plainKeys, before)
}

// fetched are variables by which package managers and others fetch: their addresses may
// carry a password, without which nothing of the project can be installed.
var fetched = []string{"PROXY", "INDEX", "URLS", "REGISTRY", "GOPROXY", "MIRROR"}

func carriesPassword(name, value string) bool {
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	if _, has := u.User.Password(); !has {
		return false
	}
	name = strings.ToUpper(name)
	if slices.ContainsFunc(fetched, func(word string) bool { return strings.Contains(name, word) }) {
		return false
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.IsLoopback()
	}
	return strings.Contains(host, ".")
}
