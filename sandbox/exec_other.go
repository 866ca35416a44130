//go:build unix && !linux

package sandbox

import "syscall"

func adoptOrphans() error { return nil }

func keepFiles() { keepFirstFiles() }

func helperAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func commandAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func children() []int { return nil }
