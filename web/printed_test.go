package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"image"
	_ "image/png" // what the paper looks like
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"lathe"
	"lathe/internal/transcript/page"
)

// TestPrinted prints the page of a session that is shared: all that is folded or scrolls on a
// screen is on the paper, within its margins, and dark on white whatever the reader's theme is.
func TestPrinted(t *testing.T) {
	if chromium == "" {
		t.Skip("LATHE_CHROMIUM names no browser; .ci/web does")
	}
	for _, need := range []string{"pdftotext", "pdftoppm"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skip(need + " is not installed; poppler-utils has it")
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "session.html")
	var b bytes.Buffer
	if err := page.Write(&b, longSession()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, problems: &problems{}}
	ctx := s.browser(390, 800)
	s.do(ctx, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		return err
	}))
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	s.do(ctx, chromedp.Navigate(address.String()), until(`matchMedia("(prefers-color-scheme: dark)").matches`))
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground(), chromedp.PDFMargin(paperMargin/72)))
	if err != nil {
		t.Fatal(err)
	}
	paper := filepath.Join(dir, "session.pdf")
	if err := os.WriteFile(paper, pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	if to := os.Getenv("LATHE_PICTURES"); to != "" {
		_ = os.WriteFile(filepath.Join(to, "printed.pdf"), pdf, 0o644)
		_ = os.WriteFile(filepath.Join(to, "printed.html"), b.Bytes(), 0o644)
	}
	checkWords(t, paper)
	checkColours(t, paper)
}

const paperMargin = 28.8 // points

// marks are words of a session, one at the end of each thing that a screen folds, scrolls or
// cuts off.
var marks = []string{
	"askedEnd", "longAskEnd", "thoughtEnd", "codeEnd", "proseEnd", "Cell", "Last", "printedEnd", "commandEnd", "readEnd", "removedEnd", "addedEnd",
	"failedEnd", "taskEnd", "answeredEnd", "argumentEnd", "laterEnd", "https://example.org/where", "noteEnd",
}

// checkWords holds that the marks are on the paper, and that every word is within its margins.
func checkWords(t *testing.T, paper string) {
	t.Helper()
	out, err := exec.Command("pdftotext", "-bbox", paper, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Pages []struct {
			Width  float64 `xml:"width,attr"`
			Height float64 `xml:"height,attr"`
			Words  []struct {
				Left   float64 `xml:"xMin,attr"`
				Top    float64 `xml:"yMin,attr"`
				Right  float64 `xml:"xMax,attr"`
				Bottom float64 `xml:"yMax,attr"`
				Text   string  `xml:",chardata"`
			} `xml:"word"`
		} `xml:"body>doc>page"`
	}
	if err := xml.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for n, p := range doc.Pages {
		for _, w := range p.Words {
			all.WriteString(w.Text)
			const slack = 2 // a letter may lean a little out of its box
			if w.Left < paperMargin-slack || w.Right > p.Width-paperMargin+slack || w.Top < paperMargin-slack || w.Bottom > p.Height-paperMargin+slack {
				t.Errorf("page %d: %q is not within the margins: %.0f to %.0f across, %.0f to %.0f down", n+1, w.Text, w.Left, w.Right, w.Top, w.Bottom)
			}
		}
	}
	for _, m := range marks {
		if !strings.Contains(all.String(), m) {
			t.Errorf("%q is not on the paper", m)
		}
	}
}

// checkColours holds that each page is dark on white.
func checkColours(t *testing.T, paper string) {
	t.Helper()
	base := filepath.Join(t.TempDir(), "p")
	if out, err := exec.Command("pdftoppm", "-r", "50", "-png", paper, base).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pages, _ := filepath.Glob(base + "*.png")
	if len(pages) < 2 {
		t.Fatalf("%d pages were printed", len(pages))
	}
	for n, name := range pages {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		size := img.Bounds().Size()
		dark := 0
		for i := range size.X * size.Y {
			r, g, b, _ := img.At(i%size.X, i/size.X).RGBA()
			if max(r, g, b) < 0x8000 {
				dark++
			}
		}
		if r, g, b, _ := img.At(1, 1).RGBA(); min(r, g, b) < 0xffff || dark > size.X*size.Y/5 {
			t.Errorf("page %d has %d dark dots of %d, and the edge is #%02x%02x%02x", n+1, dark, size.X*size.Y, r>>8, g>>8, b>>8)
		}
	}
}

