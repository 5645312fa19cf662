package session

import (
	"context"
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/instance"
)

// expandResource expands a resource of an MCP server into its content, or into the
// reason why it could not be read. The prompt goes on either way.
func (i *intake) expandResource(ctx context.Context, f *lathe.File) []lathe.PartBody {
	out := []lathe.PartBody{synthetic(fmt.Sprintf("Reading MCP resource: %s (%s)", f.Filename, f.Source.URI))}
	content, err := i.inst.Servers(ctx).ReadResource(ctx, f.Source.Client, f.Source.URI)
	if err != nil {
		return append(out, synthetic(fmt.Sprintf("Failed to read MCP resource %s: %v", f.Filename, err)))
	}
	if len(content.Texts) > 0 {
		text := i.inst.Limits.Head(strings.Join(content.Texts, "\n\n"), false)
		out = append(out, synthetic(text.Text))
	}
	for _, file := range content.Files {
		bodies, err := i.expandData(&file)
		if err != nil {
			bodies = []lathe.PartBody{synthetic(fmt.Sprintf("[a part of %s is left out: %v]", f.Filename, err))}
		}
		out = append(out, bodies...)
	}
	return out
}

// referencedResource returns a resource of an MCP server that a text names as
// "@server:address", or nil. The server must be known to have it, or resources whose
// addresses have a part to fill in.
func referencedResource(i *instance.Instance, text string, ref reference) *lathe.File {
	for at := range len(ref.name) { // a server's name may hold a colon
		if ref.name[at] != ':' {
			continue
		}
		r, ok := i.MCP.Resource(ref.name[:at], ref.name[at+1:])
		if !ok {
			continue
		}
		mime := r.MIME
		if mime == "" {
			mime = "text/plain"
		}
		return &lathe.File{MIME: mime, Filename: r.Name, URL: r.URI, Source: &lathe.FileSource{Kind: "resource", Client: r.Server, URI: r.URI, Text: sourceText(text, ref)}}
	}
	return nil
}
