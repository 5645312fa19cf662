package console

import "io/fs"

// owners knows nothing: who may read a file is no part of its mode here.
func owners(fs.FileInfo) (owner, self int, known bool) { return 0, 0, false }