// longSession has a mark at the end of each thing that does not fit a screen or a line.
func longSession() page.Session {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	wide := strings.Repeat("unbroken_", 60)
	rows := strings.Repeat("a line of what was printed\n", 120)
	call := func(state func(in json.RawMessage) lathe.ToolState, tool string, in map[string]any) lathe.Part {
		raw, _ := json.Marshal(in)
		return lathe.Part{Body: &lathe.ToolCall{Tool: tool, State: state(raw)}}
	}
	done := func(tool, out string, meta, in map[string]any) lathe.Part {
		return call(func(raw json.RawMessage) lathe.ToolState {
			return &lathe.ToolDone{Input: raw, Output: out, Metadata: meta, Time: lathe.Span{Start: noon, End: noon.Add(time.Second)}}
		}, tool, in)
	}
	table := "| file |" + strings.Repeat(" another column |", 14) + " Last |\n|---|" + strings.Repeat("---|", 15) + "\n| internal/session/runner.go |" +
		strings.Repeat(" some_longer_word_of_code |", 14) + " Cell |\n"
	answer := "# Done\n\nSee [the place](https://example.org/where) and `" + wide + "`.\n\n```go\n// " + wide + "\n" + strings.Repeat("\tfmt.Println(\"hello\")\n", 90) + "// codeEnd\n```\n\n" + table +
		"\n> " + strings.Repeat("quoted ", 40) + "proseEnd\n"
	return page.Session{
		Info: lathe.Session{ID: "ses_1", Title: "A long session", Version: "1", Created: noon},
		Note: "One message was left out. noteEnd",
		Messages: []lathe.Message{
			{Created: noon, Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "Do it. " + wide + " askedEnd"}}}},
			{Created: noon, Info: &lathe.Assistant{Agent: "build", Completed: noon.Add(time.Minute)}, Parts: []lathe.Part{
				{Body: &lathe.Reasoning{Text: strings.Repeat("I think. ", 200) + "thoughtEnd"}},
				done("bash", "", map[string]any{"output": "\x1b[31m" + rows + wide + "\x1b[0m\x1b[7mprintedEnd\x1b[0m\n", "exit": 0.0}, map[string]any{"command": "go test ./...\necho commandEnd"}),
				done("read", rows+"readEnd", nil, map[string]any{"filePath": "a.go"}),
				done("edit", "", map[string]any{"diff": "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-" + wide + " removedEnd\n+" + wide + " addedEnd\n"}, map[string]any{"filePath": "b.go"}),
				done("task", rows+"taskEnd", nil, map[string]any{"description": "look", "subagent_type": "general", "prompt": "look at it"}),
				done("question", "", map[string]any{"answers": []any{[]any{"answeredEnd"}}}, map[string]any{"questions": []any{map[string]any{"question": "Which?"}}}),
				done("acme_look", rows, nil, map[string]any{"what": wide + "argumentEnd"}),
				call(func(raw json.RawMessage) lathe.ToolState {
					return &lathe.ToolFailed{Input: raw, Error: rows + "failedEnd"}
				}, "bash", map[string]any{"command": "false"}),
				{Body: &lathe.Text{Text: answer}},
			}},
			{Created: noon, Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: strings.Repeat("And then a long text that was pasted.\n", 90) + "longAskEnd"}}}},
			{Created: noon, Info: &lathe.Assistant{Agent: "build", Completed: noon.Add(time.Minute)}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "Good."}}}},
			{Created: noon, Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "Thanks."}}}},
			{Created: noon, Info: &lathe.Assistant{Agent: "build", Completed: noon.Add(time.Minute)}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "床前明月光，疑是地上霜。"}}}},
		},
		Diffs: []lathe.FileDiff{{File: "b.go", Patch: "@@ -1 +1 @@\n-" + wide + "\n+" + wide + " laterEnd\n", Additions: 1, Deletions: 1}},
	}
}
