package server

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"lathe"
)

// contract holds the operations and component schemas of OpenCode 1.1.34, without
// prose. See testdata for where they come from.
//
//go:embed openapi.json
var contract []byte

// Contract is what the routes promise.
type Contract struct {
	Operations map[string]json.RawMessage `json:"operations"` // by "GET /path"
	Schemas    json.RawMessage            `json:"schemas"`
}

// doc answers with the OpenAPI document of the routes that there are.
func (c *call) doc() (any, error) {
	var base Contract
	if err := json.Unmarshal(contract, &base); err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	paths := map[string]map[string]json.RawMessage{}
	for _, r := range c.s.routes() {
		op, ok := base.Operations[r.method+" "+r.path]
		if !ok {
			op = plainOperation(r)
		}
		if paths[r.path] == nil {
			paths[r.path] = map[string]json.RawMessage{}
		}
		paths[r.path][strings.ToLower(r.method)] = described(op)
	}
	return map[string]any{
		"openapi":    "3.1.1",
		"info":       map[string]string{"title": "lathe", "version": lathe.Version, "description": "The HTTP interface of lathe."},
		"paths":      paths,
		"components": map[string]json.RawMessage{"schemas": base.Schemas},
	}, nil
}

// described adds the descriptions that OpenAPI requires of answers.
func described(op json.RawMessage) json.RawMessage {
	var o map[string]any
	if json.Unmarshal(op, &o) != nil {
		return op
	}
	if answers, ok := o["responses"].(map[string]any); ok {
		for status, a := range answers {
			if a, ok := a.(map[string]any); ok {
				a["description"] = answerText(status)
			}
		}
	}
	out, err := json.Marshal(o)
	if err != nil {
		return op
	}
	return out
}

func answerText(status string) string {
	switch status {
	case "400":
		return "The request is wrong."
	case "404":
		return "There is no such thing."
	}
	return "Done."
}

// plainOperation describes a route that the contract does not know.
func plainOperation(r route) json.RawMessage {
	params := []map[string]any{}
	for piece := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(piece, "{"); ok {
			params = append(params, map[string]any{
				"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": map[string]string{"type": "string"},
			})
		}
	}
	name := strings.Trim(strings.NewReplacer("/", ".", "{", "", "}", "").Replace(r.path), ".") + "." + strings.ToLower(r.method)
	out, err := json.Marshal(map[string]any{
		"operationId": name, "parameters": params,
		"responses": map[string]any{"200": map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": struct{}{}}}}},
	})
	if err != nil { // strings and maps always encode
		panic(err)
	}
	return out
}
