//go:build !linux

package sqlite

// turns is for systems that have locks of open files: elsewhere who waits for
// another process asks often, and may be unlucky.
type turns struct{}

func openTurns(string) turns { return turns{} }
func (*turns) close() error  { return nil }
func (*turns) wait()         {}
func (*turns) leave()        {}
func (*turns) makeRoom()     {}
