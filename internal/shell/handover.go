package shell

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Handle names the processes of a command beyond the life of the lathe that started
// them: by their marks, and the first one by its number and start. With no Instance it
// is that one process.
type Handle struct {
	Boot     string `json:"boot"` // of the machine
	Instance uint64 `json:"instance,omitempty"`
	Call     uint64 `json:"call,omitempty"`
	PID      int    `json:"pid"`
	Began    uint64 `json:"began"` // in clock ticks since boot
}

// Keeper is a program that takes over what lathe holds of a process.
type Keeper struct {
	// Args is its command line. It finds the output of the process as descriptor
	// [KeptOutput] and writes a byte to [KeptReady] once it reads that. The input stays
	// open as long as the keeper runs.
	Args []string
	// Prepare is called when lathe has stopped reading the output, before the keeper starts.
	Prepare func(process Handle) error
}

// The descriptors of a keeper.
const (
	KeptOutput = 3
	KeptReady  = 4
)

const keeperPatience = 10 * time.Second // for a keeper to start on a busy machine

// HandOver leaves the process to a keeper: it outlives lathe, and only its handle
// reaches it. When HandOver returns an error, the process has ended or has to be
// stopped, because nobody reads its output any more; otherwise Exit has Handed
// set.
func (l *Process) HandOver(k Keeper) (process, keeper Handle, err error) {
	if !canSupervise {
		return process, keeper, errors.New("on this system no process outlives lathe")
	}
	p := l.p
	switch {
	case !p.free && p.leader() != 0 || !p.r.supervised():
		return process, keeper, errors.New("it was not started to run without a call")
	case len(l.PIDs()) == 0:
		return process, keeper, errors.New("it has ended")
	}
	process = p.handle()
	_ = p.out.SetReadDeadline(time.Unix(1, 0))
	<-p.drained
	if err := k.Prepare(process); err != nil {
		return process, keeper, err
	}
	if keeper, err = p.startKeeper(k.Args); err != nil {
		return process, keeper, fmt.Errorf("start its keeper: %w", err)
	}
	if err := p.r.spare(p.mark.call); err != nil {
		return process, keeper, err
	}
	l.once.Do(func() {
		l.handed = true
		close(l.stop)
	})
	<-l.done
	if !l.exit.Handed {
		return process, keeper, errors.New("it has ended")
	}
	return process, keeper, nil
}

// startKeeper returns when the keeper reads the output.
func (p *process) startKeeper(args []string) (h Handle, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return h, err
	}
	defer null.Close()
	ready, say, err := os.Pipe()
	if err != nil {
		return h, err
	}
	defer ready.Close()
	files := []*os.File{null, null, null, p.out, say}
	if p.in != nil && p.in != p.out {
		files = append(files, p.in)
	}
	own := len(files)
	files, env, err := p.bounds.handOver(files, []string{"GOMAXPROCS=1", "GOGC=50"})
	defer func() {
		for _, f := range files[own:] {
			f.Close()
		}
	}()
	if err != nil {
		return h, err
	}
	proc, err := os.StartProcess(args[0], args, &os.ProcAttr{Dir: "/", Env: env, Files: files, Sys: supervisorAttr()})
	say.Close()
	if err != nil {
		return h, err
	}
	p.r.help(proc.Pid, true)
	h = handleOf(proc.Pid)
	_ = ready.SetReadDeadline(time.Now().Add(keeperPatience))
	if n, err := ready.Read(make([]byte, 1)); n == 0 {
		_ = proc.Kill()
		_, _ = proc.Wait()
		p.r.help(h.PID, false)
		return h, fmt.Errorf("it did not begin: %w", err)
	}
	p.bounds.release()
	return h, proc.Release() // whoever adopts it collects it
}

// spare tells the supervisor to leave a call's processes running when lathe ends.
func (r *Runner) spare(call uint64) error {
	r.supervising.Lock()
	defer r.supervising.Unlock()
	if r.sup == nil {
		return errors.New("lathe is ending")
	}
	if _, err := fmt.Fprintf(r.sup.pipe, "%s%x\n", saySpare, call); err != nil {
		return fmt.Errorf("tell the supervisor: %w", err)
	}
	r.handed = append(r.handed, call)
	return nil
}
