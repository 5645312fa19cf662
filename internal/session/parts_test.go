package session_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
)

func wide(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 3000, 10))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func data(mime string, b []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(b)
}

func TestPromptParts(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/sub/a.txt": "one\ntwo\nthree\n", "repo/.env": "KEY=x"},
		func(*llm.Request) say { return say{text: "ok"} }).open()
	if err := os.WriteFile(filepath.Join(p.dir, "wide.png"), wide(t), 0o644); err != nil {
		t.Fatal(err)
	}
	symbol := &lathe.FileSource{Kind: "symbol", Path: "main.go", Name: "main", SymbolKind: 12, Text: lathe.SourceText{Value: "@main", Start: 1, End: 6}}
	id := p.session()
	p.prompt(id, session.Prompt{Refs: true, Parts: []lathe.PartBody{
		&lathe.File{MIME: "text/plain", Filename: "note.txt", URL: data("text/plain", []byte("the note"))},
		&lathe.File{MIME: "text/plain", Filename: "main.go", URL: "file://" + filepath.Join(p.dir, "main.go"), Source: symbol},
		&lathe.File{MIME: "image/png", Filename: "wide.png", URL: data("image/png", wide(t))},
	}}, "see @sub/a.txt#2 and @sub, @nothing, @wide.png and a@b.c")
	text := said(p.asked()[0].Messages)
	for _, want := range []string{"the note", `{"filePath":"note.txt"}`, "func main() {}", "2: two", "<entries>", `"filePath":"` + filepath.Join(p.dir, "wide.png")} {
		if !strings.Contains(text, want) {
			t.Errorf("the model was not told %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "3: three") {
		t.Error("the range of lines was not kept")
	}
	pictures := 0
	for _, part := range p.messages(id)[0].Parts {
		f, ok := part.Body.(*lathe.File)
		if !ok || f.MIME != "image/png" {
			continue
		}
		pictures++
		_, b64, _ := strings.Cut(f.URL, ",")
		raw, err := base64.StdEncoding.DecodeString(b64)
		if err != nil {
			t.Fatal(err)
		}
		if conf, _, err := image.DecodeConfig(bytes.NewReader(raw)); err != nil || conf.Width > 2000 {
			t.Errorf("a picture of %d pixels was stored, %v", conf.Width, err)
		}
	}
	if pictures != 2 {
		t.Errorf("%d pictures were stored, want 2", pictures)
	}
	kept := false
	for _, part := range p.messages(id)[0].Parts {
		if f, ok := part.Body.(*lathe.File); ok && f.Source != nil && f.Source.Kind == "symbol" {
			kept = f.Source.Name == "main" && f.Source.Text == symbol.Text
		}
	}
	if !kept {
		t.Error("the symbol's source was not kept")
	}
}

// Lines of a file can be named as compilers name them; a file with such a name is that file.
func TestLinesBehindAColon(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/a.txt": "one\ntwo\nthree\nfour\n"}, func(*llm.Request) say { return say{text: "ok"} }).open()
	ask := func(text string) string {
		t.Helper()
		id := p.session()
		p.prompt(id, session.Prompt{Refs: true}, text)
		all := p.asked()
		return said(all[len(all)-1].Messages)
	}
	if got := ask("see @a.txt:2-3, please"); !strings.Contains(got, "2: two") || !strings.Contains(got, "3: three") || strings.Contains(got, "1: one") || strings.Contains(got, "4: four") {
		t.Errorf("lines 2 and 3 are\n%s", got)
	}
	if got := ask("what does (@a.txt:4) mean?"); !strings.Contains(got, "4: four") || strings.Contains(got, "3: three") {
		t.Errorf("line 4 is\n%s", got)
	}
	if got := ask("@a.txt: what is it?"); !strings.Contains(got, "1: one") || !strings.Contains(got, "4: four") {
		t.Errorf("the file is\n%s", got)
	}
	if got := ask("see @a.txt:0 and @none.txt:3"); strings.Contains(got, "1: one") {
		t.Errorf("no file is named, but\n%s", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.WriteFile(filepath.Join(p.dir, "a.txt:2"), []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := ask("see @a.txt:2"); !strings.Contains(got, "another") || strings.Contains(got, "2: two") {
		t.Errorf("the file of that name is\n%s", got)
	}
}

func TestBadParts(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "ok"} }).open()
	id := p.session()
	for name, part := range map[string]lathe.PartBody{
		"a broken picture":   &lathe.File{MIME: "image/png", URL: data("image/png", []byte("no"))},
		"a broken data URL":  &lathe.File{MIME: "image/png", URL: "data:image/png;base64,***"},
		"an unknown agent":   &lathe.AgentMention{Name: "nobody"},
		"a primary agent":    &lathe.AgentMention{Name: "build"},
		"a file that is not": &lathe.File{MIME: "text/plain", URL: "file:///nowhere/at/all"},
	} {
		_, _, err := p.svc.Prompt(t.Context(), id, session.Prompt{Model: scripted, Parts: []lathe.PartBody{part}})
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if n := len(p.messages(id)); n != 0 {
		t.Errorf("%d messages were stored", n)
	}
}

func TestNoReply(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "ok"} }).open()
	id := p.session()
	m, run, err := p.svc.Prompt(t.Context(), id, session.Prompt{Model: scripted, NoReply: true, Parts: []lathe.PartBody{&lathe.Text{Text: "keep this in mind"}}})
	if err != nil || run != nil || m == nil || len(p.asked()) != 0 {
		t.Fatalf("%v, %v, %d requests", run, err, len(p.asked()))
	}
	p.prompt(id, session.Prompt{}, "go")
	if text := said(p.asked()[0].Messages); !strings.HasPrefix(text, "keep this in mind") {
		t.Errorf("the model was told %q", text)
	}
}

