package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"lathe/internal/jsonc"
	"lathe/internal/workspace"
)

// Bounds of what is read below a config directory.
const (
	maxMarkdown = 1 << 20
	maxFiles    = 2000
	maxDirDepth = 12
	maxEntries  = 20_000
	maxNodes    = 20_000
)

// FrontMatter splits Markdown into the tree of its front matter, an empty
// object when there is none, and the body, trimmed. YAML that does not parse
// gets a second chance with every value that contains a colon taken literally.
func FrontMatter(name string, text []byte) (head *jsonc.Value, body string, err error) {
	src := jsonc.NewSource(name, text)
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return jsonc.NewObject().At(src, 0), trimmed(text), nil
	}
	block, after, ok := bytes.Cut(append([]byte("\n"), rest...), []byte("\n---"))
	closing, after, _ := bytes.Cut(after, []byte("\n"))
	if !ok || len(bytes.TrimSpace(closing)) > 0 {
		return jsonc.NewObject().At(src, 0), trimmed(text), nil
	}
	block = bytes.TrimPrefix(block, []byte("\n"))
	head, err = parseYAML(src, block)
	if err != nil {
		var second error
		if head, second = parseYAML(src, forgiving(block)); second != nil {
			return nil, "", fmt.Errorf("%s: front matter is not YAML: %w", name, err)
		}
	}
	return head, trimmed(after), nil
}

func trimmed(b []byte) string { return strings.TrimSpace(string(b)) }

var plainLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z_$][\w.$-]*):[ \t]+(.*)$`)
})

// forgiving quotes the value of "key: words: more words"; lines stay lines.
func forgiving(block []byte) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(block)) {
		line = strings.TrimSuffix(line, "\n")
		m := plainLine().FindStringSubmatch(line)
		if m == nil || !strings.Contains(m[2], ":") || strings.ContainsAny(m[2][:1], `"'>|[{`) {
			out.WriteString(line + "\n")
			continue
		}
		out.WriteString(m[1] + ": " + string(jsonc.NewString(strings.TrimSpace(m[2])).Append(nil)) + "\n")
	}
	return out.Bytes()
}

