package shell

// HideSelf does nothing on this system.
func HideSelf() error { return nil }

// closeOnExec has nothing to do: a process inherits only what it is given.
func closeOnExec() {}
