package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
	"lathe/internal/tool"
)

// maxBlob limits an image or document in a result.
const maxBlob = 10 << 20

// result turns what a server answered into a tool's result.
func result(res *mcp.CallToolResult) tool.Result {
	out := gather{}
	for _, c := range res.Content {
		out.add(c)
	}
	if len(out.texts) == 0 && res.StructuredContent != nil {
		if raw, err := json.MarshalIndent(res.StructuredContent, "", "  "); err == nil {
			out.text(string(raw))
		}
	}
	meta := map[string]any{}
	for k, v := range res.Meta {
		meta[k] = v
	}
	delete(meta, "truncated") // not for the server to say
	delete(meta, "outputPath")
	text := strings.Join(out.texts, "\n\n")
	if res.IsError && text == "" {
		text = "the tool failed and does not say why"
	}
	return tool.Result{Output: text, Metadata: meta, Attachments: out.files, Failed: res.IsError}
}

// gather collects the contents of a result.
type gather struct {
	texts []string
	files []lathe.File
}

func (g *gather) text(s string) {
	g.texts = append(g.texts, strings.ToValidUTF8(s, "\uFFFD")) // faces clean it, as any tool's output
}

func (g *gather) add(c mcp.Content) {
	switch c := c.(type) {
	case *mcp.TextContent:
		g.text(c.Text)
	case *mcp.ImageContent:
		g.blob(c.Data, c.MIMEType, "")
	case *mcp.AudioContent:
		g.blob(c.Data, c.MIMEType, "")
	case *mcp.ResourceLink:
		line := "Resource: " + c.Name + " (" + c.URI + ")"
		if c.Description != "" {
			line += ": " + c.Description
		}
		g.text(line)
	case *mcp.EmbeddedResource:
		g.resource(c.Resource)
	}
}

func (g *gather) resource(r *mcp.ResourceContents) {
	switch {
	case r == nil:
	case r.Blob != nil:
		g.blob(r.Blob, r.MIMEType, r.URI)
	default:
		g.text(r.Text)
	}
}

// blob attaches what models can be shown, and mentions the rest.
func (g *gather) blob(data []byte, kind, name string) {
	base, _, err := mime.ParseMediaType(kind)
	if err != nil {
		base = "application/octet-stream"
	}
	switch {
	case len(data) > maxBlob:
		g.text(fmt.Sprintf("[%s of %d bytes is left out: at most %d are shown]", base, len(data), maxBlob))
	case !showable(base):
		g.text(fmt.Sprintf("[%s of %d bytes is left out: it cannot be shown]", base, len(data)))
	default:
		g.files = append(g.files, lathe.File{
			MIME: base, Filename: clean(name, maxName), URL: "data:" + base + ";base64," + base64.StdEncoding.EncodeToString(data),
		})
	}
}

func showable(kind string) bool {
	switch kind {
	case "application/pdf", "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return strings.HasPrefix(kind, "audio/")
}
