package shell

import (
	"fmt"
	"os"
)

// supervisor is a process that outlives lathe by a moment: it waits until a
// pipe that only lathe holds is closed, and then ends what lathe's commands
// left.
type supervisor struct {
	proc *os.Process
	pipe *os.File
}

// quit tells the supervisor that lathe ends in an orderly way, having waited
// for its commands, so that one look is enough.
var quit = []byte("quit")

// saySpare, a call and a line end tell it to spare that call when lathe ends.
const saySpare = "spare "

// supervise starts the supervisor once, before the first command: a lathe killed
// a moment later leaves nothing behind either. It does not wait until the
// supervisor runs, which finds the pipe closed whenever it looks. Close reports a
// failure.
func (r *Runner) supervise() {
	if len(r.opts.Supervisor) == 0 || !canSupervise {
		return
	}
	r.supervising.Lock()
	defer r.supervising.Unlock()
	if r.sup != nil || r.supErr != nil || r.closed {
		return
	}
	if r.sup, r.supErr = startSupervisor(r.opts.Supervisor, r.instance); r.sup != nil {
		r.help(r.sup.proc.Pid, true)
	}
}

// supervised reports whether a supervisor ends what is left if lathe is killed.
func (r *Runner) supervised() bool {
	r.supervising.Lock()
	defer r.supervising.Unlock()
	return r.sup != nil
}

func startSupervisor(argv []string, instance uint64) (*supervisor, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("start supervisor: %w", err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start supervisor: %w", err)
	}
	defer r.Close()
	args := append(append([]string(nil), argv...), instanceName(instance))
	attr := &os.ProcAttr{Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{r, null, null}, Sys: supervisorAttr()}
	proc, err := os.StartProcess(argv[0], args, attr)
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("start supervisor %q: %w", argv[0], err)
	}
	return &supervisor{proc: proc, pipe: w}, nil
}

func (s *supervisor) close() error {
	_, _ = s.pipe.Write(quit) // without it the supervisor only looks longer
	s.pipe.Close()
	if _, err := s.proc.Wait(); err != nil {
		return fmt.Errorf("end supervisor: %w", err)
	}
	return nil
}
