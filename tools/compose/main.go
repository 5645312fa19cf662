// Command compose reads a compose file as Docker's own program does, and says what is wrong with
// it: the schema's complaints, and services, secrets and volumes that are not there.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: compose FILE")
		os.Exit(2)
	}
	p, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
	fmt.Printf("%s - valid: %d services\n", os.Args[1], len(p.Services))
}

func read(name string) (*types.Project, error) {
	details := types.ConfigDetails{WorkingDir: filepath.Dir(name), ConfigFiles: []types.ConfigFile{{Filename: name}}, Environment: types.Mapping{}}
	return loader.LoadWithContext(context.Background(), details, func(o *loader.Options) {
		o.SetProjectName("lathe", true)
		o.SkipResolveEnvironment = true // the files with it are the person's
	})
}
