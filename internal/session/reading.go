package session

import (
	"context"
	"path/filepath"
	"slices"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/permission"
	"lathe/internal/reading"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// reading returns what a policy says of reading files, with what was approved by
// the time it is asked.
func (i *Instance) reading(policy permission.Policy) func() tool.Reading {
	return func() tool.Reading { return reading.New(i.Root, policy, i.Permission.Approved(), i.links) }
}

// Reading says which files may be shown where no agent is at work, as in a search
// over the API: those that the default agent may read.
func (i *Instance) Reading() tool.Reading {
	return i.reading(personsDefault(i.Agents, i.Config, i.rulePaths).policy())()
}

// Hides returns which files below a resolved directory are not even named: those
// that a rule for some files denies. It is nil where no rule denies any.
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

// Shown returns messages for people elsewhere to read: without what calls printed
// of files that may not be read without an ask, whoever was asked then.
func (s *Service) Shown(ctx context.Context, dir string, messages []lathe.Message) []lathe.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = s.shownParts(ctx, dir, out[i].Parts)
	}
	return out
}

func (s *Service) shownParts(ctx context.Context, dir string, parts []lathe.Part) []lathe.Part {
	inst, err := s.Instance(ctx, dir)
	if err != nil { // the directory may be gone
		root := workspace.Root{Dir: dir, Worktree: "/", TopLevel: "/"}
		return reading.Parts(reading.New(root, permission.Policy{Rules: permission.Defaults(permission.Paths{})}, nil, nil), root, parts)
	}
	return reading.Parts(inst.Reading(), inst.Root, parts)
}

// Denied reports whether a rule for some files keeps the default agent from
// reading one: then no text attaches it, for a text is pasted easily. What is only
// asked about is attached where the person names it.
func (i *Instance) Denied(path string) bool {
	real, err := i.Root.Resolve(path)
	if err != nil {
		return false
	}
	v := i.Reading().Content(real)
	return v.Action == lathe.Deny && v.Rule.Pattern != "*"
}

// secretFiles lists, as globs, where people keep keys and passwords, and where
// lathe does. A hard link to one of them is asked about under any name.
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
