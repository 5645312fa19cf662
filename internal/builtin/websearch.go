package builtin

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the descriptions
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lathe/internal/sse"
	"lathe/internal/tool"
)

const (
	searchURL         = "https://mcp.exa.ai/mcp"
	websearchTimeout  = 25 * time.Second
	codesearchTimeout = 30 * time.Second
	searchBytes       = 4 << 20
)

//go:embed websearch.md
var websearchText string

//go:embed codesearch.md
var codesearchText string

// SearchService is the Exa search service.
type SearchService struct {
	URL string // of its MCP endpoint; empty means the public one
	Key string
}

type websearchInput struct {
	Query      string `json:"query"`
	NumResults int    `json:"numResults"`
	Livecrawl  string `json:"livecrawl"`
	Type       string `json:"type"`
	MaxChars   int    `json:"contextMaxCharacters"`
}

type codesearchInput struct {
	Query  string `json:"query"`
	Tokens int    `json:"tokensNum"`
}

func (e webTools) websearchTool() tool.Tool {
	s := spec("websearch", websearchText, `{"type":"object","properties":{`+
		`"query":{"type":"string","description":"What to search for"},`+
		`"numResults":{"type":"integer","minimum":1,"maximum":50,"description":"How many results; 8 if left out"},`+
		`"livecrawl":{"type":"string","enum":["fallback","preferred"],"description":"Whether pages are fetched anew; fallback if left out"},`+
		`"type":{"type":"string","enum":["auto","fast","deep"],"description":"How thorough; auto if left out"},`+
		`"contextMaxCharacters":{"type":"integer","minimum":1,"description":"Length of the answer"}},`+
		`"required":["query"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, e.websearch)
}

func (e webTools) codesearchTool() tool.Tool {
	s := spec("codesearch", codesearchText, `{"type":"object","properties":{`+
		`"query":{"type":"string","description":"Library, API or task to find examples for"},`+
		`"tokensNum":{"type":"integer","minimum":1000,"maximum":50000,"description":"Length of the answer in tokens; 5000 if left out"}},`+
		`"required":["query"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, e.codesearch)
}

func (e webTools) websearch(ctx context.Context, call *tool.Call, in websearchInput) (tool.Result, error) {
	args := map[string]any{
		"query": in.Query, "numResults": cmp.Or(in.NumResults, 8),
		"livecrawl": cmp.Or(in.Livecrawl, "fallback"), "type": cmp.Or(in.Type, "auto"),
	}
	if in.MaxChars > 0 {
		args["contextMaxCharacters"] = in.MaxChars
	}
	return e.remoteSearch(ctx, call, remote{"websearch", "Exa Web Search: ", "web_search_exa", in.Query, args, websearchTimeout})
}

func (e webTools) codesearch(ctx context.Context, call *tool.Call, in codesearchInput) (tool.Result, error) {
	args := map[string]any{"query": in.Query, "tokensNum": cmp.Or(in.Tokens, 5000)}
	return e.remoteSearch(ctx, call, remote{"codesearch", "Code search: ", "get_code_context_exa", in.Query, args, codesearchTimeout})
}

// remote is one search by the service.
type remote struct {
	permission, title, method, query string
	args                             map[string]any
	timeout                          time.Duration
}

func (e webTools) remoteSearch(ctx context.Context, call *tool.Call, r remote) (tool.Result, error) {
	err := ask(ctx, call, tool.Request{
		Permission: r.permission, Patterns: []string{r.query}, Always: []string{"*"}, Metadata: r.args,
	})
	if err != nil {
		return tool.Result{}, err
	}
	if e.search.Key == "" {
		return tool.Result{}, failf("%s needs a key of the Exa search service, and none is set. "+
			"Tell the user to set EXA_API_KEY, or go on without a search.", r.permission)
	}
	text, err := e.search.call(ctx, e.http, r)
	if err != nil {
		return tool.Result{}, err
	}
	if text == "" {
		text = "No search results found. Try other words."
	}
	return tool.Result{Title: r.title + r.query, Output: text, Metadata: map[string]any{"provider": "exa"}}, nil
}

// call sends the search and returns the first text of the answer.
func (s *SearchService) call(ctx context.Context, client *http.Client, r remote) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": r.method, "arguments": r.args},
	})
	if err != nil {
		return "", err
	}
	address := cmp.Or(s.URL, searchURL) + "?" + url.Values{"exaApiKey": {s.Key}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return "", failf("The address of the search service is not valid.")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		return "", r.failed(ctx, err)
	}
	defer res.Body.Close()
	data := io.LimitReader(res.Body, searchBytes)
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(data, 500))
		return "", failf("%s error (%d): %s", strings.TrimSuffix(r.title, ": "), res.StatusCode, strings.ToValidUTF8(string(text), ""))
	}
	if strings.Contains(res.Header.Get("Content-Type"), "text/event-stream") {
		for ev, err := range sse.Read(data, searchBytes) {
			if err != nil {
				return "", r.failed(ctx, err)
			}
			if text, err := searchText(ev.Data); text != "" || err != nil {
				return text, err
			}
		}
		return "", nil
	}
	all, err := io.ReadAll(data)
	if err != nil {
		return "", r.failed(ctx, err)
	}
	return searchText(all)
}

// failed leaves out the address, which contains the key.
func (r remote) failed(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failf("%s timed out", strings.TrimSuffix(r.title, ": "))
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return failf("%s failed: %v", strings.TrimSuffix(r.title, ": "), err)
}

// searchText takes the first text out of a JSON-RPC answer.
func searchText(data []byte) (string, error) {
	var answer struct {
		Result struct {
			Content []struct{ Text string } `json:"content"`
		} `json:"result"`
		Error *struct{ Message string } `json:"error"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return "", nil // a message of another kind
	}
	if answer.Error != nil {
		return "", fmt.Errorf("the search service answered: %s", clip(answer.Error.Message, 500))
	}
	for _, c := range answer.Result.Content {
		if c.Text != "" {
			return c.Text, nil
		}
	}
	return "", nil
}
