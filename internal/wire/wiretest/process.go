package wiretest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// providerVar names the file of testdata that a test binary, started again as
// a provider, streams.
const providerVar = "ROSTER_WIRETEST_PROVIDER"

// Main is for TestMain: it runs the provider of StartProcess where the binary
// was started as one, and says so.
func Main() bool {
	file := os.Getenv(providerVar)
	if file == "" {
		return false
	}
	answer, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() { // the end of the test closes its pipe
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println("http://" + l.Addr().String())
	panic(http.Serve(l, Stream(answer)))
}

// StartProcess starts a provider in a process of its own, so that its work is
// not counted as ours, and returns its address.
func StartProcess(b *testing.B, name string) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), providerVar+"=testdata/"+name)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}
