package builtin

import (
	"encoding/json"
	"strings"

	"lathe/internal/diff"
)

// proposed adds to an ask's metadata what a call would write, as far as its
// arguments say: the file must not be read before the person allows it.
func proposed(input json.RawMessage, path string, meta map[string]any) {
	var in struct {
		Content   *string `json:"content"`
		PatchText string  `json:"patchText"`
		replacement
		Edits []replacement `json:"edits"`
	}
	if json.Unmarshal(input, &in) != nil {
		return
	}
	var changes strings.Builder
	for _, r := range append(in.Edits, in.replacement) {
		if r != (replacement{}) {
			changes.WriteString(diff.Unified(path, path, r.OldString, r.NewString, diff.Context))
		}
	}
	switch {
	case in.Content != nil:
		meta["content"] = *in.Content
	case changes.Len() > 0:
		meta["diff"] = changes.String()
	case in.PatchText != "":
		meta["content"] = in.PatchText
	}
}
