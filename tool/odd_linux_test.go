package tool

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// TestEditKeepsWhatItDoesNotReplace: every byte of a file that is not replaced
// stays, and what is put in is like its surroundings.
func TestEditKeepsWhatItDoesNotReplace(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, tt := range map[string]struct{ file, old, new, want string }{
		"no final newline":              {"a\nb", "b", "c", "a\nc"},
		"the final newline goes":        {"a\nb\n", "b\n", "c", "a\nc"},
		"byte order mark":               {"\xef\xbb\xbfa\nb\n", "a\nb", "c", "\xef\xbb\xbfc\n"},
		"CRLF":                          {"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"},
		"CRLF given as such":            {"a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"},
		"CRLF without a final one":      {"a\r\nb", "b", "x\ny", "a\r\nx\r\ny"},
		"LF among CRLF":                 {"a\r\nb\nc\r\n", "b", "x\ny", "a\r\nx\ny\nc\r\n"},
		"CRLF among LF":                 {"a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n"},
		"over both":                     {"a\nb\r\nc\n", "a\nb\nc", "x\ny", "x\r\ny\n"},
		"lone carriage return":          {"a\rb\r\nc", "a\rb", "x", "x\r\nc"},
		"lone carriage returns only":    {"a\rb\rc", "b", "x\ny", "a\rx\ny\rc"},
		"characters of several bytes":   {"жук и жир\n", "жи", "ша", "жук и шар\n"},
		"one that begins like another":  {"é\u00e8e\u0301\n", "\u00e8", "o", "éoe\u0301\n"},
		"an emoji of several":           {"[👩‍💻]\n", "👩‍💻", "👩", "[👩]\n"},
		"not UTF-8 around it":           {"\xff\xfea\xff\n", "a", "ä", "\xff\xfeä\xff\n"},
		"a NUL around it":               {"\x00a\x00", "a", "b", "\x00b\x00"},
		"a line of 1 MB":                {long + "old" + long, "old", "new", long + "new" + long},
		"all of the file":               {"a", "a", "", ""},
		"overlapping, at once":          {"aab", "aa", "c", "cb"},
		"what it puts in has the old":   {"a", "a", "aa", "aa"},
		"the old has what a line lacks": {"\ta\n", "\ta\n", "\tb\n", "\tb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.file("f", tt.file)
			f.ok("edit", object{"path": "f", "old": tt.old, "new": tt.new})
			if got := f.content("f"); got != tt.want {
				t.Errorf("got %.200q, want %.200q", got, tt.want)
			}
		})
	}
	f := newFixture(t)
	f.file("f", "aaaa")
	f.fails("edit", object{"path": "f", "old": "aa", "new": "b"}, "3 times")
	f.ok("edit", object{"path": "f", "old": "aa", "new": "b", "replace-all": true})
	f.same(f.content("f"), "bb")
}

// TestReadCutsCharactersWhole: whatever a line is cut at, what is shown is valid and
// begins the line.
func TestReadCutsCharactersWhole(t *testing.T) {
	for _, line := range []string{strings.Repeat("ж", 50), strings.Repeat("語", 50), "ab" + strings.Repeat("👩", 50), strings.Repeat("\xff", 50), "a\xe8\xaa" + strings.Repeat("é", 9)} {
		for limit := 4; limit < 12; limit++ {
			f := newFixture(t, settingsOf(fmt.Sprintf(`{"read": {"max-line-length": %d, "line-numbers": false}}`, limit)))
			f.file("f", line+"\nnext")
			got := f.ok("read", object{"path": "f"})
			first, rest, _ := strings.Cut(got, "\n")
			shown, note, cut := strings.Cut(first, " [line cut, ")
			if !utf8.ValidString(got) || !cut || rest != "next\n" || utf8.RuneCountInString(shown) > limit || utf8.ValidString(line) && utf8.RuneCountInString(shown) != limit || !strings.HasPrefix(strings.ToValidUTF8(line, "\uFFFD"), strings.TrimRight(shown, "\uFFFD")) {
				t.Errorf("%q at %d: %q", line, limit, got)
			}
			var left int
			if _, err := fmt.Sscanf(note, "%d more bytes]", &left); err != nil || left <= 0 || left >= len(line) {
				t.Errorf("%q at %d: %q", line, limit, note)
			}
		}
	}
}

