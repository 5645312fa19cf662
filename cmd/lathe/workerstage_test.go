package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/api"
	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// What a session changed is looked through, staged by hunk and taken back at a server without
// files: all of it happens where the files are.
func TestStagedOnAWorker(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.write("a.txt", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	w.git("init", "-q")
	w.git("add", "a.txt")
	edit := func(from, to string) llmtest.Step {
		args, err := json.Marshal(map[string]string{"filePath": filepath.Join(w.dir, "a.txt"), "oldString": from, "newString": to})
		if err != nil {
			t.Fatal(err)
		}
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Call{Name: "edit", Args: string(args)}}}
	}
	said := llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("done")}}
	model := w.model("anthropic", llmtest.Script{edit("one", "eins"), edit("nine", "neun"), said})
	w.worker("worker", store)
	front := w.peer("front", store, "--workers-only")
	id := front.session(`[]`)
	front.call("POST", "/session/"+id+"/message", promptBody("go"))

	path := "/lathe/session/" + id + "/review"
	var list []api.Reviewed
	if err := json.Unmarshal(front.call("GET", path, ""), &list); err != nil || len(list) != 1 || len(list[0].Files) != 1 {
		t.Fatalf("reviewed %+v, %v", list, err)
	}
	ask := func(route string, in, out any) {
		t.Helper()
		body, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(front.call("POST", path+route, string(body)), out); err != nil {
			t.Fatal(err)
		}
	}
	var staged api.Staged
	in := api.Stage{Message: list[0].Message, Files: []string{"a.txt"}, Hunk: 2, Change: list[0].Files[0].Key()}
	ask("/stage", in, &staged)
	if got := w.git("cat-file", "blob", ":a.txt"); got != "one\n2\n3\n4\n5\n6\n7\n8\nneun\n" || len(staged.Files) != 1 {
		t.Errorf("staged %+v, the index has %q", staged, got)
	}
	if ask("/stage", in, &staged); !staged.Already {
		t.Errorf("staged again: %+v", staged)
	}
	var back api.Reverted
	ask("/take-back", api.TakeBack{Message: list[0].Message, File: "a.txt", Hunk: 1}, &back)
	if got, err := os.ReadFile(filepath.Join(w.dir, "a.txt")); err != nil || string(got) != "one\n2\n3\n4\n5\n6\n7\n8\nneun\n" || len(back.Changed) != 1 {
		t.Errorf("taken back %+v: %q, %v", back, got, err)
	}
	accepted(t, model)
}
