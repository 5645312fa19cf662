package session

import (
	"io"
	"net/http"
	"os"
	"strings"
)

// mediaType returns what a file holds, judged by its first bytes. A picture or a
// PDF counts as one whatever its name says, and a file that only has such a name
// does not, because a provider would refuse the whole request for it.
func mediaType(path string, info os.FileInfo, named string) string {
	if !info.Mode().IsRegular() {
		return named
	}
	f, err := os.Open(path)
	if err != nil {
		return named // reading the file will say why
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	kind, _, _ := strings.Cut(http.DetectContentType(head[:n]), ";")
	switch {
	case sendable(kind):
		return kind
	case isMedia(named):
		return "text/plain"
	}
	return named
}

// sendable reports whether every provider that reads pictures accepts the kind.
func sendable(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf":
		return true
	}
	return false
}
