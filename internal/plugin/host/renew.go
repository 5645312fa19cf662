package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Have sees to it that a plugin can be loaded: a package is installed, a file is there.
func (p Packages) Have(ctx context.Context, spec string, fresh bool) error {
	if file, ok := fileOf(spec); ok {
		_, err := localEntry(file)
		return err
	}
	if fresh {
		return p.renew(ctx, spec)
	}
	_, err := p.Install(ctx, spec)
	return err
}

// renew installs a package anew beside what is there, and has it take that place only if
// that works.
func (p Packages) renew(ctx context.Context, spec string) error {
	name := packageName(spec)
	files := map[string][]byte{"package.json": manifest(map[string]string{name: version(spec)})}
	dir, err := p.place("pkg-"+safe(spec), files)
	if err != nil {
		return err
	}
	return p.alone(ctx, dir, func(ctx context.Context) error {
		if err := os.RemoveAll(fresh(dir)); err != nil {
			return err
		}
		if err := p.fill(ctx, fresh(dir), "pkg", files, ""); err != nil {
			return err
		}
		return takePlace(dir, filepath.Join(p.o.Data, "plugins", safe(spec)))
	})
}

// fresh is where the newer packages of a directory wait to take its place.
func fresh(dir string) string { return dir + ".fresh" }

// takePlace pins the newer packages of a directory and puts them in its place. If lathe dies
// on the way, it can be repeated: until the end what is new stays where it was installed.
// What cannot be pinned is given up.
func takePlace(dir, pinned string) error {
	if pinned != "" {
		if err := pin(fresh(dir), pinned); err != nil {
			return errors.Join(err, os.RemoveAll(fresh(dir))) // what is there stays
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(fresh(dir), dir)
}
