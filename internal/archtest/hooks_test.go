package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/plugin/jsonhook"
)

// hookCalls are the hooks, and what the engine calls for them.
var hookCalls = map[string]string{
	jsonhook.ChatMessage: "ChatMessage", jsonhook.ChatParams: "ChatParams", jsonhook.ChatHeaders: "ChatHeaders", jsonhook.CommandBefore: "CommandBefore",
	jsonhook.ToolBefore: "ToolBefore", jsonhook.ToolAfter: "ToolAfter", jsonhook.ToolDefinition: "ToolDefinition", jsonhook.ShellEnv: "ShellEnv",
	jsonhook.PermissionAsk: "PermissionAsk", jsonhook.MessagesTransform: "Messages", jsonhook.SystemTransform: "System", jsonhook.Compacting: "Compacting",
	jsonhook.Autocontinue: "Autocontinue", jsonhook.TextComplete: "TextComplete", jsonhook.SmallModel: "SmallModel", jsonhook.Event: "Event", jsonhook.Stop: "Stop",
}

// A hook that plugins and programs can take part in is called by the engine.
func TestEveryHookHasACaller(t *testing.T) {
	for _, name := range jsonhook.Names {
		if hookCalls[name] == "" {
			t.Errorf("nothing says what calls the hook %s", name)
		}
	}
	if len(hookCalls) != len(jsonhook.Names) {
		t.Errorf("%d hooks are called, and there are %d", len(hookCalls), len(jsonhook.Names))
	}
	var source strings.Builder
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(strings.Split(path, string(filepath.Separator)), "plugin") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range hookCalls {
		if text := strings.ToLower(source.String()); !strings.Contains(text, strings.ToLower("hooks."+call+"(")) {
			t.Errorf("nothing in the engine calls the hook %s (Hooks.%s)", name, call)
		}
	}
}
