package bus

import "lathe"

// overhead is what an event costs beside its text.
const overhead = 128

// weigh estimates the memory an event holds, from its long strings.
func weigh(ev lathe.Event) int {
	switch ev := ev.(type) {
	case lathe.PartDelta:
		return overhead + len(ev.Delta)
	case lathe.PartUpdated:
		return overhead + weighBody(ev.Part.Body)
	case lathe.SessionDiff:
		return overhead + weighDiffs(ev.Diff)
	case lathe.MessageUpdated:
		if u, ok := ev.Message.Info.(*lathe.User); ok && u.Summary != nil {
			return overhead + weighDiffs(u.Summary.Diffs)
		}
	case lathe.SessionUpdated:
		if ev.Session.Revert != nil {
			return overhead + len(ev.Session.Revert.Diff)
		}
	}
	return overhead
}

func weighDiffs(diffs []lathe.FileDiff) int {
	n := 0
	for i := range diffs {
		n += overhead + len(diffs[i].Before) + len(diffs[i].After) + len(diffs[i].Patch)
	}
	return n
}

func weighBody(b lathe.PartBody) int {
	switch b := b.(type) {
	case *lathe.Text:
		return len(b.Text)
	case *lathe.Reasoning:
		return len(b.Text)
	case *lathe.File:
		return len(b.URL)
	case *lathe.ToolCall:
		return weighState(b.State)
	}
	return 0
}

func weighState(st lathe.ToolState) int {
	switch st := st.(type) {
	case *lathe.ToolPending:
		return len(st.Raw)
	case *lathe.ToolRunning:
		return len(st.Input) + weighMetadata(st.Metadata)
	case *lathe.ToolDone:
		n := len(st.Input) + len(st.Output) + weighMetadata(st.Metadata)
		for i := range st.Attachments {
			n += len(st.Attachments[i].URL)
		}
		return n
	case *lathe.ToolFailed:
		return len(st.Input) + len(st.Error) + weighMetadata(st.Metadata)
	}
	return 0
}

// weighMetadata counts the strings at the top, where tools put their output.
func weighMetadata(m map[string]any) int {
	n := 0
	for _, v := range m {
		if s, ok := v.(string); ok {
			n += len(s)
		}
	}
	return n
}
