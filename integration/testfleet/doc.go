// Package testfleet gives tests fleets of real MySQL and MariaDB servers and
// breaks them on request: kill, freeze, rewind, cut off, in one line each.
//
//	func TestMain(m *testing.M) { testfleet.Main(m) }
//
//	func TestLostReply(t *testing.T) {
//		fleet := testfleet.New(t, 2)
//		one := fleet.Servers[0]
//		cut := one.CutReply(func(q string) bool { return strings.HasPrefix(q, "REPLACE") })
//		…           // use fleet.DSNs()
//		<-cut       // the server has committed, the client was never told
//		one.Kill()
//		…
//		one.Start()
//	}
//
// # Where servers come from
//
// In this order: the servers that ODDEVEN_TEST_SERVERS lists; containers, if a
// Docker engine answers (image ODDEVEN_TEST_IMAGE, by default the official
// mysql:9, or its equivalent by scripts/build-image); processes, if mysqld or
// mariadbd is installed. ODDEVEN_TEST_SOURCE=servers|docker|process forces one.
// scripts/test-servers sees to it that one of them works. If none does, tests
// fail. What a source cannot do (nobody can kill a server of
// ODDEVEN_TEST_SERVERS) makes a test skip, and Main counts these.
//
// Servers run with full durability and small memory, without anything set
// about auto_increment. They have the product's two accounts with exactly the
// privileges that the README documents, and every test has a database of its
// own on them. Everything listens on 127.0.0.1 only.
//
// # Sharing and waiting
//
// Servers are started when a test asks for them and shared by the tests of a
// package, until its end. A test that breaks a shared server simply does not
// call t.Parallel; cleanup puts every server back. See [New].
//
// Nothing here sleeps: methods return when the thing is done, which they find
// out by asking.
//
// # How it is made
//
//	Main ── run ──┬── source: docker, process or servers ── instance (one server's process and data)
//	              ├── node: an instance with accounts; shared or private
//	              └── reaper: another process, cleans up after a crash of this one
//	New ── Fleet ── Server ──┬── node
//	                         └── chain: tap (reads the protocol, cuts) ── toxiproxy (delays, swallows)
package testfleet
