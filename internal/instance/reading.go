package instance

import (
	"path/filepath"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/permission"
	"lathe/internal/reading"
	"lathe/internal/tool"
)

// ReadingBy returns what a policy says about reading files, including what has
// been approved by the time it is asked.
func (i *Instance) ReadingBy(policy permission.Policy) func() tool.Reading {
	return func() tool.Reading { return reading.New(i.Root, policy, i.Permission.Approved(), i.links) }
}

// Reading says which files may be shown when no agent is at work, as in a search
// over the API: those that the default agent may read.
func (i *Instance) Reading() tool.Reading {
	return i.ReadingBy(i.Agents.Persons().Policy())()
}

// Hides returns a function that reports which files below a resolved directory
// are not even named: those that a rule for some files denies. It is nil if no
// rule denies any.
func (i *Instance) Hides(dir string) func(path string) bool {
	rules := i.Reading()
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
func (i *Instance) Denied(path string) bool {
	real, err := i.Root.Resolve(path)
	if err != nil {
		return false
	}
	v := i.Reading().Content(real)
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
