package shell

import "os"

const canTellParts = false

func readAvailable(*os.File, int) []byte { return nil }
