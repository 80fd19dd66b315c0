package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/oddeven/oddeven/ticket"
)

// memoryBudget is about how many bytes the blocks of all parts may have at a time.
const memoryBudget = 1 << 30

// Check reads all files of a directory whose names end in Extension, and holds what
// they say to what a fleet promises. Whatever is wrong is in the Report. Nobody may
// write the files meanwhile.
//
// It reads them three times or more, on all processors, and needs at most about 2 GB
// of memory: see the package's comment. Errors: ctx's own; a *ticket.ConfigError for a
// Fleet that is none, and if there is no file; what kept it from reading one.
func Check(ctx context.Context, dir string, fleet Fleet) (*Report, error) {
	return check(ctx, dir, fleet, memoryBudget)
}

func check(ctx context.Context, dir string, fleet Fleet, budget int64) (*Report, error) {
	if err := fleet.check(); err != nil {
		return nil, err
	}
	c := &checker{
		fleet: fleet, scheme: newScheme(fleet), findings: newFindings(), leases: newLeases(),
		spaces: map[string]int32{}, procs: runtime.GOMAXPROCS(0),
	}
	if err := c.find(dir); err != nil {
		return nil, err
	}
	if err := c.survey(ctx); err != nil {
		return nil, err
	}
	total, err := c.scanAll(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.duplicates(ctx, total, budget); err != nil {
		return nil, err
	}
	c.conclude(total)
	return &c.report, nil
}

// checker is one check. Its fields are set before goroutines read them, in the order
// of the passes.
type checker struct {
	fleet    Fleet
	scheme   scheme
	findings *findings
	procs    int
	report   Report

	files  []string
	leases *leases
	spaces map[string]int32 // of sequences; of tickets under ""
	names  []string         // of spaces
}

// find lists the files.
func (c *checker) find(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list ledgers: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != Extension {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return fmt.Errorf("list ledgers: %w", err)
		}
		c.report.Bytes += info.Size()
		c.files = append(c.files, filepath.Join(dir, e.Name()))
	}
	if len(c.files) == 0 {
		return &ticket.ConfigError{Field: "dir", Value: dir, Remedy: "has no file *" + Extension + "; name the directory that the Writers wrote to"}
	}
	c.report.Files = len(c.files)
	return nil
}

// survey reads everything but IDs: leases are needed before IDs can be checked. It
// reports what is wrong with the files.
func (c *checker) survey(ctx context.Context) error {
	var events []Event
	processes := map[string]bool{}
	for _, path := range c.files {
		torn, err := c.read(ctx, path, visitor{
			stream: func(_ int, s Stream) {
				c.report.Streams++
				processes[s.Process] = true
				c.space(s)
				if s.ShardBits != c.fleet.ShardBits && s.Source == SourceFacade {
					c.findings.add(KindLog, 1, "%s: %s says %d shard bits; the fleet has %d", filepath.Base(path), s.Process, s.ShardBits, c.fleet.ShardBits)
				}
			},
			lease: c.leases.add,
			call:  func(call Call) { checkCall(call, c.fleet.LongestCall, c.findings, &c.report) },
			event: func(e Event) { events = append(events, e) },
		})
		if err != nil {
			return err
		}
		if torn {
			c.report.Unfinished++
		}
	}
	c.report.Processes = len(processes)
	c.report.Leases = c.leases.check(c.findings)
	checkEvents(events, c.fleet.RecoverWithin, c.findings, &c.report)
	return nil
}

// space numbers the sequences.
func (c *checker) space(s Stream) {
	if s.Source == SourceWorker {
		return
	}
	if _, ok := c.spaces[s.Sequence]; !ok {
		c.spaces[s.Sequence] = int32(len(c.names))
		c.names = append(c.names, s.Sequence)
	}
}

// read reads a file. What is wrong with it is no error, and not reported here: scan
// does, which reads everything. The error is ctx's own, or of opening the file.
func (c *checker) read(ctx context.Context, path string, v visitor) (torn bool, err error) {
	torn, _, err = readFile(ctx, path, v)
	return torn, err
}

// readFile is read for a file. What is wrong with it is apart from other errors.
func readFile(ctx context.Context, path string, v visitor) (torn bool, wrong *damage, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, nil, fmt.Errorf("open ledger: %w", err)
	}
	torn, err = read(ctx, file, v)
	if wrong, ok := errors.AsType[*damage](err); ok {
		return false, wrong, file.Close()
	}
	return torn, nil, errors.Join(err, file.Close())
}

// sources makes a visitor's functions that know the streams of a file. In use, its
// position is that of the first ID of the run.
func (c *checker) sources(path string, use func(*source, run)) visitor {
	var streams []*source
	return visitor{
		stream: func(number int, s Stream) {
			src := &source{Stream: s, file: filepath.Base(path), number: number, space: workers}
			if s.Source != SourceWorker {
				src.space, src.ceiling = c.spaces[s.Sequence], c.fleet.ceiling(s.Sequence)
			}
			streams = append(streams, src)
		},
		run: func(number int, r run) {
			use(streams[number], r)
			streams[number].position += r.count
		},
	}
}

// each has files read by all processors: work is called for the files one after the
// other by each of them, with its number.
func (c *checker) each(work func(proc int, path string) error) error {
	paths := make(chan string, len(c.files))
	for _, path := range c.files {
		paths <- path
	}
	close(paths)
	return c.together(c.procs, func(proc int) error {
		for path := range paths {
			if err := work(proc, path); err != nil {
				return err
			}
		}
		return nil
	})
}

// together runs goroutines and waits for them.
func (c *checker) together(n int, work func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = work(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// conclude completes the report.
func (c *checker) conclude(total *tally) {
	c.report.IDs, c.report.Ranges = total.ids, total.ranges
	c.report.BySource, c.report.Unleased = total.bySource, total.unleased
	c.report.Gaps = gaps(c.names, total.classes)
	c.findings.into(&c.report)
}
