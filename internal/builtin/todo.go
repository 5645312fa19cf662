package builtin

import (
	"bytes"
	"context"
	_ "embed" // the descriptions
	"encoding/json"
	"fmt"
	"strconv"

	"lathe"
	"lathe/internal/tool"
)

//go:embed todowrite.md
var todowriteText string

//go:embed todoread.md
var todoreadText string

const maxTodos = 500

type todoItem struct {
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
	ID       string `json:"id"`
}

type todowriteInput struct {
	Todos []todoItem `json:"todos"`
}

func (e sessionTools) todowriteTool() tool.Tool {
	s := spec("todowrite", todowriteText, `{"type":"object","properties":{`+
		`"todos":{"type":"array","description":"The whole new list","items":{"type":"object","properties":{`+
		`"content":{"type":"string","description":"What is to be done"},`+
		`"status":{"type":"string","description":"pending, in_progress, completed or cancelled"},`+
		`"priority":{"type":"string","description":"high, medium or low"},`+
		`"id":{"type":"string","description":"Name of the entry; numbered if left out"}},`+
		`"required":["content","status","priority"],"additionalProperties":false}}},`+
		`"required":["todos"],"additionalProperties":false}`)
	s.ReadOnly = true // it changes no files
	return typed(s, e.todowrite)
}

func (e sessionTools) todoreadTool() tool.Tool {
	s := spec("todoread", todoreadText, `{"type":"object","properties":{},"additionalProperties":false}`)
	s.ReadOnly, s.Quiet = true, true // todowrite answers with what is open
	return typed(s, e.todoread)
}

func (e sessionTools) todowrite(ctx context.Context, call *tool.Call, in todowriteInput) (tool.Result, error) {
	if len(in.Todos) > maxTodos {
		return tool.Result{}, failf("The list has %d entries; at most %d are kept.", len(in.Todos), maxTodos)
	}
	if err := ask(ctx, call, tool.Request{Permission: "todowrite", Patterns: []string{"*"}, Always: []string{"*"}}); err != nil {
		return tool.Result{}, err
	}
	todos := make([]lathe.Todo, len(in.Todos))
	for i, t := range in.Todos {
		if t.ID == "" {
			t.ID = strconv.Itoa(i + 1)
		}
		todos[i] = lathe.Todo{ID: t.ID, Content: t.Content, Status: t.Status, Priority: t.Priority}
	}
	if e.todos == nil {
		return tool.Result{}, failf("No task list is kept in this session.")
	}
	if err := e.todos.SetTodos(ctx, call.SessionID, todos); err != nil {
		return tool.Result{}, failf("The task list could not be saved: %v", err)
	}
	res := todoResult(todos)
	res.Output = left(todos)
	return res, nil
}

// left says how much is open; the model knows the list, because it has just written it.
func left(todos []lathe.Todo) string {
	open := 0
	for _, t := range todos {
		if t.Status != "completed" && t.Status != "cancelled" {
			open++
		}
	}
	if open == 0 {
		return "Nothing is open."
	}
	return fmt.Sprintf("%d open.", open)
}

func (e sessionTools) todoread(ctx context.Context, call *tool.Call, _ struct{}) (tool.Result, error) {
	if err := ask(ctx, call, tool.Request{Permission: "todoread", Patterns: []string{"*"}, Always: []string{"*"}}); err != nil {
		return tool.Result{}, err
	}
	if e.todos == nil {
		return tool.Result{}, failf("No task list is kept in this session.")
	}
	todos, err := e.todos.Todos(ctx, call.SessionID)
	if err != nil {
		return tool.Result{}, failf("The task list could not be read: %v", err)
	}
	return todoResult(todos), nil
}

func todoResult(todos []lathe.Todo) tool.Result {
	open := 0
	items := make([]todoItem, len(todos))
	for i, t := range todos {
		items[i] = todoItem{Content: t.Content, Status: t.Status, Priority: t.Priority, ID: t.ID}
		if t.Status != "completed" {
			open++
		}
	}
	return tool.Result{
		Title:    fmt.Sprintf("%d todos", open),
		Output:   pretty(items),
		Metadata: map[string]any{"todos": todoMeta(items)},
	}
}

// todoMeta gives the list as plain values, as metadata is stored.
func todoMeta(items []todoItem) []any {
	out := make([]any, len(items))
	for i, t := range items {
		out[i] = map[string]any{"content": t.Content, "status": t.Status, "priority": t.Priority, "id": t.ID}
	}
	return out
}

// pretty returns a value as JSON for reading.
func pretty(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil { // values made here always encode
		return err.Error()
	}
	return string(bytes.TrimRight(buf.Bytes(), "\n"))
}
