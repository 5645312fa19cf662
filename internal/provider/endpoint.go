package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/anthropic"
	"lathe/internal/llm/google"
	"lathe/internal/llm/openai"
	"lathe/internal/llm/openaichat"
)

// protocols maps OpenCode's adapter names to wire formats. A name that is
// missing is spoken to as Chat Completions when its address is known.
var protocols = sync.OnceValue(func() map[string]Protocol {
	return map[string]Protocol{
		npmAnthropic:           ProtocolAnthropic,
		npmVertexAnth:          "",
		npmOpenAI:              ProtocolOpenAI,
		npmAzure:               ProtocolOpenAI,
		npmBedrock + "/mantle": ProtocolOpenAI,
		npmGoogle:              ProtocolGoogle,
		npmVertex:              "",
		npmBedrock:             "",
	}
})

// needs says what adapters without a protocol are missing.
var needs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		npmVertexAnth: "Google Cloud credentials are not supported yet",
		npmVertex:     "Google Cloud credentials are not supported yet",
		npmBedrock:    "the Bedrock Converse protocol is not supported yet",
	}
})

// protocolRows are models whose protocol is not that of their adapter name.
var protocolRows = []struct {
	match
	protocol Protocol
}{
	{match{providers: []string{"github-copilot"}, ids: gpt5, not: []string{"gpt-5-mini"}}, ProtocolOpenAI},
}

// addresses are base URLs that the catalogue leaves to a vendor's own SDK, by
// provider, or by provider and adapter name. An empty address means that of the
// protocol. A key is never sent to an address that is neither here, nor in the
// catalogue, nor configured.
var addresses = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"anthropic":             "",
		"openai":                "",
		"google":                "",
		"xai":                   "https://api.x.ai/v1",
		"mistral":               "https://api.mistral.ai/v1",
		"groq":                  "https://api.groq.com/openai/v1",
		"cerebras":              "https://api.cerebras.ai/v1",
		"togetherai":            "https://api.together.xyz/v1",
		"deepinfra":             "https://api.deepinfra.com/v1/openai",
		"perplexity":            "https://api.perplexity.ai",
		"cohere":                "https://api.cohere.ai/compatibility/v1",
		"vercel":                "https://ai-gateway.vercel.sh/v1",
		"v0":                    "https://api.v0.dev/v1",
		"azure " + npmAzure:     "https://${AZURE_RESOURCE_NAME}.openai.azure.com/openai/v1",
		"azure " + npmAnthropic: "https://${AZURE_RESOURCE_NAME}.services.ai.azure.com/anthropic/v1",
	}
})

// keyVariables name the variable that holds the key where a provider lists
// several. Elsewhere it is the first set one that is named like a key.
var keyVariables = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"amazon-bedrock": {"AWS_BEARER_TOKEN_BEDROCK"},
		"github-copilot": {}, // GITHUB_TOKEN is no Copilot token
		"sap-ai-core":    {}, // a key file, not a key
	}
})

// providerHeaders are what a vendor wants with every request.
var providerHeaders = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"openrouter":     attribution,
		"zenmux":         attribution,
		"kilo":           attribution,
		"llmgateway":     attribution,
		"nvidia":         attribution,
		"vercel":         attribution,
		"cerebras":       {"X-Cerebras-3rd-Party-Integration": "lathe"},
		"github-copilot": {"Openai-Intent": "conversation-edits"},
	}
})

var attribution = map[string]string{"X-Title": "lathe"}

// variableDefaults stand in for variables of an address.
var variableDefaults = map[string]string{"AWS_REGION": "us-east-1"}

// keyVariable returns the name and the value of the first variable that holds a key.
func keyVariable(id string, env []string, getenv func(string) string) (name, val string) {
	names := keyNames(id, env)
	for _, n := range names {
		if v := strings.TrimSpace(getenv(n)); v != "" {
			return n, v
		}
	}
	if len(names) > 0 {
		return names[0], ""
	}
	return "", ""
}

// keyNames returns which of a provider's variables hold a key.
func keyNames(id string, env []string) []string {
	if names, listed := keyVariables()[id]; listed {
		return names
	}
	if len(env) > 1 {
		return slices.DeleteFunc(slices.Clone(env), func(n string) bool { return !keyLike(n) })
	}
	return env
}

// shared are variables that programs other than lathe need for purposes other
// than a model: gh, git, aws, training code. They are not kept secret from
// commands.
var shared = []string{
	"GITHUB_TOKEN", "GITLAB_TOKEN", "HF_TOKEN", "WANDB_API_KEY", "DATABRICKS_TOKEN", "VULTR_API_KEY",
	"CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
}

// KeyVariables names the variables that hold a key of a model provider, known or
// configured, whether they are set or not. Those that other programs need too,
// such as GITHUB_TOKEN, are left out.
func (r *Registry) KeyVariables() []string {
	var names []string
	for _, e := range r.entries {
		for _, name := range e.info.Env {
			if (keyLike(name) || slices.Contains(keyNames(e.info.ID, e.info.Env), name)) && !slices.Contains(shared, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func keyLike(name string) bool {
	for _, end := range []string{"KEY", "TOKEN", "_PAT"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// protocolOf returns the protocol of a model, or why there is none.
func protocolOf(m *Model) (Protocol, string) {
	for _, row := range protocolRows {
		if row.holds(m) {
			return row.protocol, ""
		}
	}
	p, known := protocols()[m.NPM]
	switch {
	case known && p != "":
		return p, ""
	case known && m.URL == "":
		return "", needs()[m.NPM]
	case known: // an address was configured: a proxy that speaks something common
		return ProtocolOpenAIChat, ""
	case m.URL == "":
		return "", fmt.Sprintf("adapter %q is not supported and no base URL is known", m.NPM)
	}
	return ProtocolOpenAIChat, ""
}

var variablePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })

// fillAddress replaces ${VARIABLE} in a base URL, and returns the name of one that
// is not set.
func fillAddress(url string, getenv func(string) string) (filled, missing string) {
	if !strings.Contains(url, "${") {
		return url, ""
	}
	filled = variablePattern().ReplaceAllStringFunc(url, func(v string) string {
		name := v[2 : len(v)-1]
		val := getenv(name)
		if val == "" {
			val = variableDefaults[name]
		}
		if val == "" || strings.ContainsAny(val, "/@?#\\ \t\r\n") {
			missing = name
		}
		return val
	})
	return filled, missing
}

// speak returns the model of a protocol at an endpoint.
func speak(p Protocol, e adapter.Endpoint) llm.Model {
	switch p {
	case ProtocolAnthropic:
		return anthropic.New(e)
	case ProtocolOpenAI:
		return openai.New(e)
	case ProtocolGoogle:
		return google.New(e)
	}
	return openaichat.New(e)
}
