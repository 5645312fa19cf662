// Command dist builds what is released: an archive for each system, with the
// program, its man pages and its completions, and the archives' checksums.
//
//	go run ./cmd/dist -o dist
//
// The same source gives the same bytes on any machine with the same version of Go:
// no path, time or name of the building machine gets into an archive.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe"
)

// targets are the systems that are released for.
const targets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	log.SetFlags(0)
	log.SetPrefix("dist: ")
	out := flag.String("o", "dist", "directory to write to; files in it that are made again are replaced")
	list := flag.String("targets", targets, "systems to build for, as os/arch,…")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, strings.Split(*list, ","), os.Stderr); err != nil {
		log.Fatal(err)
	}
}

// run builds for every target and writes what is released to the directory out.
func run(ctx context.Context, out string, list []string, progress io.Writer) error {
	when, err := sourceTime(ctx)
	if err != nil {
		return err
	}
	extra, err := pages(when)
	if err != nil {
		return err
	}
	papers, err := readPapers()
	if err != nil {
		return err
	}
	terms, err := licenses(ctx)
	if err != nil {
		return err
	}
	extra = slices.Concat(papers, terms, extra)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var sums []string
	for _, target := range list {
		system, arch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("target %q is not os/arch", target)
		}
		name := fmt.Sprintf("lathe-%s-%s-%s", lathe.Version, system, arch)
		fmt.Fprintln(progress, name)
		program, err := build(ctx, system, arch)
		if err != nil {
			return err
		}
		sum, err := release{dir: out, name: name, system: system, when: when}.write(program, extra)
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(sums, "")), 0o644)
}

// build compiles lathe for a system and returns the program.
func build(ctx context.Context, system, arch string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "lathe-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "lathe")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", name, "./cmd/lathe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+system, "GOARCH="+arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build for %s/%s: %w\n%s", system, arch, err, text)
	}
	return os.ReadFile(name)
}

// sourceTime is the time that archives and man pages bear: SOURCE_DATE_EPOCH
// (seconds), else that of the commit.
func sourceTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		data, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("time of the commit: %w; set SOURCE_DATE_EPOCH where there is no git", err)
		}
		text = strings.TrimSpace(string(data))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, not a number of seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
