package migrations

import "context"

// Status reads how every server stands and changes nothing. It takes no lock.
// Like Up it returns a report also with an error, for the servers that answered.
func Status(ctx context.Context, cfg Config) (*Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := muster(ctx, cfg)
	defer c.dismiss()
	for _, m := range c.working() {
		switch {
		case m.version > Latest():
			m.report.State = StateNewer
		case m.version == 0:
			m.report.State = StateNew
		case m.version < Latest() || m.row == nil:
			m.report.State = StatePending
		default:
			m.report.State = StateUpToDate
		}
	}
	c.probeTwice(ctx)
	c.checkFleet()
	r := c.report()
	return r, r.err()
}
