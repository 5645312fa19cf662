package builtin

import (
	"fmt"
	"slices"
	"strings"
)

// brokenPipe is the exit code of a part whose output nobody reads any more, as
// in "yes | head": that is not a failure.
const brokenPipe = 128 + 13

// failedParts says which parts of the command's last pipeline failed without showing in
// its exit code, which is that of the last part. Pipelines are those that may have been
// the last.
func failedParts(pipelines [][]string, codes []int) string {
	if len(codes) < 2 {
		return ""
	}
	var failed []string
	for i, code := range codes[:len(codes)-1] {
		if code != 0 && code != brokenPipe {
			failed = append(failed, fmt.Sprintf("%s: exit code %d", partName(pipelines, len(codes), i), code))
		}
	}
	if len(failed) == 0 {
		return ""
	}
	return "A part of the pipeline failed: " + strings.Join(failed, "; ") + ". The exit code of the command is that of its last part."
}

// partName names a part by its source, where it is known which pipeline it was.
func partName(pipelines [][]string, parts, i int) string {
	fits := slices.DeleteFunc(slices.Clone(pipelines), func(p []string) bool { return len(p) != parts })
	if len(fits) != 1 || fits[0][i] == "" {
		return fmt.Sprintf("part %d", i+1)
	}
	return clip(strings.Join(strings.Fields(fits[0][i]), " "), 60)
}
