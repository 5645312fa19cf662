package instance

import (
	"path/filepath"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/permission"
	"lathe/internal/reading"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// Readable says which files of a directory may be shown to whom.
type Readable struct {
	root  workspace.Root
	asks  *permission.Service // what was approved
	usual func() permission.Policy
	links *reading.Links
}

// By returns what a policy says about reading files, including what has been approved by
// the time it is asked.
func (r *Readable) By(policy permission.Policy) func() tool.Reading {
	return func() tool.Reading { return reading.New(r.root, policy, r.asks.Approved(), r.links) }
}

// Usual says which files may be shown when no agent is at work, as in a search over the
// API: those that the default agent may read.
func (r *Readable) Usual() tool.Reading { return r.By(r.usual())() }

// Hides returns a function that reports which files below a resolved directory
// are not even named: those that a rule for some files denies. It is nil if no
// rule denies any.
func (r *Readable) Hides(dir string) func(path string) bool {
	rules := r.Usual()
	if !rules.Restricts(lathe.Deny) {
		return nil
	}
	below := rules.Below(dir)
	return func(path string) bool {
		v := below(path)
		return v.Action == lathe.Deny && v.Rule.Pattern != "*"
	}
}

// Denied reports whether a rule for some files keeps the default agent from reading
// one. No text can attach such a file, because text is easily pasted. A file that
// only needs an ask is attached if the person names it.
func (r *Readable) Denied(path string) bool {
	real, err := r.root.Resolve(path)
	if err != nil {
		return false
	}
	v := r.Usual().Content(real)
	return v.Action == lathe.Deny && v.Rule.Pattern != "*"
}

// secretFiles lists, as globs, where people and lathe itself keep keys and
// passwords. A hard link to one of them needs an ask under any name.
func secretFiles(p config.Paths) []string {
	var globs []string
	for _, name := range []string{
		".ssh/*", ".gnupg/*", ".gnupg/private-keys-v1.d/*", ".aws/credentials", ".azure/*.json", ".config/gcloud/*.db", ".config/gcloud/*.json",
		".config/gh/hosts.yml", ".docker/config.json", ".kube/config", ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".password-store/*",
	} {
		if p.Home != "" {
			globs = append(globs, filepath.Join(p.Home, name))
		}
	}
	for _, dir := range []string{p.Data, p.Config, p.State, p.OpenCodeConfig, p.OpenCodeData} {
		if dir != "" {
			globs = append(globs, filepath.Join(dir, "*"))
		}
	}
	return globs
}
