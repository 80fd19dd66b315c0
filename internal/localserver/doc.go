// Package localserver runs MySQL and MariaDB servers as plain processes on
// this machine. The command "oddeven dev", the demo and the tests use it, so
// that a real server is at hand wherever a server binary is installed.
//
// # A server and its directory
//
// A [Server] is one directory and at most one process at a time. The
// directory holds everything the server owns:
//
//	data/        the data directory
//	server.log   what every process of this directory printed
//	server.sock  the unix socket (a short path in the temporary directory
//	             when this path is too long for a socket)
//	server.pid   written by the server
//	tmp/         temporary files, emptied at every start
//	port         the TCP port, kept from one start to the next
//	flavor       MySQL or MariaDB: who made data/
//	lock         locked while a process uses the directory
//
// Its life:
//
//	            Open                      Pause
//	(nothing) ────────▶ running ─────────────────▶ paused
//	                    │  ▲  ▲                    │  │
//	   Stop, Kill, crash│  │  └──────Resume────────┘  │ Stop, Kill
//	                    ▼  │ Start                    │
//	                   stopped ◀─────────────────────┘
//
// [Server.Snapshot] works when stopped or paused, [Server.RestoreFrom] when
// stopped. Two steps are made so that a kill half way through does no harm:
// data/ is initialised under another name and then renamed, and RestoreFrom
// keeps the old data until the new data is complete.
//
// # Who ends what
//
// Each process has one goroutine, its waiter, which starts the process, waits
// until it ends and reaps it. Stop and Kill return after the waiter has done
// so; there is nothing else to close.
//
// Servers do not outlive the program that started them. On Linux the kernel
// sends them SIGKILL when their parent dies (Pdeathsig). It does so when the
// parent's *thread* dies, not its process (golang/go#27505); so the waiter
// stays locked to the thread that started the process for as long as the
// process runs. On other systems a program that is killed leaves its servers
// behind. They keep the directory's lock, because they inherit it, so that a
// second server on the same data is refused in that case too.
//
// Servers run in a process group of their own: Ctrl-C in a terminal reaches
// the program, which then stops its servers in the order it likes.
//
// # What is configured
//
// Servers listen on 127.0.0.1 only, read no option files, and stay small
// (64 MiB of buffer pool, no performance schema). Durability, binary log and
// the auto_increment settings are the server's defaults.
package localserver
