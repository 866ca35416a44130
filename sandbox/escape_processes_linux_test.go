package sandbox

import "syscall"

// processes are the attempts on processes outside.
func processes() []attempt {
	return []attempt{
		{name: "read the environment of another process", script: `tr '\0' '\n' < /proc/$VICTIM/environ`, worked: leaked},
		{name: "read the arguments of another process", script: `tr '\0' '\n' < /proc/$VICTIM/cmdline`, worked: leaked, open: []Kind{Landlock}},
		{name: "read in another process's working directory", script: `cat /proc/$VICTIM/cwd/secret`, worked: leaked},
		{name: "read in another process's root", script: `cat /proc/$VICTIM/root$OUT/secret`, worked: leaked},
		{name: "open a file that another process has open", script: `cat /proc/$VICTIM/fd/$HELD`, worked: leaked},
		{name: "take an open file of another process", script: probe("pidfd", "$VICTIM", "$HELD"), worked: leaked},
		{name: "read the memory of another process as a file", script: probe("mem", "$VICTIM", "$MEMORY"), worked: leaked},
		{name: "read the memory of another process", script: probe("readv", "$VICTIM", "$MEMORY"), worked: leaked},
		{name: "write to the memory of another process", script: probe("writev", "$VICTIM", "$MEMORY"), worked: says("written")},
		{name: "trace another process", script: probe("ptrace", "$VICTIM"), worked: says("attached")},
		{name: "kill another process", script: `kill -9 $VICTIM`, worked: silenced},
		{name: "kill another process's group", script: `kill -9 -- -$VICTIM`, worked: silenced},
		{name: "stop another process", script: `kill -STOP $VICTIM`, worked: silenced},
		{name: "kill a process by its descriptor", script: probe("pidfdkill", "$VICTIM"), worked: silenced},
		{name: "kill as the owner of a file's signals", script: probe("sigio", "$VICTIM"), worked: silenced},
		{name: "slow another process down", script: `renice -n 5 -p $VICTIM`, open: []Kind{Landlock}, user: true,
			worked: func(w *world, _ result) bool {
				// The system call counts from 20 downwards.
				nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, w.victim.PID)
				return err == nil && nice == 20-5
			}},
		{name: "limit what another process may open", script: probe("prlimit", "$VICTIM"), worked: says("limited"), open: []Kind{Landlock}},
		{name: "read shared memory of another process", script: probe("shm", "$SHM"), worked: leaked, open: []Kind{Landlock}},
		{name: "kill the helper, which would end all", script: `kill -9 $PPID; sleep 0.1`, worked: func(_ *world, r result) bool { return r.err != nil }},
		{name: "see what the helper has open", script: `readlink /proc/$PPID/fd/3 && echo seen`, worked: says("seen")},
	}
}

// network are the attempts to talk with what is outside. A box with landlock
// does not close the network, and says so.
func network() []attempt {
	return []attempt{
		{name: "connect by TCP", script: `cat < /dev/tcp/127.0.0.1/$TCP`, worked: leaked, open: []Kind{Landlock}},
		{name: "send and receive by UDP", script: `exec 3<>/dev/udp/127.0.0.1/$UDP; echo >&3; timeout 2 head -n 1 <&3`, worked: leaked, open: []Kind{Landlock}},
		{name: "connect to an abstract unix socket", script: probe("unix", "@$ABSTRACT"), worked: leaked},
		{name: "send to an abstract unix socket", script: probe("unixgram", "@$ABSTRACT-gram"), worked: leaked},
		{name: "connect to a unix socket outside", script: probe("unix", "$OUT/socket"), worked: leaked, open: []Kind{Landlock}},
		{name: "see the network's packets", script: probe("packet"), worked: says("opened"), root: true},
		{name: "see who is connected to whom", script: `grep -q ":$(printf %04X $TCP) " /proc/$$/net/tcp && echo seen`, worked: says("seen"), open: []Kind{Landlock}},
	}
}

// privileges are the attempts to become more than one is.
func privileges() []attempt {
	return []attempt{
		{name: "gain root by a setuid program", root: true, worked: says("uid 0"),
			script: `cp /usr/bin/id id && chmod 4755 id && chmod 755 . && setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'echo uid $(./id -u)'`},
		{name: "set the machine's name", script: probe("hostname"), worked: says("named"), root: true},
		{name: "read a key of the user's keyring", script: probe("keyring", "$KEYNAME"), worked: leaked},
		{name: "read a key by its number", script: probe("key", "$KEY", "$RING"), worked: leaked},
		{name: "read the kernel's log", script: probe("kernellog"), worked: says("logged"), root: true},
		{name: "load a program into the kernel", script: probe("bpf"), worked: says("loaded"), root: true},
		{name: "make namespaces of its own", script: `unshare -U echo unshared`, worked: says("unshared"), open: []Kind{Landlock}},
	}
}
