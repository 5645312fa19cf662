package compact

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"lathe"
)

// Plan says which tool outputs are cleared from the model's view, and why.
type Plan struct {
	Parts  []*lathe.Part // of completed calls, oldest first
	Tokens int64         // what clearing them frees
}

// What pruning leaves alone, and the least that makes it worthwhile.
const (
	protectTokens = 40_000
	leastTokens   = 20_000
	protectTurns  = 2
	protectSteps  = 2
)

// PruneOld plans what is cleared when a turn has ended: outputs older than the
// newest 40,000 tokens' worth and the last two turns, if that frees more than
// 20,000 tokens. It stops at a summary and at what was cleared before.
func PruneOld(history []lathe.Message, m *Meter) Plan {
	var p Plan
	var kept int64
	turns := 0
	for i := len(history) - 1; i >= 0; i-- {
		msg := &history[i]
		info := Answer(msg)
		if info == nil {
			turns++
			continue
		}
		if info.Summary {
			break
		}
		if turns < protectTurns {
			continue
		}
		if !p.collect(msg, m, &kept) {
			break
		}
	}
	p.reverse()
	if p.Tokens <= leastTokens {
		return Plan{}
	}
	return p
}

// collect adds the outputs of a message once those kept exceed the protected
// amount; false means an earlier prune was met.
func (p *Plan) collect(msg *lathe.Message, m *Meter, kept *int64) bool {
	for j := len(msg.Parts) - 1; j >= 0; j-- {
		part := &msg.Parts[j]
		call, done := completed(part)
		if done == nil || protected(call.Tool) {
			continue
		}
		if !done.Compacted.IsZero() {
			return false
		}
		w := m.result(call)
		if *kept += w; *kept > protectTokens {
			p.Parts, p.Tokens = append(p.Parts, part), p.Tokens+w
		}
	}
	return true
}

func (p *Plan) reverse() {
	for i, j := 0, len(p.Parts)-1; i < j; i, j = i+1, j-1 {
		p.Parts[i], p.Parts[j] = p.Parts[j], p.Parts[i]
	}
}

func completed(p *lathe.Part) (*lathe.ToolCall, *lathe.ToolDone) {
	c, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return nil, nil
	}
	done, _ := c.State.(*lathe.ToolDone)
	return c, done
}

// protected tools keep their output: it says how to work.
func protected(tool string) bool { return tool == "skill" || tool == "recall" }

// pruneAt is how full a window is, in hundredths, before a running turn prunes.
const pruneAt = 60

// PruneByWorth plans what a running turn clears when its window fills: first what
// is superseded (a file read again or edited since, a command or search that was
// run again), then by age, but never the newest outputs, nor the newest read of a
// file that the last steps worked on. It is empty unless it pays: a prune makes
// the provider read again all that follows the first cleared output, so it has to
// free a fifth of the window at once. used and usable are tokens.
func PruneByWorth(history []lathe.Message, m *Meter, used, usable int64) Plan {
	if usable <= 0 || used*100 < usable*pruneAt {
		return Plan{}
	}
	protect := min(protectTokens, usable*3/10)
	least := min(leastTokens, usable/5)
	entries := outputs(history, m)
	worth := judge(entries)
	var p Plan
	var newer int64
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		newer += e.weight
		old := newer > protect && e.steps >= protectSteps && !worth[i].active
		if e.weight < 50 || !(old || (worth[i].superseded && e.steps >= protectSteps)) {
			continue
		}
		p.Parts, p.Tokens = append(p.Parts, e.part), p.Tokens+e.weight
	}
	p.reverse()
	if p.Tokens < least {
		return Plan{}
	}
	return p
}

// output is a tool output that can be cleared.
type output struct {
	part   *lathe.Part
	tool   string
	file   string // the file a call read or changed
	key    string // what makes two calls the same
	weight int64
	steps  int // answers after it
}

// outputs returns what can be cleared, oldest first. What was cleared before is
// left out.
func outputs(history []lathe.Message, m *Meter) []output {
	answers := 0
	for i := range history {
		if Answer(&history[i]) != nil {
			answers++
		}
	}
	var out []output
	for i := range history {
		msg := &history[i]
		if Answer(msg) == nil {
			continue
		}
		answers--
		for j := range msg.Parts {
			call, done := completed(&msg.Parts[j])
			if done == nil || protected(call.Tool) || !done.Compacted.IsZero() {
				continue
			}
			file, whole := fileOf(done.Input)
			key := call.Tool + "\x00" + string(done.Input)
			if call.Tool == "read" && whole {
				key = "read\x00" + file
			}
			out = append(out, output{part: &msg.Parts[j], tool: call.Tool, file: file, key: key, weight: m.result(call), steps: answers})
		}
	}
	return out
}

// fileOf returns the file that a call names, and whether it is about all of it.
func fileOf(input json.RawMessage) (file string, whole bool) {
	var in struct {
		FilePath string          `json:"filePath"`
		Offset   json.RawMessage `json:"offset"`
		Limit    json.RawMessage `json:"limit"`
	}
	if json.Unmarshal(input, &in) != nil || in.FilePath == "" {
		return "", false
	}
	return filepath.Clean(in.FilePath), in.Offset == nil && in.Limit == nil
}

type verdict struct{ superseded, active bool }

// activeSteps is how recently a file was changed to count as worked on.
const activeSteps = 12

// judge says for each output whether a later one supersedes it, and whether it
// is the newest read of a file that is still being worked on.
func judge(entries []output) []verdict {
	out := make([]verdict, len(entries))
	worked := map[string]bool{} // files changed within activeSteps
	for i := range entries {
		if e := &entries[i]; e.file != "" && e.tool != "read" && e.steps <= activeSteps {
			worked[e.file] = true
		}
	}
	again := map[string]bool{}  // calls seen later
	edited := map[string]bool{} // files changed later
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		isRead := e.tool == "read"
		repeatable := isRead || e.tool == "bash" || strings.HasPrefix(e.tool, "gl") || e.tool == "grep" || e.tool == "list"
		v := verdict{superseded: repeatable && again[e.key]}
		if isRead && edited[e.file] {
			v.superseded = true
		}
		v.active = isRead && worked[e.file] && !v.superseded
		if e.file != "" && !isRead {
			edited[e.file] = true
		}
		again[e.key] = true
		out[i] = v
	}
	return out
}
