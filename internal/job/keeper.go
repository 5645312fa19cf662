package job

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"lathe/internal/shell"
)

// keptDrain is how long the output may be silent after the job's end before it
// counts as complete, since an unrelated process can hold it open.
const keptDrain = 200 * time.Millisecond

// KeeperMain takes the output of a job until that ends. Its one argument is the
// directory of the job; it is started by [Manager.HandOver], as "<program> __keep DIR".
// It returns the exit code.
func KeeperMain(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "keep: want one argument, the directory of the job")
		return 2
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	if err := keep(args[0]); err != nil {
		return 1
	}
	return 0
}

func keep(dir string) error {
	k, err := loadKept(dir)
	if err != nil {
		return err
	}
	in, err := shell.KeptFile(shell.KeptOutput)
	if err != nil {
		return err
	}
	out, err := k.continued()
	if err != nil {
		return err
	}
	shell.AttendKept()
	ready := os.NewFile(shell.KeptReady, "ready")
	if _, err := ready.Write([]byte{1}); err != nil {
		return err
	}
	ready.Close()
	took := make(chan struct{}, 1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		buf := make([]byte, 32<<10)
		for {
			n, err := in.Read(buf)
			if n > 0 {
				out.write(buf[:n])
			}
			if err != nil {
				return
			}
			select {
			case took <- struct{}{}:
			default:
			}
		}
	}()
	k.process.Wait(nil)
	for open := true; open; {
		select {
		case <-drained:
			open = false
		case <-took:
		case <-time.After(keptDrain):
			_ = in.SetReadDeadline(time.Unix(1, 0))
		}
	}
	k.Ended, k.output = time.Now(), out.span()
	return k.save()
}

// continued opens the output where lathe left off.
func (k *Kept) continued() (*Output, error) {
	path := filepath.Join(k.dir, keptOutput)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	o := newOutput(nil)
	o.file, o.path = file, path
	o.first, o.from, o.total = k.output.First, k.output.From, k.output.Total
	return o, nil
}

func (o *Output) span() span {
	o.mu.Lock()
	defer o.mu.Unlock()
	return span{o.first, o.from, o.total}
}

// moveTo moves what is kept of the output to a directory, where a keeper continues
// it. Nothing may be written in the meantime, and nothing can be read here
// afterwards.
func (o *Output) moveTo(dir string) (s span, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	path := filepath.Join(dir, keptOutput)
	if o.path == "" {
		o.from = o.first
		err = os.WriteFile(path, o.memory, 0o600)
	} else {
		err = errors.Join(o.file.Close(), os.Rename(o.path, path))
		if old := os.Rename(o.path+older, path+older); !errors.Is(old, os.ErrNotExist) {
			err = errors.Join(err, old)
		}
	}
	s = span{o.first, o.from, o.total}
	o.file, o.path, o.memory, o.first, o.err = nil, "", nil, o.total, os.ErrClosed
	return s, err
}

// HandOver leaves a running job to the person: it keeps running when lathe ends. A
// job that cannot be left is stopped when the manager is closed, as any other.
func (m *Manager) HandOver(j *Job) (*Kept, error) {
	if len(m.opts.Keepers.Args) == 0 {
		return nil, errors.New("jobs cannot be kept here")
	}
	k, err := m.opts.Keepers.newKept(j.Info())
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	j.info.Kept = k.ID // set before the job counts as ended in this process
	j.mu.Unlock()
	keeper := shell.Keeper{Args: append(append([]string(nil), m.opts.Keepers.Args...), k.dir)}
	keeper.Prepare = func(h shell.Handle) (err error) {
		k.process = h
		if k.output, err = j.out.moveTo(k.dir); err != nil {
			return err
		}
		return k.save()
	}
	if _, k.keeper, err = j.proc.HandOver(keeper); err == nil {
		err = k.save()
	}
	if err != nil {
		j.mu.Lock()
		j.info.Kept = ""
		j.mu.Unlock()
		_ = os.RemoveAll(k.dir)
		return nil, err
	}
	<-j.done
	k.look()
	return k, nil
}
