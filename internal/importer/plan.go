package importer

import (
	"context"
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// Plan is an import: what was read, and what becomes of it on every server.
type Plan struct {
	Steps []Step // one for each sequence
}

// Step is the part of a plan for one sequence.
type Step struct {
	Numbering
	Start    int64             // no ID of the sequence is below it
	Ceiling  int64             // none is above it
	Servers  []sequence.Change // in the order of the fleet's configuration
	Warnings []string          // whole sentences, those of the numbering included

	spec sequence.Spec
}

// Empty reports whether every sequence is there already.
func (p Plan) Empty() bool {
	for _, s := range p.Steps {
		if !(sequence.Plan{Changes: s.Servers}).Empty() {
			return false
		}
	}
	return true
}

// numberings are what a plan was made from.
func (p Plan) numberings() []Numbering {
	all := make([]Numbering, len(p.Steps))
	for i, s := range p.Steps {
		all[i] = s.Numbering
	}
	return all
}

// FirstID is the lowest ID that any server issues next.
func (s Step) FirstID() int64 {
	first := s.Servers[0].FirstID()
	for _, c := range s.Servers[1:] {
		first = min(first, c.FirstID())
	}
	return first
}

// Prepare reads the old tables and the fleet, and returns what Run would do. It
// changes nothing. It waits for the network and ends with ctx. Errors are those
// of Read and of sequence.Create, and *Error of kind ErrBelow, ErrInUse or ErrRow.
func Prepare(ctx context.Context, fleet *ticket.Fleet, cfg Config) (Plan, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return Plan{}, err
	}
	return c.prepare(ctx, fleet)
}

func (c Config) prepare(ctx context.Context, fleet *ticket.Fleet) (Plan, error) {
	numberings, err := c.read(ctx)
	if err != nil {
		return Plan{}, err
	}
	bits, err := shardBits(ctx, fleet)
	if err != nil {
		return Plan{}, err
	}
	var p Plan
	var errs []error
	for _, n := range numberings {
		s, err := c.step(ctx, fleet, n, bits)
		p.Steps, errs = append(p.Steps, s), append(errs, err)
	}
	return p, errors.Join(errs...)
}

// step plans one sequence.
func (c Config) step(ctx context.Context, fleet *ticket.Fleet, n Numbering, bits int) (Step, error) {
	s := Step{Numbering: n, Start: n.Highest + c.Margin + 1, Warnings: n.Warnings}
	if err := sequence.CheckName(n.Sequence); err != nil {
		return s, s.refuse(unusable(err), "Give it another name with --as")
	}
	ceiling, err := c.ceiling(n, bits)
	if err != nil {
		return s, err
	}
	if ceiling > 0 && ceiling < schema.CeilingFor(bits) && c.Ceiling == 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s ends at %d, which is what %s holds. Widen the column to BIGINT before, if you can.", sequence.Quote(n.Sequence), ceiling, n.narrowest()))
	}
	s.spec = sequence.Spec{Name: n.Sequence, Start: s.Start, Ceiling: ceiling, Description: n.Description}
	found, done, err := c.existing(ctx, fleet, &s)
	if err != nil || done {
		return s, err
	}
	p, err := sequence.PlanCreate(ctx, fleet, s.spec)
	if err != nil {
		return s, s.inWords(err, found)
	}
	s.Servers, s.Warnings = p.Changes, append(s.Warnings, p.Warnings...)
	s.Ceiling = p.Changes[0].To.Ceiling
	return s, nil
}

// ceiling is the last ID of the sequence, 0 for the largest there is. The shard
// is put below the ID, so a column of k bits holds an ID of k - bits.
func (c Config) ceiling(n Numbering, bits int) (int64, error) {
	most := schema.CeilingFor(bits)
	if n.Limit < schema.Ceiling-1 {
		most = min(most, (n.Limit+1)>>bits-1)
	}
	wanted := most
	if c.Ceiling > 0 {
		wanted = c.Ceiling
	}
	s := Step{Numbering: n, Start: n.Highest + c.Margin + 1}
	switch {
	case wanted > most && n.Limit < schema.Ceiling-1:
		return 0, s.refuse(fmt.Sprintf("the ceiling %d is more than %s holds, %d", wanted, n.narrowest(), most), "Widen the column, or leave the ceiling out")
	case wanted > most:
		return 0, s.refuse(fmt.Sprintf("the ceiling %d is above the largest ID of this fleet, %d", wanted, most), "Leave it out")
	case s.Start > wanted:
		return 0, s.refuse(fmt.Sprintf("would start at %d, above its ceiling, %d", s.Start, wanted), "There is nothing left to issue: widen the column to BIGINT, or take a smaller margin")
	}
	return wanted, nil
}

