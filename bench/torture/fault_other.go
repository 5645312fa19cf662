//go:build !linux

package main

const faultEnv = "LATHE_TORTURE_FAULT"

func armFault(string) { panic("faults need Linux") }

func (r *rig) mountSmall(string) bool { return false }

func (r *rig) unmount() {}
