package builtin

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"lathe"
	"lathe/internal/judge"
	"lathe/internal/printable"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

const (
	previewChars = 30_000                // of a command's output, in metadata
	previewEvery = 34 * time.Millisecond // at most 30 previews a second
)

//go:embed bash.md
var bashText string

type bashInput struct {
	Command     string   `json:"command"`
	Timeout     *float64 `json:"timeout"`
	Workdir     string   `json:"workdir"`
	Description string   `json:"description"`
	Background  bool     `json:"background"`
	PTY         bool     `json:"pty"`
}

func (e shellTools) bashTool() tool.Tool {
	text := strings.NewReplacer(
		"{{lines}}", strconv.Itoa(e.Limits.Lines()),
		"{{bytes}}", strconv.Itoa(e.shown(lathe.ModelRef{})),
		"{{timeout}}", strconv.FormatInt(e.BashTimeout.Milliseconds(), 10),
	).Replace(bashText)
	background := ""
	if e.Jobs != nil {
		background = `,"background":{"type":"boolean","description":"Go on as a job, return at once"},"pty":{"type":"boolean","description":"A job with a terminal"}`
	}
	s := spec("bash", text, `{"type":"object","properties":{`+
		`"command":{"type":"string","description":"The command line to run"},`+
		`"timeout":{"type":"number","description":"Milliseconds after which the command is stopped"},`+
		`"workdir":{"type":"string","description":"Directory to run in; the session's directory if left out. Use this rather than cd"},`+
		`"description":{"type":"string","description":"What the command does, in 5 to 10 words"}`+background+`},`+
		`"required":["command"],"additionalProperties":false}`)
	s.PathArg, s.Overlaps = "*", true
	return typed(s, e.bash)
}

func (e shellTools) bash(ctx context.Context, call *tool.Call, in bashInput) (tool.Result, error) {
	if patch, ok := tool.PatchInShell(call.Input); ok { // models know it as a program
		return editTools(e).applyPatch(ctx, call, patchInput{PatchText: patch})
	}
	timeout, err := e.timeout(in.Timeout)
	if err != nil {
		return tool.Result{}, err
	}
	dir := e.Root.Dir
	if in.Workdir != "" {
		if dir, err = e.resolve(in.Workdir); err != nil {
			return tool.Result{}, err
		}
	}
	hold := &tool.Hold{}
	would, reached, err := e.judge(ctx, call, in, dir, hold)
	if res, ok := deniedHost(err); ok {
		return res, nil
	}
	if err != nil {
		return tool.Result{}, err
	}
	if !isDir(dir) {
		return tool.Result{}, failf("The working directory %s does not exist or is not a directory.%s", dir, e.meant(ctx, call, dir))
	}
	c := shell.Command{Script: in.Command, Dir: dir, Env: e.commandEnv(ctx, call, dir), Shell: e.Shell, Timeout: timeout, Allow: e.grant(would)}
	if e.Scratch != "" && !exists(e.Scratch) {
		_ = os.MkdirAll(e.Scratch, 0o700) // if this fails, a command that needs it will say so
	}
	run := bashRun{e, call, in, would, reached}
	c.Confine = run.confine(hold.Given)
	if hold.Given {
		return run.reviewed(ctx, c)
	}
	return run.run(ctx, c)
}

// run runs the command, and once more if a person allows what it was refused.
func (run bashRun) run(ctx context.Context, c shell.Command) (tool.Result, error) {
	res, refused, err := run.once(ctx, c)
	if err != nil {
		return res, err
	}
	more := run.again(ctx, res.Output, refused)
	if !more.ok {
		return more.tell(res), nil
	}
	res, _, err = run.once(ctx, more.allow(run, c))
	return res, err
}

// confine says how the command is confined. What the person typed is bound by their own
// rules alone.
func (e bashRun) confine(edits bool) shell.Confine {
	if e.Confine == nil || e.call.Rules == nil || e.call.UserAsked {
		return nil
	}
	return e.Confine(e.call.Rules, edits)
}

// bashRun is a command that was judged.
type bashRun struct {
	shellTools
	call    *tool.Call
	in      bashInput
	would   judge.Analysis
	reached []string
}

