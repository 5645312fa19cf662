package contract

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	pb "cloud.google.com/go/ai/generativelanguage/apiv1beta/generativelanguagepb"
	"google.golang.org/genai"
	"google.golang.org/protobuf/encoding/protojson"
)

// written returns the files of the run that match a pattern.
func written(t *testing.T, pattern string) []string {
	t.Helper()
	dir := os.Getenv("LATHE_CONTRACTS")
	if dir == "" {
		t.Skip("LATHE_CONTRACTS names no directory; run .ci/contracts")
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s, %v", pattern, dir, err)
	}
	return files
}

// request is generateContent's body in the types of Google's SDK, which are newer
// than the messages: what the SDK puts into its own configuration stands here where
// the service has it.
type request struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction"`
	Tools             []*genai.Tool           `json:"tools"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
}

// Every request is read by the service's own message as the service reads JSON: an
// unknown field or enum value is an error. Two fields are newer than the messages
// that are published for Go; they are judged by the SDK's types.
func TestGeminiRequests(t *testing.T) {
	for _, name := range written(t, "google/*.json") {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		strict := json.NewDecoder(bytes.NewReader(without(t, raw, signature)))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&request{}); err != nil {
			t.Errorf("%s: by the SDK: %v\n%.1000s", name, err, raw)
		}
		if err := protojson.Unmarshal(without(t, raw, newer), &pb.GenerateContentRequest{}); err != nil {
			t.Errorf("%s: by the service's message: %v\n%.1000s", name, err, raw)
		}
	}
}

// member is a member of an object that is a member itself.
type member struct{ of, name string }

// newer are not in the published messages yet. The SDK reads a signature in one of
// the two alphabets that the service takes, and the one that stands for none is in
// the other.
var (
	newer     = []member{{"thinkingConfig", "thinkingLevel"}, {"functionResponse", "parts"}}
	signature = []member{{"parts", "thoughtSignature"}}
)

// without returns a document without some members.
func without(t *testing.T, raw []byte, gone []member) []byte {
	t.Helper()
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	drop(doc, "", gone)
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func drop(v any, of string, gone []member) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			drop(e, of, gone)
		}
	case map[string]any:
		for _, m := range gone {
			if m.of == of {
				delete(v, m.name)
			}
		}
		for key, e := range v {
			drop(e, key, gone)
		}
	}
}

// The judge itself: what the service refuses has to be refused here.
func TestGeminiJudgeRefuses(t *testing.T) {
	for _, body := range []string{
		`{"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"OBJECT","additionalProperties":false}}]}]}`,
		`{"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"object"}}]}]}`,
		`{"contents":[{"parts":[{"text":"a","cache_control":{}}]}]}`,
	} {
		if protojson.Unmarshal([]byte(body), &pb.GenerateContentRequest{}) == nil {
			t.Errorf("%s is taken", body)
		}
	}
}
