package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/anthropic"
)

// asFloor makes the test binary the floor: its value is "exit" or an address.
const asFloor = "LATHE_BENCH_FLOOR"

func TestMain(m *testing.M) {
	switch at := os.Getenv(asFloor); at {
	case "":
		os.Exit(m.Run())
	case "exit":
	default:
		if err := floor(context.Background(), at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// floor is an agent without anything: it asks the model, runs the commands that
// it calls for, and prints what it says.
func floor(ctx context.Context, url string) error {
	model := anthropic.New(adapter.Endpoint{BaseURL: url + "/v1", Key: "k"})
	req := &llm.Request{
		Model: "m", System: []string{"You are an agent."}, MaxTokens: 8192,
		Tools:    []llm.Tool{{Name: "bash", Description: "Run a command", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)}},
		Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "hello"}}}},
	}
	for {
		said, results, err := floorStep(ctx, model, req)
		if err != nil || len(results) == 0 {
			return err
		}
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.RoleAssistant, Content: said}, llm.Message{Role: llm.RoleTool, Content: results})
	}
}

func floorStep(ctx context.Context, model llm.Model, req *llm.Request) (said, results []llm.Content, err error) {
	var text bytes.Buffer
	for ev, err := range model.Stream(ctx, req) {
		if err != nil {
			return nil, nil, err
		}
		switch ev := ev.(type) {
		case llm.TextDelta:
			text.WriteString(ev.Text)
		case llm.ToolEnd:
			var args struct{ Command string }
			if err := json.Unmarshal([]byte(ev.Input), &args); err != nil {
				return nil, nil, err
			}
			out, err := exec.CommandContext(ctx, "bash", "-c", args.Command).CombinedOutput()
			if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
				return nil, nil, err
			}
			said = append(said, llm.ToolUse{ID: ev.CallID, Name: ev.Name, Input: json.RawMessage(ev.Input)})
			results = append(results, llm.ToolResult{ID: ev.CallID, Name: ev.Name, Output: string(out) + "\n"})
		}
	}
	_, err = os.Stdout.Write(text.Bytes())
	return said, results, err
}
