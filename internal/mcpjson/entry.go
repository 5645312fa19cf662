package mcpjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"sync"

	"lathe/internal/config"
)

// entry is a server as these files write it.
type entry struct {
	Type          string            `json:"type"`
	Command       string            `json:"command"`
	Args          []string          `json:"args"`
	Env           map[string]string `json:"env"`
	Cwd           string            `json:"cwd"`
	URL           string            `json:"url"`
	Headers       map[string]string `json:"headers"`
	HeadersHelper string            `json:"headersHelper"`
	Timeout       int               `json:"timeout"`
	Disabled      bool              `json:"disabled"`
	OAuth         struct {
		ClientID     string `json:"clientId"`
		CallbackPort int    `json:"callbackPort"`
	} `json:"oauth"`
}

// parse reads one server. Variables stay as they are written.
func parse(name string, raw json.RawMessage) (config.MCP, error) {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return config.MCP{}, fmt.Errorf("%q should not be a JSON %s", wrong.Field, wrong.Value)
		}
		return config.MCP{}, errors.New("it is not an object")
	}
	c := config.MCP{Name: name, Timeout: max(e.Timeout, 0)}
	if e.Disabled {
		c.Enabled = new(false)
	}
	kind := e.Type
	if kind == "" && e.Command == "" && e.URL != "" {
		kind = "http"
	}
	switch cmp.Or(kind, "stdio") {
	case "stdio", "local":
		if e.Command == "" {
			return c, errors.New(`it has no "command"`)
		}
		c.Type, c.Command, c.Environment, c.Cwd = "local", append([]string{e.Command}, e.Args...), e.Env, e.Cwd
	case "http", "sse", "streamable-http", "streamableHttp", "remote":
		if e.URL == "" {
			return c, errors.New(`it has no "url"`)
		}
		if e.HeadersHelper != "" {
			return c, errors.New(`"headersHelper" is not supported: write "headers"`)
		}
		c.Type, c.URL, c.Headers = "remote", e.URL, e.Headers
		c.OAuth.ClientID, c.OAuth.CallbackPort = e.OAuth.ClientID, max(e.OAuth.CallbackPort, 0)
	default:
		return c, fmt.Errorf("its type %q is not supported", e.Type)
	}
	return c, nil
}

// variable is ${NAME} or ${NAME:-what it is without one}.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`) })

// expand fills in the variables of a server. CLAUDE_PROJECT_DIR is the project's directory
// where nothing else is set.
func (w Where) expand(c config.MCP, dir string) (config.MCP, error) {
	var missing string
	fill := func(text string) string {
		return variable().ReplaceAllStringFunc(text, func(found string) string {
			m := variable().FindStringSubmatch(found)
			value := w.Getenv(m[1])
			switch {
			case value != "":
				return value
			case m[2] != "":
				return m[2][len(":-"):]
			case m[1] == "CLAUDE_PROJECT_DIR":
				return dir
			}
			missing = m[1]
			return ""
		})
	}
	all := func(in map[string]string) map[string]string {
		out := maps.Clone(in)
		for k, v := range out {
			out[k] = fill(v)
		}
		return out
	}
	out := c
	out.Command = make([]string, len(c.Command))
	for i, word := range c.Command {
		out.Command[i] = fill(word)
	}
	out.Cwd, out.URL, out.Environment, out.Headers = fill(c.Cwd), fill(c.URL), all(c.Environment), all(c.Headers)
	if missing != "" {
		return c, fmt.Errorf("the variable %s is not set, and it has no default (${%s:-…})", missing, missing)
	}
	return out, nil
}
