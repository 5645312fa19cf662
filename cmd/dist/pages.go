package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"lathe"
	"lathe/internal/cli"
	"lathe/internal/cli/complete"
)

// file is one entry of an archive.
type file struct {
	name string
	data []byte
	mode int64
}

// pages are the man pages of commands and topics, and the completions for four shells.
func pages(when time.Time) ([]file, error) {
	root := cli.Tree()
	all, err := completions(root)
	if err != nil {
		return nil, err
	}
	root.InitDefaultHelpCmd()
	complete.Scripts(root)
	dir, err := os.MkdirTemp("", "lathe-man-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	root.DisableAutoGenTag = true
	listsApart(root)
	err = doc.GenManTree(root, &doc.GenManHeader{Title: "LATHE", Section: "1", Date: &when, Source: "lathe " + lathe.Version, Manual: "lathe"}, dir)
	if err != nil {
		return nil, fmt.Errorf("man pages: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		data, err := os.ReadFile(dir + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: "man/man1/" + e.Name(), data: data, mode: 0o644})
	}
	more, err := topics(when)
	return append(all, more...), err
}

// listsApart has the indented lines in the help of all commands stay lines of their own: the
// help is plain text, but a man page is made of it as of Markdown, where they would run
// into the sentence that follows.
func listsApart(c *cobra.Command) {
	c.Long = asBlocks(c.Long)
	for _, sub := range c.Commands() {
		listsApart(sub)
	}
}

// asBlocks makes each passage of indented lines a block of code.
func asBlocks(text string) string {
	var b strings.Builder
	within := false
	for line := range strings.Lines(text) {
		if blank := strings.TrimSpace(line) == ""; !blank && within != strings.HasPrefix(line, "  ") {
			within = !within
			b.WriteByte('\n')
		}
		if within {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func completions(root *cobra.Command) ([]file, error) {
	var all []file
	for _, shell := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"bash/lathe", func(b *bytes.Buffer) error { return complete.Bash(b, root, true) }},
		{"zsh/_lathe", func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
		{"fish/lathe.fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
		{"powershell/lathe.ps1", func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) }},
	} {
		var b bytes.Buffer
		if err := shell.write(&b); err != nil {
			return nil, fmt.Errorf("completion %s: %w", shell.name, err)
		}
		all = append(all, file{name: "completions/" + shell.name, data: b.Bytes(), mode: 0o644})
	}
	return all, nil
}

// papers lie beside the program in each archive.
var papers = []string{"LICENSE", "README.md", "README.zh-CN.md", "SECURITY.md", "CHANGELOG.md"}

func readPapers() ([]file, error) {
	var all []file
	for _, name := range papers {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%w: run dist in the root of the source tree", err)
		}
		all = append(all, file{name: name, data: data, mode: 0o644})
	}
	return all, nil
}
