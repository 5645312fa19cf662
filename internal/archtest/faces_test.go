package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// engineFiles are the files below internal/cli that may hold an engine in their hands.
// Every other command reaches it through the client, as the screen does.
var engineFiles = map[string]string{
	"app/app.go":        "wires the engine",
	"app/database.go":   "opens the database",
	"app/work.go":       "offers the engine to other servers",
	"app/fresh.go":      "fetches before other servers begin something",
	"app/upkeep.go":     "looks after the store in the background",
	"face/face.go":      "makes the client of an engine in this process",
	"serve/serve.go":    "is the server",
	"serve/drain.go":    "lets its turns end",
	"serve/named.go":    "asks whether people have names",
	"serve/worker.go":   "is the worker",
	"app/metrics.go":    "counts what the engine does",
	"data/user.go":      "is about the database itself",
	"data/userkey.go":   "is about the database itself",
	"app/keys.go":       "opens the keys of people",
	"data/db.go":        "is about the database itself",
	"data/check.go":     "is about the database itself",
	"data/doctor.go":    "reads the whole database",
	"app/retention.go":  "looks after the store, too",
	"data/retention.go": "is about the database itself",
}

// inHand is how a file gets hold of the engine, or of what is stored beside it:
// credentials, decisions about repositories, other programs' sessions.
var inHand = regexp.MustCompile(`\b(withApp|app\.Open|auth\.Open|trust\.Open|disk\.Read)\(|\b(a|App)\.(Service|DB|Store)\b[^/"]`)

func TestCommandsAreClients(t *testing.T) {
	files, err := filepath.Glob("../cli/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	root, err := filepath.Glob("../cli/*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, path := range append(files, root...) {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../cli/")
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := inHand.Find(src)
		if used[name] = found != nil; found != nil && engineFiles[name] == "" {
			t.Errorf("internal/cli/%s uses the engine (%q); add what it needs to the client", name, found)
		}
	}
	for name := range engineFiles {
		if !used[name] {
			t.Errorf("internal/cli/%s uses no engine any more; take it off the list", name)
		}
	}
}
