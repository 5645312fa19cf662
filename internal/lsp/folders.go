package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// add makes a folder one of the server's. It reports false where the server cannot take
// it.
func (c *client) add(root string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.folders, root) {
		return true
	}
	if !c.sharesFolders() {
		return false
	}
	c.folders = append(c.folders, root)
	c.changeFolders([]folder{folderOf(root)}, nil)
	return true
}

// sharesFolders reports whether the server takes folders while it runs.
func (c *client) sharesFolders() bool {
	return c.caps.Workspace.Folders.Supported && bool(c.caps.Workspace.Folders.Changes)
}

// drop takes a folder from the server, and what is known of the files in it. It returns
// how many are left.
func (c *client) drop(root string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.folders, root)
	if i < 0 {
		return len(c.folders)
	}
	c.folders = slices.Delete(c.folders, i, i+1)
	if len(c.folders) > 0 && c.sharesFolders() {
		c.changeFolders(nil, []folder{folderOf(root)})
		c.docs.closeBelow(root)
		c.forgetBelow(root)
	}
	return len(c.folders)
}

func (c *client) changeFolders(added, removed []folder) {
	event := map[string]any{"added": slices.Concat([]folder{}, added), "removed": slices.Concat([]folder{}, removed)}
	c.notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": event})
}

func folderOf(dir string) folder { return folder{URI: uriOf(dir), Name: filepath.Base(dir)} }

// uriOf returns the file URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf returns the path of a file URI, or "".
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}