// narrowest is the reading with the least limit.
func (n Numbering) narrowest() string {
	for _, r := range n.Readings {
		if r.Limit == n.Limit {
			return r.Old + " on " + r.Source
		}
	}
	return n.Sequence
}

// existing looks whether the sequence is there. done is true if nothing is to be
// done about it.
func (c Config) existing(ctx context.Context, fleet *ticket.Fleet, s *Step) (found, done bool, err error) {
	all, errs := sequence.Read(ctx, fleet, s.Sequence)
	if errors.Join(errs...) != nil || len(all) == 0 || all[0].State.Deleted {
		return len(all) > 0, false, nil // creating says what to do about it
	}
	done, err = c.judge(all[0], s)
	return true, done, err
}

// judge reports whether every server has the sequence, and it has lain above the
// old numbers since it was created or bumped.
func (c Config) judge(q sequence.Sequence, s *Step) (bool, error) {
	first, used := q.Servers[0].Class.ID(q.State.Base+1), false
	above := s.Start // what a bump has to reach so that the sequence begins anew
	var same []sequence.Change
	for _, o := range q.Servers {
		first = min(first, o.Class.ID(q.State.Base+1))
		if o.Row != nil {
			same = append(same, sequence.Change{Server: o.Server, Class: o.Class, From: o.Row, To: o.Row})
			next := o.Class.ID(o.Row.Rounds + 1)
			first, above, used = min(first, next), max(above, next+o.Class.Increment), used || o.Row.Refills > 0
		}
	}
	complete := q.InOrder() && len(same) == len(q.Servers)
	if first <= s.Highest && (used || complete) {
		return false, s.tooLow(c.Kind, first, used, above)
	}
	if !complete {
		return false, nil // creating completes it, or says what to do about it
	}
	s.Servers, s.Ceiling = same, q.State.Ceiling
	if s.Ceiling > s.spec.Ceiling {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s exists with the ceiling %d, above the %d that it would be given now.", sequence.Quote(s.Sequence), s.Ceiling, s.spec.Ceiling))
	}
	return true, nil
}

// tooLow says what to do about a sequence that begins where the old numbers are.
func (s Step) tooLow(kind Kind, first int64, used bool, start int64) error {
	bump := fmt.Sprintf("`oddeven sequence bump %s %d`", sequence.ShellQuote(s.Sequence), start)
	switch {
	case !used:
		return &Error{
			Subject: "sequence " + sequence.Quote(s.Sequence), Kind: ErrBelow,
			Problem: fmt.Sprintf("exists already and would begin at %d, but numbers up to %d are taken", first, s.Highest), Remedy: "It has issued nothing yet; raise it: " + bump,
		}
	case kind == AutoIncrement:
		return &Error{
			Subject: "sequence " + sequence.Quote(s.Sequence), Kind: ErrInUse,
			Problem: fmt.Sprintf("has issued IDs from %d on, and the table holds numbers up to %d", first, s.Highest),
			Remedy:  "If all of those come from this sequence nothing is to be done. If AUTO_INCREMENT issued some, stop that, raise the sequence (" + bump + ") and look for duplicates",
		}
	}
	return &Error{
		Subject: "sequence " + sequence.Quote(s.Sequence), Kind: ErrInUse,
		Problem: fmt.Sprintf("has issued IDs from %d on, and Leaf has gone on to %d: both may have issued the numbers in between", first, s.Highest),
		Remedy:  "Stop Leaf, raise the sequence (" + bump + ") and look for duplicates",
	}
}

// refuse is an error about a numbering that cannot become a sequence.
func (s Step) refuse(problem, remedy string) error {
	r := s.Readings[0]
	return &Error{Source: r.Source, Subject: r.Old, Problem: problem, Remedy: remedy, Kind: ErrRow}
}

// inWords names the old table in errors that speak of a start and a ceiling that
// nobody has given.
func (s Step) inWords(err error, found bool) error {
	if config, ok := errors.AsType[*ticket.ConfigError](err); ok {
		remedy := "Widen the column, or take a smaller margin"
		if found {
			remedy = "The sequence was used before; give the numbering another name with --as"
		}
		return s.refuse(fmt.Sprintf("cannot start at %d with the ceiling %d: %s", s.Start, s.spec.Ceiling, config.Remedy), remedy)
	}
	return err
}

// unusable is what is wrong with a name, without the field.
func unusable(err error) string {
	if config, ok := errors.AsType[*ticket.ConfigError](err); ok {
		return "as the name of a sequence it " + config.Remedy
	}
	return err.Error()
}
