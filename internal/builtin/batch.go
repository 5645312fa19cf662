package builtin

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"lathe/internal/tool"
)

const maxBatch = 25

//go:embed batch.md
var batchText string

type batchInput struct {
	ToolCalls []batchCall `json:"tool_calls"`
}

type batchCall struct {
	Tool       string          `json:"tool"`
	Parameters json.RawMessage `json:"parameters"`
}

func (e sessionTools) batchTool() tool.Tool {
	s := spec("batch", batchText, `{"type":"object","properties":{`+
		`"tool_calls":{"type":"array","minItems":1,"items":{"type":"object","properties":{`+
		`"tool":{"type":"string","description":"Name of the tool"},`+
		`"parameters":{"type":"object","description":"Its arguments"}},"required":["tool","parameters"],"additionalProperties":false}}},`+
		`"required":["tool_calls"],"additionalProperties":false}`)
	s.PathArg = "*"
	return typed(s, e.batch)
}

// outcome is how one call of a batch ended; a non-nil err also ends the batch.
type outcome struct {
	result tool.Result
	err    error
}

func (e sessionTools) batch(ctx context.Context, call *tool.Call, in batchInput) (tool.Result, error) {
	outcomes := make([]outcome, len(in.ToolCalls))
	var wg sync.WaitGroup
	for i, c := range in.ToolCalls {
		switch {
		case i >= maxBatch:
			outcomes[i].result = tool.Failf("Maximum of %d tools allowed in batch", maxBatch)
		case strings.EqualFold(strings.TrimSpace(c.Tool), "batch"):
			outcomes[i].result = tool.Failf("A batch cannot hold another batch.")
		default:
			wg.Go(func() { outcomes[i].result, outcomes[i].err = e.Call(ctx, call, c.Tool, c.Parameters) })
		}
	}
	wg.Wait()
	return batchResult(in.ToolCalls, outcomes)
}

func batchResult(calls []batchCall, outcomes []outcome) (tool.Result, error) {
	res := tool.Result{}
	good := 0
	names := make([]any, len(calls))
	details := make([]any, len(calls))
	var failed []string
	for i, o := range outcomes {
		if o.err != nil { // a refused permission or the end of the turn
			return tool.Result{}, &refused{o.err}
		}
		names[i] = calls[i].Tool
		details[i] = map[string]any{"tool": calls[i].Tool, "success": !o.result.Failed}
		if o.result.Failed {
			failed = append(failed, fmt.Sprintf("%d. %s: %s", i+1, calls[i].Tool, clip(o.result.Output, 500)))
			continue
		}
		good++
		res.Attachments = append(res.Attachments, o.result.Attachments...)
	}
	res.Title = fmt.Sprintf("Batch execution (%d/%d successful)", good, len(calls))
	res.Output = fmt.Sprintf("All %d tools executed successfully. Their results are in calls of their own.", good)
	if len(failed) > 0 {
		res.Output = fmt.Sprintf("Executed %d/%d tools successfully. %d failed.\n\n%s", good, len(calls), len(failed), strings.Join(failed, "\n"))
	}
	res.Metadata = map[string]any{
		"totalCalls": len(calls), "successful": good, "failed": len(failed), "tools": names, "details": details,
	}
	return res, nil
}