// once runs the command, and tells what it was refused if it failed.
func (e bashRun) once(ctx context.Context, c shell.Command) (res tool.Result, refused []sandbox.Refusal, err error) {
	call, in, would := e.call, e.in, e.would
	if in.Background || in.PTY {
		if err := e.beforehand(ctx, &c); err != nil {
			return res, nil, err
		}
	}
	net, err := e.open(ctx, call, in, e.reached, &c)
	if err != nil {
		return res, nil, err
	}
	if in.Background || in.PTY {
		res, err := e.background(ctx, call, c, in)
		if err != nil {
			net.close()
		}
		return res, nil, err
	}
	view := viewerOf(e.Seen, call)
	known := view.current(would)
	out := e.newOutput(call, in.title(), in.Description)
	out.pipelines, out.command = would.Pipelines, in.Command
	c.Output, c.Parts = out.write, len(would.Pipelines) > 0
	exit, note, err := e.attended(ctx, call, c, out, in)
	out.close()
	if errors.Is(err, sandbox.ErrOverlay) {
		return res, nil, err
	}
	if err != nil {
		return res, nil, failf("The command could not be run: %v", err)
	}
	if exit.Code > 0 {
		exit.Refused = append(exit.Refused, e.unread(exit, out.said())...)
		refused = exit.Refused
	} else if exit.Code == 0 {
		exit.Refused = e.complained(exit, out.said())
	}
	text, meta := out.result(exit, c.Timeout, strings.Trim(note+"\n"+net.note(), "\n"))
	net.tell(meta)
	confined(meta, exit)
	view.formatted(known)
	view.output(would, c.Dir, text)
	meta["description"] = in.Description
	return tool.Result{Title: in.title(), Output: text, Metadata: meta}, refused, nil
}

// commandEnv returns the environment of a call's command.
func (e shellTools) commandEnv(ctx context.Context, call *tool.Call, dir string) []string {
	if e.EnvFor == nil {
		return e.ShellEnv
	}
	return e.EnvFor(ctx, call, dir)
}

func (e shellTools) timeout(ms *float64) (time.Duration, error) {
	if ms == nil {
		return e.BashTimeout, nil
	}
	if !(*ms > 0) {
		return 0, failf("Invalid timeout value: %v. Timeout must be a positive number.", *ms)
	}
	return time.Duration(min(*ms, float64(math.MaxInt64/2)/1e6) * 1e6), nil
}

// judge asks for everything the command needs permission for, and returns what it
// would do and which hosts it was allowed to reach.
func (e shellTools) judge(ctx context.Context, call *tool.Call, in bashInput, dir string, hold *tool.Hold) (judge.Analysis, []string, error) {
	env := judge.Env{Dir: dir, Home: e.Home, Lookup: e.variable, FoldCase: runtime.GOOS == "darwin" || runtime.GOOS == "windows"}
	a := judge.Analyze(in.Command, env)
	if err := e.refuse(call, a); err != nil {
		return a, nil, err
	}
	if a.Waits != "" && !in.PTY {
		return a, nil, failf("%s waits for keys, and commands have no terminal: nothing was run. Use edit or write to change a file, or give %s a script (-c).", a.Waits, a.Waits)
	}
	if !e.Root.Contains(dir) {
		a.Reads = append(a.Reads, judge.PathUse{Path: dir, Dir: true, By: "workdir"})
	}
	var all []tool.Request
	risks := a.Risks(e.Root)
	for _, req := range a.Requests(e.Root) {
		if req.Metadata == nil {
			req.Metadata = map[string]any{}
		}
		req.Metadata["command"] = in.Command
		if in.Description != "" {
			req.Metadata["description"] = in.Description
		}
		if len(a.Reasons) > 0 {
			req.Metadata["reasons"] = a.Reasons
		}
		if len(risks) > 0 {
			req.Metadata["risks"] = risks
		}
		if req.Permission == "edit" {
			e.guard(a.Writes, &req)
		}
		e.describe(&req, a)
		if req.Permission == "bash" && e.Hold != nil && !in.Background && !in.PTY {
			req.Hold = hold
		}
		all = append(all, req)
	}
	change := effects{root: e.Root, env: env}
	all = append(all, change.request(a, in.Command)...)
	reach, known := e.reach(a, in)
	all = append(all, reach...)
	if len(all) == 0 {
		return a, nil, nil
	}
	all[0].Also = all[1:]
	return a, known, ask(ctx, call, all[0])
}

