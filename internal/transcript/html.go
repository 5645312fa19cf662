package transcript

import (
	"fmt"
	"html"
	"io"
	"strings"

	"lathe"
)

const head = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">
<meta name="referrer" content="no-referrer"><title>%s</title>
<style>
:root{color-scheme:light dark;--bg:#fff;--fg:#1c1c1e;--dim:#6b6b70;--line:#dcdce0;--box:#f5f5f7;--add:#e3f6e5;--del:#fce4e4;--user:#2f6fde}
@media(prefers-color-scheme:dark){:root{--bg:#161618;--fg:#e8e8ea;--dim:#9a9aa0;--line:#333338;--box:#1f1f23;--add:#16331c;--del:#3d1a1c;--user:#74a4f5}}
body{margin:0 auto;padding:2rem 1rem 4rem;max-width:56rem;background:var(--bg);color:var(--fg);font:15px/1.6 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0}.meta{color:var(--dim);font-size:.85rem}
article{margin:1.5rem 0}.user{border-left:3px solid var(--user);padding-left:1rem}
.words{white-space:pre-wrap;overflow-wrap:anywhere}.thought{color:var(--dim);font-style:italic}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;background:var(--box)}summary{cursor:pointer;padding:.35rem .7rem;overflow-wrap:anywhere}
pre{margin:0;padding:.7rem;overflow:auto;max-height:32rem;font:12.5px/1.5 ui-monospace,monospace;border-top:1px solid var(--line);white-space:pre-wrap;overflow-wrap:anywhere}
.bad{color:#d33}.add{background:var(--add);display:block}.del{background:var(--del);display:block}img{max-width:100%%;border-radius:6px}
</style></head><body>
`

// HTML writes the session as one page. It has no script and loads nothing, and a
// policy in it forbids both, whatever the session contains.
func HTML(w io.Writer, s Session) error {
	var b strings.Builder
	fmt.Fprintf(&b, head, html.EscapeString(s.Info.Title))
	fmt.Fprintf(&b, "<header><h1>%s</h1><p class=meta>%s · %s · %s · lathe %s</p></header>\n<main>\n", html.EscapeString(s.Info.Title),
		html.EscapeString(string(s.Info.ID)), stamp(s.Info.Created), s.Info.Cost, html.EscapeString(s.Info.Version))
	for _, m := range s.Messages {
		if body := htmlParts(m); body != "" {
			fmt.Fprintf(&b, "<article class=%s><p class=meta>%s</p>\n%s</article>\n", role(m), html.EscapeString(title(m)), body)
		}
	}
	if note := s.hiddenNote(); note != "" {
		fmt.Fprintf(&b, "<p class=meta>%s</p>\n", note)
	}
	if len(s.Diffs) > 0 {
		b.WriteString("<section><h2>Changed files</h2>\n")
		for _, d := range s.Diffs {
			fmt.Fprintf(&b, "<details><summary>%s <span class=meta>+%d −%d</span></summary><pre>%s</pre></details>\n",
				html.EscapeString(d.File), d.Additions, d.Deletions, htmlPatch(d.Patch))
		}
		b.WriteString("</section>\n")
	}
	b.WriteString("</main></body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func role(m lathe.Message) string {
	if _, ok := m.Info.(*lathe.User); ok {
		return "user"
	}
	return "assistant"
}

func title(m lathe.Message) string {
	if a, ok := m.Info.(*lathe.Assistant); ok {
		return a.Model.String() + " · " + stamp(m.Created)
	}
	return "user · " + stamp(m.Created)
}

func htmlParts(m lathe.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		switch body := p.Body.(type) {
		case *lathe.Text:
			if !body.Synthetic && strings.TrimSpace(body.Text) != "" {
				fmt.Fprintf(&b, "<div class=words>%s</div>\n", html.EscapeString(strings.TrimSpace(body.Text)))
			}
		case *lathe.Reasoning:
			if t := strings.TrimSpace(body.Text); t != "" {
				fmt.Fprintf(&b, "<details><summary class=thought>thought</summary><pre>%s</pre></details>\n", html.EscapeString(t))
			}
		case *lathe.File:
			b.WriteString(htmlFile(*body))
		case *lathe.Subtask:
			fmt.Fprintf(&b, "<details><summary>subtask %s</summary><pre>%s</pre></details>\n", html.EscapeString(body.Description), html.EscapeString(body.Prompt))
		case *lathe.ToolCall:
			b.WriteString(htmlCall(body))
		}
	}
	if a, ok := m.Info.(*lathe.Assistant); ok && a.Error != nil {
		fmt.Fprintf(&b, "<p class=bad>%s</p>\n", html.EscapeString(a.Error.Error()))
	}
	return b.String()
}

func htmlCall(c *lathe.ToolCall) string {
	title, input, output, failed := callParts(c)
	class := ""
	if failed {
		class = " class=bad"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary%s><b>%s</b> %s</summary>", class, html.EscapeString(c.Tool), html.EscapeString(title))
	for _, text := range []string{input, output} {
		if text != "" {
			fmt.Fprintf(&b, "<pre>%s</pre>", html.EscapeString(text))
		}
	}
	if done, ok := c.State.(*lathe.ToolDone); ok {
		for _, f := range done.Attachments {
			b.WriteString(htmlFile(f))
		}
	}
	b.WriteString("</details>\n")
	return b.String()
}

// htmlFile shows pictures and names the rest.
func htmlFile(f lathe.File) string {
	for _, kind := range []string{"png", "jpeg", "gif", "webp"} {
		if strings.HasPrefix(f.URL, "data:image/"+kind+";base64,") {
			return fmt.Sprintf("<p><img alt=\"%s\" src=\"%s\"></p>\n", html.EscapeString(f.Filename), html.EscapeString(f.URL))
		}
	}
	return fmt.Sprintf("<p class=meta>file %s</p>\n", html.EscapeString(f.Filename))
}

func htmlPatch(patch string) string {
	if patch == "" {
		return "(contents not shown)"
	}
	var b strings.Builder
	for l := range strings.Lines(patch) {
		text := html.EscapeString(strings.TrimSuffix(l, "\n"))
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
			b.WriteString(text + "\n")
		case strings.HasPrefix(l, "+"):
			b.WriteString("<span class=add>" + text + "</span>")
		case strings.HasPrefix(l, "-"):
			b.WriteString("<span class=del>" + text + "</span>")
		default:
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}
