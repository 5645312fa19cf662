package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/client"
)

// TestTimeline lists what each prompt changed, and tells what undoing would leave as it
// is without changing anything.
func TestTimeline(t *testing.T) {
	r := newRig(t)
	edit := func(file, text string) string {
		return fmt.Sprintf("tool write {\"filePath\":%q,\"content\":%q}\n---\ntext Done.\n", filepath.Join(r.dir, file), text)
	}
	model := r.script("turn.txt", edit("first.txt", "one\n")+"---\n"+edit("second.txt", "two\n")+"---\ntext Nothing to do.\n")
	id := r.session()
	for _, text := range []string{"write a", "write b", "and now " + strings.Repeat("long ", 100)} {
		r.ok("POST", id+"/message", promptBody(model, text))
	}
	type prompt struct {
		Text  string
		Steps int
		Files []string
	}
	var ids []string
	list := func(query string) (out []prompt, more bool) {
		t.Helper()
		got := r.ok("GET", "/lathe"+id+"/timeline"+query, "").(map[string]any)
		ids = nil
		for _, p := range got["prompts"].([]any) {
			p := p.(map[string]any)
			one := prompt{Text: p["text"].(string), Steps: int(p["steps"].(float64))}
			for _, f := range p["files"].([]any) {
				one.Files = append(one.Files, filepath.Base(f.(string)))
			}
			out = append(out, one)
			ids = append(ids, p["messageID"].(string))
		}
		return out, got["more"].(bool)
	}
	if got, more := list("?limit=1"); more != true || len(got) != 1 || got[0].Steps != 1 || len(got[0].Text) > timelineText+10 {
		t.Errorf("the newest prompt: %+v, %v", got, more)
	}
	got, more := list("")
	got[2].Text = ""
	want := []prompt{{"write a", 2, []string{"first.txt"}}, {"write b", 2, []string{"second.txt"}}, {"", 1, nil}}
	if diff := cmp.Diff(want, got); diff != "" || more {
		t.Fatalf("more: %v (-want +got):\n%s", more, diff)
	}
	write(t, filepath.Join(r.dir, "second.txt"), "changed by hand\n")
	preview := r.ok("POST", "/lathe"+id+"/revert/preview", `{"messageID":"`+ids[0]+`"}`).(map[string]any)
	kept := preview["kept"].([]any)
	if changed := preview["changed"].([]any); len(changed) != 1 || filepath.Base(changed[0].(string)) != "first.txt" || len(kept) != 1 ||
		filepath.Base(kept[0].(map[string]any)["path"].(string)) != "second.txt" || kept[0].(map[string]any)["reason"] == "" {
		t.Errorf("the preview: %v", preview)
	}
	c, err := client.New(client.Options{URL: r.url, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	told, err := c.PreviewRevert(t.Context(), lathe.SessionID(strings.TrimPrefix(id, "/session/")), lathe.MessageID(ids[0]))
	if err != nil || len(told.Changed) != 1 || len(told.Kept) != 1 {
		t.Errorf("the preview for a face: %+v, %v", told, err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "first.txt")); err != nil {
		t.Errorf("the preview changed something: %v", err)
	}
	if revert := r.ok("GET", id, "").(map[string]any)["revert"]; revert != nil {
		t.Errorf("the preview left a mark: %v", revert)
	}
}
