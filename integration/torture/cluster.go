package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/integration/torture/schedule"
	"github.com/oddeven/oddeven/internal/localserver"
)

// cluster is the nodes of a Galera cluster that counts as one server of the fleet:
// clients reach the primary alone, behind the proxy. The fleet is marked as having a
// single writer, because that is what a cluster with a majority guarantees.
type cluster struct {
	nodes   []*node
	primary int // guarded by the server's mu
}

// node is one of them.
type node struct {
	config  localserver.Config
	process *localserver.Server
}

const (
	clusterNodes = 3
	providerPath = "/usr/lib/galera/libgalera_smm.so"
)

// transfer is the script by which a node gets all data from another. It is the
// server's own for rsync, but that rsync's daemon, started by root, stays root: the
// directories are not for anybody else.
const transfer = `#!/bin/bash
rsync() {
    case " $* " in *" --daemon "*) [ "$(id -u)" != 0 ] || exec rsync "$@" --dparam=uid=0 --dparam=gid=0 ;; esac
    command rsync "$@"
}
export -f rsync
exec wsrep_sst_rsync "$@"
`

// startCluster starts the nodes one after the other: the first makes the cluster.
func startCluster(ctx context.Context, number int, dir string, installation localserver.Installation, s secrets) (_ *server, err error) {
	v := &server{number: number, secrets: s, use: make(chan struct{}, 1), network: make(chan struct{}, 1), disk: none{}, cluster: &cluster{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start cluster: %w", err), v.close(context.WithoutCancel(ctx)))
		}
	}()
	if installation.Flavor != localserver.MariaDB {
		return nil, fmt.Errorf("a cluster needs MariaDB with Galera, and %s is %s", installation.Server, installation.Flavor)
	}
	if _, err := os.Stat(providerPath); err != nil {
		return nil, fmt.Errorf("find Galera: %w; install the package galera-4", err)
	}
	if err := v.prepareNodes(dir, installation); err != nil {
		return nil, err
	}
	for i, n := range v.cluster.nodes {
		cfg := n.config
		if i == 0 { // the first time only, or it would make a second cluster
			cfg.Options = append(slices.Clip(cfg.Options), "--wsrep-cluster-address=gcomm://")
		}
		if n.process, err = localserver.Open(ctx, cfg); err != nil {
			return nil, err
		}
	}
	v.process = v.cluster.nodes[0].process
	if v.root, err = v.connect(v.process.Addr()); err != nil {
		return nil, err
	}
	if v.proxy, err = testfleet.NewProxy(v.process.Addr()); err != nil {
		return nil, err
	}
	v.gate.proxy = v.proxy
	return v, nil
}

// prepareNodes chooses ports and options.
func (v *server) prepareNodes(dir string, installation localserver.Installation) error {
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(bin, "wsrep_sst_torture"), []byte(transfer), 0o700); err != nil {
		return err
	}
	addresses := make([]string, clusterNodes)
	for i := range addresses {
		addr, err := freeAddress()
		if err != nil {
			return err
		}
		addresses[i] = addr
	}
	for i, addr := range addresses {
		options, err := galeraOptions(i, addr, addresses)
		if err != nil {
			return err
		}
		v.cluster.nodes = append(v.cluster.nodes, &node{config: localserver.Config{
			Installation: installation, Dir: filepath.Join(dir, fmt.Sprintf("s%d-node%d", v.number+1, i+1)), RootPassword: v.secrets.root,
			InitSQL: v.secrets.initSQL(), Options: options, Env: []string{"PATH=" + os.Getenv("PATH") + string(filepath.ListSeparator) + bin},
		}})
	}
	return nil
}

// galeraOptions are those of a node. Galera is not to set the increment: the fleet
// does (README, doctor).
func galeraOptions(i int, addr string, all []string) ([]string, error) {
	ist, err := freeAddress()
	if err != nil {
		return nil, err
	}
	sst, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	return []string{
		"--wsrep-on=ON", "--wsrep-provider=" + providerPath, "--wsrep-cluster-name=torture", "--wsrep-node-name=node" + strconv.Itoa(i+1),
		"--wsrep-node-address=" + addr,
		"--wsrep-provider-options=base_port=" + port + ";gmcast.listen_addr=tcp://" + addr + ";ist.recv_addr=" + ist + ";ist.recv_bind=" + ist + ";gcache.size=64M",
		"--wsrep-sst-method=torture", "--wsrep-sst-receive-address=" + sst, "--wsrep-auto-increment-control=OFF",
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--max-connections=" + strconv.Itoa(most),
		"--wsrep-cluster-address=gcomm://" + strings.Join(all, ","),
	}, nil
}

// freeAddress is an address on which nobody listens, outside the ports that servers,
// proxies and outgoing connections have.
func freeAddress() (string, error) {
	const least, most = 22000, 30000
	for range 100 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(least+rand.IntN(most-least)))
		l, err := net.Listen("tcp4", addr) //nolint:noctx // a literal address: nothing to wait for
		if err != nil {
			continue
		}
		return addr, l.Close()
	}
	return "", errors.New("no free port between 22000 and 30000")
}

// killPrimary kills the primary; another node that has the majority with it takes its
// place. The dead one joins again later, see rejoin.
func (r *run) killPrimary(ctx context.Context, _ schedule.Step, v *server, failed func() error) error {
	if err := errors.Join(failed(), v.kill()); err != nil {
		return err
	}
	if err := v.fail(ctx); err != nil {
		return err
	}
	return v.gate.open(gateDown)
}

// rejoin starts the nodes that are down, after a time. Until then the server can't
// lose its primary once more.
func (v *server) rejoin(ctx context.Context, after time.Duration) error {
	wait(ctx, after)
	for i, n := range v.cluster.nodes {
		if n.process.Running() {
			continue
		}
		p, err := localserver.Open(ctx, n.config)
		if err != nil {
			return fmt.Errorf("join node %d again: %w", i+1, err)
		}
		v.mu.Lock()
		n.process = p
		v.mu.Unlock()
	}
	return nil
}

// fail makes the next node that is ready the primary.
func (v *server) fail(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, opLimit)
	defer cancel()
	for ; ctx.Err() == nil; wait(ctx, 50*time.Millisecond) {
		for k := 1; k < clusterNodes; k++ {
			i := (v.cluster.primary + k) % clusterNodes
			if done, err := v.takeOver(ctx, i); done || err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("no node of the cluster is ready: %w", ctx.Err())
}

// takeOver makes a node the primary if it is ready.
func (v *server) takeOver(ctx context.Context, i int) (done bool, err error) {
	p := v.cluster.nodes[i].process
	if !p.Running() {
		return false, nil
	}
	db, err := v.connect(p.Addr())
	if err != nil {
		return false, err
	}
	var name, ready string
	if err := db.QueryRowContext(ctx, "SHOW STATUS LIKE 'wsrep_ready'").Scan(&name, &ready); err != nil || ready != "ON" {
		return false, db.Close() // not yet
	}
	v.mu.Lock()
	old := v.root
	v.process, v.root, v.cluster.primary = p, db, i
	v.mu.Unlock()
	return true, errors.Join(old.Close(), v.proxy.Retarget(p.Addr()))
}

// kill ends all nodes.
func (c *cluster) kill() error {
	var wg sync.WaitGroup
	errs := make([]error, len(c.nodes))
	for i, n := range c.nodes {
		if n.process != nil {
			wg.Go(func() { errs[i] = n.process.Kill() })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}