// TestModelsReferencesAreGuarded holds that what a model writes into the prompt
// of a subagent attaches nothing that the subagent may not read.
func TestModelsReferencesAreGuarded(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/.env": "KEY=secret", "home/private.txt": "private"}, func(req *llm.Request) say {
		if last(req) == "go" {
			return say{calls: []use{task("general", "look at @.env and @~/private.txt and @main.go, @explore")}}
		}
		return say{text: "ok"}
	}).open()
	p.prompt(p.session(), session.Prompt{}, "go")
	text := said(p.asked()[1].Messages)
	if strings.Contains(text, "Hand this over") || strings.Contains(text, "KEY=secret") || strings.Contains(text, "private\n") || !strings.Contains(text, "func main() {}") {
		t.Errorf("the subagent was told:\n%s", text)
	}
}

func TestLargeResultsAreCut(t *testing.T) {
	p := newPlay(t, nil, func(req *llm.Request) say {
		if last(req) == "go" {
			return say{calls: []use{task("explore", "say much")}}
		}
		if last(req) == "say much" {
			return say{text: strings.Repeat("many words\n", 20_000)}
		}
		return say{text: "ok"}
	}).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	tools := p.tools(id)
	if len(tools[0]) > 60<<10 || !strings.Contains(tools[0], "truncated...") {
		t.Errorf("a result of %d bytes was told", len(tools[0]))
	}
}

// TestResourceIsToldOf holds that a resource of an MCP server that is not
// connected is told of, and does not keep the prompt from being answered.
func TestResourceIsToldOf(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "ok"} }).open()
	id := p.session()
	p.prompt(id, session.Prompt{Parts: []lathe.PartBody{&lathe.File{
		MIME: "text/plain", Filename: "page", URL: "docs://page", Source: &lathe.FileSource{Kind: "resource", Client: "docs", URI: "docs://page"},
	}}}, "what does it say?")
	text := said(p.asked()[0].Messages)
	for _, want := range []string{"Reading MCP resource: page (docs://page)", `Failed to read MCP resource page: there is no MCP server "docs"`, "what does it say?"} {
		if !strings.Contains(text, want) {
			t.Errorf("the model was told %q, which has no %q", text, want)
		}
	}
}
