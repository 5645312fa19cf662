package mcp

import (
	"net/url"
	"strings"
)

// shortestSecret is the length from which a value is looked for in texts: shorter ones
// occur by chance.
const shortestSecret = 6

// hide removes from a text what the server's configuration keeps secret: values of its
// environment and headers, and what its address holds besides the path. Errors of
// libraries and programs may contain these.
func (s *server) hide(text string) string {
	if s.conf.URL != "" {
		text = strings.ReplaceAll(text, s.conf.URL, Where(s.conf))
	}
	for _, secret := range s.secrets() {
		if len(secret) >= shortestSecret {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}

func (s *server) secrets() []string {
	out := []string{s.conf.OAuth.ClientSecret}
	for _, v := range s.conf.Environment {
		out = append(out, v)
	}
	for _, v := range s.conf.Headers {
		out = append(out, v, strings.TrimPrefix(v, "Bearer "))
	}
	u, err := url.Parse(s.conf.URL)
	if err != nil {
		return out
	}
	if pw, ok := u.User.Password(); ok {
		out = append(out, pw)
	}
	for _, values := range u.Query() {
		out = append(out, values...)
	}
	return out
}
