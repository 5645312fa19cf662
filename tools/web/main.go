// Web bundles the sources of lathe's web page (web/src) into the files that the binary
// embeds (web/dist). The packages from npm have to be there: npm ci in web.
//
//	go run -C tools ./web              # writes web/dist
//	go run -C tools ./web -check       # fails where web/dist is not what the sources make
//	go run -C tools ./web -test DIR    # bundles the tests into DIR, for node --test
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("web: ")
	check := flag.Bool("check", false, "compare with what is there, write nothing")
	tests := flag.String("test", "", "bundle the tests into this directory")
	root := flag.String("root", "web", "where the sources and their packages are; below the module where it is relative")
	dist := flag.String("dist", "web/dist", "where the files go, likewise")
	flag.Parse()
	if err := run(place(*root), place(*dist), *tests, *check); err != nil {
		log.Fatal(err)
	}
}

// place returns the path of a name: the program runs in tools, one below the module.
func place(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	abs, err := filepath.Abs(filepath.Join("..", name))
	if err != nil {
		log.Fatal(err)
	}
	return abs
}

func run(root, dist, tests string, check bool) error {
	switch {
	case tests != "":
		return bundleTests(root, place(tests))
	case check:
		return compare(root, dist)
	}
	return write(root, dist)
}

// bundle returns the files of dist by their names.
func bundle(root string) (map[string][]byte, error) {
	res := api.Build(api.BuildOptions{
		AbsWorkingDir: root, EntryPoints: []string{"src/main.tsx", "src/style.css"}, Outdir: filepath.Join(root, "dist"),
		Bundle: true, Splitting: true, PreserveSymlinks: true, Format: api.FormatESModule, Platform: api.PlatformBrowser, Target: api.ES2022,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsEndOfFile,
		EntryNames: "[name]-[hash]", ChunkNames: "chunk-[hash]", AssetNames: "[name]-[hash]",
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		Define: map[string]string{"process.env.NODE_ENV": `"production"`}, Metafile: true,
	})
	if err := failed(res.Errors); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	var script, style string
	for _, f := range res.OutputFiles {
		name := filepath.Base(f.Path)
		files[name] = f.Contents
		switch {
		case strings.HasPrefix(name, "main-") && strings.HasSuffix(name, ".js"):
			script = name
		case strings.HasPrefix(name, "style-") && strings.HasSuffix(name, ".css"):
			style = name
		}
	}
	index, err := os.ReadFile(filepath.Join(root, "src", "index.html"))
	if err != nil {
		return nil, err
	}
	preload, err := preloads(res.Metafile, script)
	if err != nil {
		return nil, err
	}
	index = bytes.ReplaceAll(index, []byte("{{preload}}\n"), preload)
	icon, err := os.ReadFile(filepath.Join(root, "src", "icon.svg"))
	if err != nil {
		return nil, err
	}
	name := "icon-" + hash(icon) + ".svg"
	files[name] = icon
	index = bytes.ReplaceAll(index, []byte("{{icon}}"), []byte(name))
	index = bytes.ReplaceAll(index, []byte("{{script}}"), []byte(script))
	files["index.html"] = bytes.ReplaceAll(index, []byte("{{style}}"), []byte(style))
	return files, nil
}

// hash returns what the name of a file says of its content, as esbuild has it for others.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return base32.StdEncoding.EncodeToString(sum[:])[:8]
}

// preloads returns the links by which a browser fetches, together with the script, what
// it imports.
func preloads(metafile, script string) ([]byte, error) {
	var meta struct {
		Outputs map[string]struct {
			Imports []struct{ Path, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	var names []string
	var add func(name string)
	add = func(name string) {
		for _, i := range meta.Outputs[name].Imports {
			if i.Kind == "import-statement" && !slices.Contains(names, i.Path) {
				names = append(names, i.Path)
				add(i.Path)
			}
		}
	}
	for name := range meta.Outputs {
		if filepath.Base(name) == script {
			add(name)
		}
	}
	slices.Sort(names)
	var out bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&out, "<link rel=\"modulepreload\" href=\"lathe/page/%s\">\n", filepath.Base(name))
	}
	return out.Bytes(), nil
}

func failed(list []api.Message) error {
	var errs []error
	for _, line := range api.FormatMessages(list, api.FormatMessagesOptions{Kind: api.ErrorMessage}) {
		errs = append(errs, errors.New(strings.TrimSpace(line)))
	}
	return errors.Join(errs...)
}

// packedExt ends the name of each file of dist: the binary holds them compressed.
const packedExt = ".gz"

func pack(data []byte) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil { // the level is a constant
		panic(err)
	}
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

func unpack(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func write(root, dist string) error {
	files, err := bundle(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.Mkdir(dist, 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dist, name+packedExt), pack(data), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare reports where dist is not what the sources make. It compares what is in the
// files: another version of Go may compress them otherwise.
func compare(root, dist string) error {
	files, err := bundle(root)
	if err != nil {
		return err
	}
	there, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	var differ []string
	for _, entry := range there {
		packed, err := os.ReadFile(filepath.Join(dist, entry.Name()))
		if err != nil {
			return err
		}
		name, named := strings.CutSuffix(entry.Name(), packedExt)
		want, made := files[name]
		data, err := unpack(packed)
		if !named || !made || err != nil || !bytes.Equal(want, data) {
			differ = append(differ, entry.Name())
		}
		delete(files, name)
	}
	for name := range files {
		differ = append(differ, name)
	}
	if len(differ) > 0 {
		slices.Sort(differ)
		return fmt.Errorf("web/dist is not what web/src makes (%s); run: go generate ./web", strings.Join(differ, ", "))
	}
	return nil
}

func bundleTests(root, dir string) error {
	tests, err := filepath.Glob(filepath.Join(root, "test", "*.test.ts*"))
	if err != nil {
		return err
	}
	res := api.Build(api.BuildOptions{
		AbsWorkingDir: root, EntryPoints: tests, Outdir: dir, Write: true, Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode,
		Target: api.ES2022, OutExtension: map[string]string{".js": ".mjs"}, JSX: api.JSXAutomatic, JSXImportSource: "preact",
	})
	return failed(res.Errors)
}
