#include "textflag.h"

// func fork(flags uintptr) (pid, errno uintptr)
//
// The return address is in a register, which the child cannot change.
TEXT ·fork(SB),NOSPLIT|NOFRAME,$0-24
	MOVD	flags+0(FP), R0
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$220, R8 // clone
	SVC
	CMN	$4095, R0
	BCC	ok
	NEG	R0, R0
	MOVD	$0, pid+8(FP)
	MOVD	R0, errno+16(FP)
	RET
ok:
	MOVD	R0, pid+8(FP)
	MOVD	$0, errno+16(FP)
	RET