// TestSparse: a file of 2 GB is read in pieces and never as a whole.
func TestSparse(t *testing.T) {
	f := newFixture(t)
	path := f.file("text", strings.Repeat("a line of text\n", 1000))
	zeros := f.file("zeros", "")
	for _, p := range []string{path, zeros} {
		if err := os.Truncate(p, 2<<30); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f.has(f.ok("read", object{"path": "text", "limit": 2}), "a line of text", "[more lines follow: go on with offset 3]")
	f.has(f.ok("read", object{"path": "text", "offset": 999, "limit": 2}), "   999\ta line of text", "offset 1001")
	f.has(f.ok("read", object{"path": "text", "offset": 1001}), "more bytes]")
	f.fails("read", object{"path": "text", "offset": 1002}, "offset 1002 exceeds file length of 1001 lines")
	f.fails("read", object{"path": "zeros"}, "zeros is a binary file of 2147483648 bytes")
	f.fails("edit", object{"path": "text", "old": "a", "new": "b"}, "too large to edit")
	f.ok("write", object{"path": "zeros", "content": "small"})
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes were taken", n)
	}
	f.same(f.content("zeros"), "small")
}

// TestWhatIsNoFile: nothing waits for, or writes over, what is not a regular file.
func TestWhatIsNoFile(t *testing.T) {
	f := newFixture(t)
	if err := unix.Mkfifo(filepath.Join(f.root, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(f.root, "dir"), 0o777); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Join(f.root, "socket")}); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{"fifo": "a named pipe", "socket": "a socket", "dir": "a directory", "/dev/null": "a device"} {
		for tool, in := range map[string]object{
			"write": {"path": path, "content": "x", "force": true},
			"edit":  {"path": path, "old": "x", "new": "y"},
			"read":  {"path": path},
		} {
			if tool != "read" || path != "dir" {
				f.fails(tool, in, path+" is "+kind)
			}
		}
	}
}

// as runs a function with the rights of another user. Its thread is not used again.
func as(t *testing.T, user int, run func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		unix.SetfsuidRetUid(user)
		unix.SetfsgidRetGid(user)
		run()
	}()
	<-done
}

// TestNoPermission: what the user may not do, the tools do not do either, also where
// a file could be put in the place of another one.
func TestNoPermission(t *testing.T) {
	const nobody = 65534
	f := newFixture(t)
	for dir := f.root; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]fs.FileMode{"secret": 0, "ours/readonly": 0o444, "ours/theirs": 0o644, "ours/own": 0o640} {
		if err := os.Chmod(f.file(name, "old\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 { // else the user is already one without rights
		for _, name := range []string{"ours", "ours/readonly", "ours/own"} {
			if err := os.Chown(filepath.Join(f.root, name), nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		as(t, nobody, func() {
			f.fails("write", object{"path": "new", "content": "x"}, "permission denied")
			f.fails("write", object{"path": "ours/theirs", "content": "x"}, "ours/theirs is not to be written by this user (its mode is -rw-r--r--)")
			f.fails("edit", object{"path": "ours/theirs", "old": "old", "new": "x"}, "is not to be written by this user")
		})
	}
	as(t, nobody, func() {
		f.fails("read", object{"path": "secret"}, "permission denied")
		f.fails("edit", object{"path": "secret", "old": "old", "new": "x"}, "permission denied")
		f.fails("write", object{"path": "ours/readonly", "content": "x", "force": true}, "ours/readonly is not to be written by this user (its mode is -r--r--r--)")
		f.fails("edit", object{"path": "ours/readonly", "old": "old", "new": "x"}, "is not to be written by this user")
		f.ok("edit", object{"path": "ours/own", "old": "old", "new": "new"})
	})
	f.same(f.content("ours/readonly"), "old\n")
	f.same(f.content("ours/theirs"), "old\n")
	f.same(f.content("ours/own"), "new\n")
}

// TestWriteKeepsTheOwner: who may give files away does not take them from others by
// writing them.
func TestWriteKeepsTheOwner(t *testing.T) {
	user, group := 65534, 65533
	if os.Geteuid() != 0 { // there is nobody else to give it to
		user, group = os.Getuid(), os.Getgid()
	}
	f := newFixture(t)
	path := f.file("a", "old")
	if err := os.Chown(path, user, group); err != nil {
		t.Fatal(err)
	}
	f.ok("write", object{"path": "a", "content": "new"})
	f.ok("edit", object{"path": "a", "old": "new", "new": "newer"})
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || int(st.Uid) != user || int(st.Gid) != group {
		t.Errorf("it is %d's, of the group %d (%v)", st.Uid, st.Gid, err)
	}
}
