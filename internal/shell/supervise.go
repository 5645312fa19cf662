package shell

import (
	"fmt"
	"os"
)

// supervisor is a process that outlives lathe by a moment: it waits for the end
// of a pipe that only lathe holds and then ends what lathe's commands left.
type supervisor struct {
	proc *os.Process
	pipe *os.File
}

// quit tells the supervisor that lathe ends in order, having waited for its
// commands: one look is then enough.
var quit = []byte("quit")

// saySpare, a call and a line end tell it that the call goes on when lathe ends.
const saySpare = "spare "

// supervise starts the supervisor once, before the first command: a lathe that
// is killed the moment after leaves nothing behind either. It does not wait until
// the supervisor runs; that finds the pipe ended whenever it looks. A failure is
// told by Close.
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

// supervised reports whether somebody ends what is left when lathe is killed.
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
