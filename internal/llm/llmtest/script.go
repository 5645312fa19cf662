package llmtest

import "lathe/internal/llm/script"

// What the server answers; see package script.
type (
	// Script is what the server answers, one [Step] for each model request.
	Script = script.Script
	// Step is the answer to one model request.
	Step = script.Step
	// Block is a piece of an answer: [Text], [Reasoning] or [Call].
	Block = script.Block
	// Text is words.
	Text = script.Text
	// Reasoning is the model's thinking.
	Reasoning = script.Reasoning
	// Call is a tool call.
	Call = script.Call
)

// Parse reads the text form of a script; see [script.Parse].
func Parse(data []byte) (Script, error) { return script.Parse(data) }
