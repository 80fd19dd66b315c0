package metrics

import "github.com/oddeven/oddeven/snowflake"

var (
	workerLeased   = gauge("worker_leased", "1 if there is a worker whose lease lasts; missing if none is needed, or its number was assigned by hand.")
	workerLeft     = gauge("worker_lease_remaining_seconds", "How long the lease still lasts, whatever the clock of this host says; 0 when it has ended.")
	workerOverdue  = gauge("worker_lease_overdue", "1 if the lease should have been renewed by now.")
	workerRenewals = counter("worker_renewals_total", "Renewals of the lease that were confirmed.")
	workerFailures = counter("worker_renewal_failures_total", "Renewals of the lease that failed.")
	workerInfo     = gauge("worker_lease_info", "1, with the fleet and the server that the lease is of.", "fleet", "server")
	groupLease     = group{workerLeased, workerLeft, workerOverdue, workerRenewals, workerFailures, workerInfo}

	workerNumber    = gauge("worker_number", "Worker number.")
	workerIDs       = counter("worker_ids_total", "IDs that the worker made.")
	workerWaits     = counter("worker_waits_total", "Calls that had to wait for time to pass.")
	workerWaited    = counter("worker_wait_seconds_total", "How long calls waited for time to pass, of those that have ended.")
	workerExhausted = gauge("worker_layout_exhausted_timestamp_seconds", "Unix time at which the time bits of the layout are used up.")
	groupWorker     = group{workerNumber, workerIDs, workerWaits, workerWaited, workerExhausted}
)

// loneWorker sends what is known of a worker without a Client.
func (s *scrape) loneWorker(st snowflake.Stats) {
	if !st.Until.IsZero() {
		s.yes(workerLeased, st.Left > 0)
	}
	s.worker(st)
}

// worker sends what is known of a worker; nothing if there is none.
func (s *scrape) worker(st snowflake.Stats) {
	if st.Layout.IsZero() {
		return
	}
	s.count(workerNumber, st.Number)
	s.count(workerIDs, st.Used)
	s.count(workerWaits, st.Waits)
	s.send(workerWaited, st.Waited.Seconds())
	s.time(workerExhausted, st.Exhausted)
	if st.Until.IsZero() {
		return // assigned by hand
	}
	s.send(workerLeft, st.Left.Seconds())
	s.yes(workerOverdue, st.Overdue)
	s.count(workerRenewals, st.Renewals)
	s.count(workerFailures, st.Failed)
	s.send(workerInfo, 1, st.Fleet, st.Server)
}
