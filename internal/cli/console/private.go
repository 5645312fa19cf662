package console

import "io/fs"

// Private reports whether a file with a secret is there for its reader alone. One of root's that
// its group may read, too, counts for everybody else: that is how Kubernetes (fsGroup) and systemd
// (LoadCredential=, whose access list shows as the mode of the group) hand a secret to a program,
// which could not change that.
func Private(info fs.FileInfo) bool {
	owner, self, known := owners(info)
	return !known || private(info.Mode().Perm(), owner, self)
}

func private(mode fs.FileMode, owner, self int) bool {
	return mode&0o077 == 0 || owner == 0 && self != 0 && mode&0o037 == 0
}