// variable returns a variable of the commands' environment.
func (e shellTools) variable(name string) (string, bool) {
	for _, kv := range e.ShellEnv {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// refuse stops commands that would touch what belongs to lathe itself.
func (e shellTools) refuse(call *tool.Call, a judge.Analysis) error {
	for _, w := range a.Writes {
		path, ok := e.realPath(w)
		if !ok {
			continue
		}
		if e.closed(path) || w.Tree && e.DataDir != "" && within(path, e.DataDir) {
			return failf("%s belongs to lathe itself and cannot be changed by tools.", path)
		}
	}
	for _, r := range a.Reads {
		path, ok := e.realPath(r)
		if !ok { // for a pattern, the place it begins with says enough about outputs
			path = filepath.Clean(r.Path)
			ok = e.spilled(path)
		}
		if ok && (!r.Dir || e.spilled(path)) && e.secret(call, path) {
			return failf("%s belongs to lathe itself and cannot be read.", path)
		}
	}
	return nil
}

func (e Places) realPath(use judge.PathUse) (string, bool) {
	if use.Dynamic {
		return "", false
	}
	path, err := e.Root.Resolve(use.Path)
	return path, err == nil
}

// guard marks a request that covers a protected file.
func (e shellTools) guard(writes []judge.PathUse, req *tool.Request) {
	for _, w := range writes {
		path, ok := e.realPath(w)
		if !ok {
			continue
		}
		why := e.protected(path)
		if why == "" && w.Tree && w.By != "rm" && w.By != "git" { // it may contain a directory that steers a program
			why = steeredWithin(e.below(path))
		}
		if why != "" {
			req.Always = nil
			req.Metadata[tool.MetaProtected] = true
			req.Metadata["reason"] = e.Root.Name(path) + ": " + why
			return
		}
	}
}

// output collects what a command prints and shows it while it runs.
type output struct {
	env         *Env
	call        *tool.Call
	title, desc string
	room        int        // how many bytes the model is shown
	pipelines   [][]string // see [judge.Analysis]
	command     string
	spool       *shell.Spool
	job         string // the job that goes on after the command

	errors lookout // used by write, one call at a time, and after the command

	mu    sync.Mutex
	path  string // spill file
	last  time.Time
	timer *time.Timer // set while a preview is due
	done  bool
	shows sync.WaitGroup // previews that are due or being sent
}

func (e shellTools) newOutput(call *tool.Call, title, desc string) *output {
	room := e.shown(call.Model)
	o := &output{env: e.Env, call: call, title: title, desc: desc, room: room, errors: lookout{skip: room / headShare}}
	o.spool = shell.NewSpool(shell.SpoolOptions{
		Head:   max(room, 8<<10),
		Tail:   max(room, previewChars*utf8.UTFMax),
		Create: o.create,
	})
	progress(call, title, map[string]any{"output": "", "description": desc})
	return o
}

func (o *output) create() (io.WriteCloser, error) {
	f, err := o.env.Limits.In(o.call.Outputs).Create()
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	o.path = f.Name()
	o.mu.Unlock()
	return f, nil
}

func (o *output) write(chunk []byte) {
	_, _ = o.spool.Write(chunk) // a spool never fails
	o.errors.write(chunk)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil || o.done || o.call.Progress == nil {
		return
	}
	wait := max(0, previewEvery-time.Since(o.last))
	o.shows.Add(1)
	o.timer = time.AfterFunc(wait, o.show)
}

func (o *output) show() {
	defer o.shows.Done()
	text := preview(o.spool.Tail(), o.spool.Total())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer, o.last = nil, time.Now()
	if !o.done {
		progress(o.call, o.title, map[string]any{"output": text, "description": o.desc})
	}
}

// close ends the previews; none is sent after it returns.
func (o *output) close() {
	o.mu.Lock()
	o.done = true
	if o.timer != nil && o.timer.Stop() {
		o.shows.Done()
	}
	o.mu.Unlock()
	o.shows.Wait()
}

// preview returns the last 30,000 characters of an output as it was printed, with its colours: a
// person's terminal and pages show them. What the model is told holds none.
func preview(tail []byte, total int64) string {
	return printable.Last(string(tail), previewChars, total > int64(len(tail)))
}

// result returns what the model is told: the output, or for a long one its
// beginning, its end and where the whole is, and how the command ended.
func (o *output) result(exit shell.Exit, timeout time.Duration, note string) (string, map[string]any) {
	closeErr := o.spool.Close()
	total, tail := o.spool.Total(), o.spool.Tail()
	meta := map[string]any{"output": preview(tail, total), "exit": nil, "truncated": false}
	if exit.Code >= 0 && !exit.Kept && !exit.TimedOut && !exit.Aborted && exit.Waiting == "" {
		meta["exit"] = exit.Code
	}
	cut, kept, ok := abridge(o.spool.Head(), tail, int64(len(tail)) == total, o.room, o.env.Limits.Lines())
	if ok {
		meta["truncated"] = true
		kept = o.abridged(cut, tail, closeErr, meta)
	}
	if strings.TrimSpace(kept) == "" {
		kept = "(no output)"
	}
	if o.job != "" {
		meta["job"] = o.job
	}
	notes := notes(exit, o.call.Rules, timeout, kept, note)
	for _, why := range []string{o.heldBack(exit, kept), o.limited(exit, kept)} {
		if why != "" {
			notes = strings.TrimPrefix(notes+"\n"+why, "\n")
		}
	}
	if failed := failedParts(o.pipelines, exit.Parts); failed != "" && exit.Code >= 0 {
		notes = strings.TrimPrefix(notes+"\n"+failed, "\n")
		meta["parts"] = exit.Parts
	}
	if exit.Code == 0 && onlyMoves().MatchString(o.command) {
		notes = strings.TrimPrefix(notes+"\nThe next command starts in the session's directory again: give it a workdir, or join it to this one with &&.", "\n")
	}
	if notes != "" {
		kept = strings.TrimRight(kept, "\n") + "\n\n<bash_metadata>\n" + notes + "\n</bash_metadata>"
	}
	return kept, meta
}

// abridged joins what is shown of a long output.
func (o *output) abridged(cut abridged, tail []byte, err error, meta map[string]any) string {
	lines := o.errors.lines
	if len(tail) > 0 && tail[len(tail)-1] != '\n' {
		lines++
	}
	gap := "... " + cut.gap(lines, o.spool.Total()) + "; " + o.saved(tail, err, meta) + " ..."
	if found := o.errors.found(cut.first+1, lines-cut.last); found != "" {
		gap += "\n" + found + "\n..."
	}
	return strings.TrimRight(cut.head, "\n") + "\n\n" + gap + "\n\n" + cut.tail
}

// saved says where the whole of a shortened output is.
func (o *output) saved(tail []byte, err error, meta map[string]any) string {
	o.mu.Lock()
	path := o.path
	o.mu.Unlock()
	if path == "" && err == nil { // it fits in memory
		path, err = o.env.Limits.In(o.call.Outputs).Save(string(tail))
	}
	if path == "" {
		return fmt.Sprintf("the whole could not be saved: %v", err)
	}
	meta["outputPath"] = path
	if saved, total := o.spool.Saved(), o.spool.Total(); saved > 0 && saved < total {
		return fmt.Sprintf("the first %s of %s bytes are in %s", grouped(saved), grouped(total), path)
	}
	return "the whole output is in " + path
}

// notes says how a command ended if it did not end well.
func notes(exit shell.Exit, rules tool.Rules, timeout time.Duration, text, note string) string {
	var out []string
	switch {
	case exit.Kept:
	case exit.TimedOut:
		out = append(out, fmt.Sprintf("The command was stopped when its timeout of %d ms ran out. "+
			"If it only needs longer and is not waiting for input, run it again with a larger timeout.", timeout.Milliseconds()))
	case exit.Waiting != "":
		out = append(out, "The command was stopped: "+exit.Waiting+", and nobody is there to type. Give everything as arguments or input, or run the program in a way that asks nothing.")
	case exit.Aborted:
		out = append(out, "User aborted the command")
	case exit.Signal != "":
		out = append(out, "The command was ended by a signal: "+exit.Signal)
	case exit.Code != 0:
		out = append(out, exitCode(exit.Code))
		if exit.Code == 127 && strings.Contains(text, "apply_patch: ") {
			out = append(out, "apply_patch is no program: call the tool of that name with the patch, or use edit.")
		}
		if unattended().MatchString(text) {
			out = append(out, "Commands have no terminal and nobody to answer: give everything as arguments (git commit -m …), and use edit or write in place of an editor.")
		}
	}
	out = append(out, refusals(exit, rules)...)
	if lost := astray(exit); lost != "" {
		out = append(out, lost)
	}
	if len(exit.Leftover) > 0 {
		out = append(out, "Processes that were still running when the command ended were stopped: "+strings.Join(exit.Leftover, ", "))
	}
	if note != "" {
		out = append(out, note)
	}
	return strings.Join(out, "\n")
}

// unattended is what programs print that wanted a terminal or an answer.
var unattended = pattern(`(?i)not (?:from |to )?an? (?:terminal|tty)|/dev/tty|failed tty get|terminal is required|terminal prompts disabled|` +
	`due to empty commit message|problem with the editor|inappropriate ioctl for device`)

// onlyMoves matches a command that only changes the directory, or ends by doing so:
// models believe that the next one runs there.
var onlyMoves = pattern(`(?:^|[;&\n])\s*(?:cd|pushd)(?:\s+[^;&|<>()\n]+)?\s*;?\s*$`)

// exitCode says what an exit code other than 0 means.
func exitCode(code int) string {
	text := fmt.Sprintf("exit code %d", code)
	switch {
	case code == 126:
		text += " (a program could not be run: no permission, or no program)"
	case code == 127:
		text += " (a command was not found)"
	case code > 128 && code < 160:
		text += fmt.Sprintf(" (the last part was ended by signal %d, %s)", code-128, syscall.Signal(code-128))
	}
	return text
}