// parseYAML returns a mapping as a tree. Places are those of the first parse;
// front matter starts on line 2.
func parseYAML(src *jsonc.Source, block []byte) (v *jsonc.Value, err error) {
	defer func() {
		if r := recover(); r != nil { // the parser is not ours and the text is untrusted
			v, err = nil, errors.New("the parser gave up")
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(block, &doc); err != nil {
		return nil, err
	}
	obj := jsonc.NewObject().At(src, 0)
	if len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && strings.TrimSpace(doc.Content[0].Value) == "" {
		return obj, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is not a list of keys and values")
	}
	left := maxNodes
	return convertYAML(src, doc.Content[0], &left, 0)
}

func convertYAML(src *jsonc.Source, n *yaml.Node, left *int, depth int) (*jsonc.Value, error) {
	if *left--; *left < 0 || depth > jsonc.MaxDepth {
		return nil, errors.New("it is too large or nested too deeply")
	}
	v := (&jsonc.Value{}).At(src, src.Offset(n.Line+1, n.Column))
	switch n.Kind {
	case yaml.AliasNode:
		return convertYAML(src, n.Alias, left, depth+1)
	case yaml.MappingNode:
		v.Kind = jsonc.Object
		for i := 0; i+1 < len(n.Content); i += 2 {
			e, err := convertYAML(src, n.Content[i+1], left, depth+1)
			if err != nil {
				return nil, err
			}
			v.Set(n.Content[i].Value, e)
		}
	case yaml.SequenceNode:
		v.Kind = jsonc.Array
		for _, c := range n.Content {
			e, err := convertYAML(src, c, left, depth+1)
			if err != nil {
				return nil, err
			}
			v.Items = append(v.Items, e)
		}
	case yaml.ScalarNode:
		scalarYAML(v, n)
	}
	return v, nil
}

func scalarYAML(v *jsonc.Value, n *yaml.Node) {
	v.Kind, v.Text = jsonc.String, n.Value
	switch n.ShortTag() {
	case "!!null":
		v.Kind, v.Text = jsonc.Null, ""
	case "!!bool":
		v.Kind, v.True = jsonc.Bool, strings.EqualFold(n.Value, "true")
		v.Text = ""
	case "!!int", "!!float":
		if num, err := jsonc.Parse("", []byte(n.Value)); err == nil && num.Kind == jsonc.Number {
			v.Kind, v.Text = jsonc.Number, num.Text
		}
	}
}

// markdown is a definition found in a config directory.
type markdown struct {
	file string
	name string // path below its folder, without the extension
}

// findMarkdown lists the definitions in the first-level folders of a config
// directory, by path. Folders that do not exist are skipped, and those of an
// untrusted repository are not left by a link.
func (l *loader) findMarkdown(dir Directory, folders []string, recursive bool) []markdown {
	var list []markdown
	tree := workspace.Tree{Entries: maxEntries}
	if recursive {
		tree.Depth = maxDirDepth
	}
	if dir.Trust == Repository && !l.o.Trusted {
		tree.Enter = func(real string) bool {
			inside := l.holds(dir.Path, real)
			if !inside {
				l.c.LeftOut = append(l.c.LeftOut, LeftOut{"a link to " + real, jsonc.Pos{File: dir.Path}, outsideReason})
			}
			return inside
		}
	}
	for _, folder := range folders {
		root := filepath.Join(dir.Path, folder)
		if l.leaves(root, dir.Trust) {
			continue
		}
		files, all := tree.Find(root, func(name string) bool { return strings.HasSuffix(name, ".md") })
		if !all {
			l.warn(root, fmt.Sprintf("not all of it was looked at: it has more than %d entries", maxEntries))
		}
		for _, path := range files {
			name := strings.TrimPrefix(filepath.ToSlash(path[len(root):]), "/")
			list = append(list, markdown{path, strings.TrimSuffix(name, ".md")})
		}
	}
	return list[:min(len(list), maxFiles)]
}

// definitions reads the Markdown agents and commands of a config directory as
// one tree for each file.
func (l *loader) definitions(dir Directory) error {
	kinds := []struct {
		folders   []string
		key, body string
		recursive bool
		primary   bool
	}{
		{[]string{"command", "commands"}, "command", "template", true, false},
		{[]string{"agent", "agents"}, "agent", "prompt", true, false},
		{[]string{"mode", "modes"}, "agent", "prompt", false, true},
	}
	present, err := os.ReadDir(dir.Path)
	if err != nil {
		return nil
	}
	for _, k := range kinds {
		folders := slices.DeleteFunc(k.folders, func(f string) bool {
			return !slices.ContainsFunc(present, func(e fs.DirEntry) bool { return e.Name() == f })
		})
		for _, md := range l.findMarkdown(dir, folders, k.recursive) {
			if l.leaves(md.file, dir.Trust) {
				continue
			}
			text, err := readFile(md.file, maxMarkdown)
			if err != nil {
				l.warn(md.file, "skipped: "+err.Error())
				continue
			}
			head, body, err := FrontMatter(md.file, text)
			if err != nil {
				l.warn("", "skipped "+err.Error())
				continue
			}
			if k.primary {
				head.Set("mode", jsonc.NewString("primary").AtOf(head))
			}
			if body != "" || k.body == "template" {
				head.Set(k.body, jsonc.NewString(body).AtOf(head))
			}
			root := jsonc.NewObject().At(head.Source(), 0)
			group := jsonc.NewObject().AtOf(head)
			group.Set(md.name, head)
			root.Set(k.key, group)
			if err := l.add(root, Source{md.file, dir.Trust}); err != nil {
				return err
			}
		}
	}
	return nil
}
