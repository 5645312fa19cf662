package session

import (
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/prompt"
	"lathe/internal/say"
	"lathe/internal/tool"
)

// cutResults returns the function that bounds the results of an agent's tools. outputs is where the
// whole of a cut result is stored.
func cutResults(i *instance.Instance, agent, outputs string) func(tool.Result) tool.Result {
	limits := i.Limits.In(outputs)
	return func(res tool.Result) tool.Result {
		return fitAttachments(i, limits.Apply(res, i.Agents.Delegates(agent)))
	}
}

// fitAttachments makes the pictures in a result small enough, and leaves out those where that
// fails.
func fitAttachments(i *instance.Instance, res tool.Result) tool.Result {
	if len(res.Attachments) == 0 {
		return res
	}
	var kept []lathe.File
	left := 0
	for _, f := range res.Attachments {
		if data, ok := prompt.DataURL(f.URL); ok {
			if err := fitPicture(i, &f, data); err != nil {
				i.Log.Debug("a picture of a tool was left out", "err", err)
				left++
				continue
			}
		}
		kept = append(kept, f)
	}
	res.Attachments = kept
	if left > 0 && len(kept) == 0 && strings.HasSuffix(res.Output, " read successfully") {
		res.Output = "The picture cannot be shown: it is too large or cannot be read."
		return res
	}
	if left > 0 {
		res.Output += fmt.Sprintf("\n\n(%s left out: too large, or not to be read.)", say.Plural(left, "picture"))
	}
	return res
}
