// Package builtin holds the tools that come with lathe. Each tool has a Go file
// and a description for the model in a Markdown file of the same name.
//
// Every file access goes the same way: the path is resolved, symbolic links
// included; a path outside the workspace asks for "external_directory"; then the
// tool's own permission is asked; then the tool acts.
package builtin
