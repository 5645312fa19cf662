package session

import (
	"io"
	"net/http"
	"os"
	"strings"
)

// mediaType returns what a file holds, judged by its first bytes: a picture or a
// PDF is one whatever its name says, and what is only named so is not, since a
// provider would refuse the whole request for it.
func mediaType(path string, info os.FileInfo, named string) string {
	if !info.Mode().IsRegular() {
		return named
	}
	f, err := os.Open(path)
	if err != nil {
		return named // reading it says why
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

// sendable reports kinds that every provider with eyes accepts.
func sendable(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf":
		return true
	}
	return false
}
