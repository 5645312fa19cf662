package shell

import "os"

// pipes says what a command's input and output are.
type pipes struct {
	live bool // it runs without a call and has an input
	StartOptions
}

// ends are those of the child, and lathe's own.
type ends struct {
	child   [3]*os.File
	out, in *os.File // in is nil without an input, and out for a terminal
}

func (o pipes) open() (e ends, err error) {
	if o.Terminal {
		return o.terminal()
	}
	if o.live {
		e.child[0], e.in, err = os.Pipe()
	} else {
		e.child[0], err = os.Open(os.DevNull)
	}
	if err != nil {
		return e, err
	}
	if e.out, e.child[1], err = os.Pipe(); err != nil {
		e.closeChild()
		e.closeOwn()
		return e, err
	}
	e.child[2] = e.child[1]
	return e, nil
}

// closeChild closes the child's ends, once the child has them.
func (e *ends) closeChild() {
	for i, f := range e.child {
		if f != nil && (i == 0 || f != e.child[i-1]) {
			_ = f.Close()
		}
	}
}

func (e *ends) closeOwn() {
	if e.in != nil && e.in != e.out {
		_ = e.in.Close()
	}
	if e.out != nil {
		_ = e.out.Close()
	}
}

// close closes lathe's ends.
func (p *process) close() {
	if p.in != nil && p.in != p.out {
		_ = p.in.Close()
	}
	p.sizing.Lock()
	defer p.sizing.Unlock()
	p.closed = true
	_ = p.out.Close()
}

// resize changes the size of the terminal. A closed terminal is left alone: its
// descriptor may belong to another file by now.
func (p *process) resize(rows, cols uint16) error {
	p.sizing.Lock()
	defer p.sizing.Unlock()
	if p.closed {
		return ErrNoInput
	}
	return setSize(p.out, rows, cols)
}
