//go:build !linux

package pgtest

import "syscall"

// attributes are none: as root, the server says that it does not like it.
func attributes(string) (*syscall.SysProcAttr, error) { return nil, nil }
