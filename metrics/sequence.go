package metrics

import (
	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
)

// Of a Client: failover.
var (
	fleetReached = gauge("fleet_reached", "1 if a server has been reached since the client was opened.")
	groupClient  = group{fleetReached}

	sequenceOpened    = gauge("sequence_opened", "1 if a server has told of the sequence.", "sequence")
	sequenceSource    = gauge("sequence_source", "1 for the source that IDs come from now, 0 for the other one.", "sequence", "source")
	sequenceFailovers = counter("sequence_failovers_total", "Times the sequence fell back on the worker.", "sequence")
	sequenceReturns   = counter("sequence_returns_total", "Times the sequence went back to segments.", "sequence")
	sequenceFailed    = counter("sequence_failed_calls_total", "Calls that returned an error.", "sequence")
	groupGenerator    = group{sequenceOpened, sequenceSource, sequenceFailovers, sequenceReturns, sequenceFailed}
)

// Of a sequence, with a Client or without.
var (
	sequenceIDs       = counter("sequence_ids_total", "IDs handed out, by source.", "sequence", "source")
	sequenceCeiling   = gauge("sequence_ceiling", "Largest ID that the sequence may reach; missing before it is known.", "sequence")
	sequenceUsed      = gauge("sequence_used_ratio", "Share of the IDs below the ceiling that is used up, 0 to 1; missing before the ceiling is known.", "sequence")
	sequenceExhausted = gauge("sequence_exhausted_timestamp_seconds", "Unix time at which the ceiling is reached at the present rate; missing while no end is in sight.", "sequence")
	sequenceDrift     = gauge("sequence_drift_rounds", "How far the last refill from the server was behind the highest round seen; missing before there was one.", "sequence", "server")

	segmentReserved  = counter("segment_reserved_ids_total", "IDs in confirmed refills.", "sequence")
	segmentDropped   = counter("segment_dropped_ids_total", "IDs reserved and never to be used: too old, overtaken, or left at the end.", "sequence")
	segmentBuffered  = gauge("segment_buffered_ids", "IDs in memory.", "sequence")
	segmentSeconds   = gauge("segment_buffered_seconds", "How long the IDs in memory last at the present rate; missing while nothing is used.", "sequence")
	segmentStep      = gauge("segment_step_ids", "IDs asked for by the last refill.", "sequence")
	segmentRefills   = counter("segment_refills_total", "Confirmed refills, by cause.", "sequence", "cause")
	segmentTime      = histogram("segment_refill_duration_seconds", "How long confirmed refills took.", "sequence")
	segmentFailures  = counter("segment_refill_failures_total", "Refills that failed.", "sequence")
	segmentAbandoned = counter("segment_refills_abandoned_total", "Refills whose outcome is unknown or not wanted any more: gaps.", "sequence")
	segmentFailing   = gauge("segment_refill_failing", "1 if the last refill failed and none has succeeded since.", "sequence")
	segmentWaits     = counter("segment_waits_total", "Calls that had to wait for a refill.", "sequence")
	segmentWaited    = counter("segment_wait_seconds_total", "How long calls waited for a refill, of those that have ended.", "sequence")
	segmentWaiting   = gauge("segment_waiting_calls", "Calls that wait for a refill now.", "sequence")

	groupSegment = group{
		sequenceIDs, sequenceCeiling, sequenceUsed, sequenceExhausted, sequenceDrift, segmentReserved, segmentDropped, segmentBuffered,
		segmentSeconds, segmentStep, segmentRefills, segmentTime, segmentFailures, segmentAbandoned, segmentFailing, segmentWaits, segmentWaited, segmentWaiting,
	}
)

// The values of the label source.
const (
	fromSegment   = string(oddeven.PlaneSegment)
	fromSnowflake = string(oddeven.PlaneSnowflake)
)

// byRefill are the values of the label cause.
func byRefill(r segment.RefillCounts) map[string]int64 {
	return map[string]int64{
		"first": r.First, "prefetch": r.Prefetch, "demand": r.Demand, "retry": r.Retry, "hedge": r.Hedge, "enlargement": r.Enlargement,
	}
}

// client sends everything there is about a Client.
func (s *scrape) client(st oddeven.Stats) {
	s.yes(fleetReached, st.Unreached == nil)
	s.fleet(st.Fleet)
	for _, sequence := range st.Sequences {
		s.generator(sequence)
	}
	if st.Worker.Needed {
		s.yes(workerLeased, st.Worker.Leased)
		s.worker(st.Worker.Worker)
	}
}

func (s *scrape) generator(st oddeven.SequenceStats) {
	s.yes(sequenceOpened, st.Opened, st.Name)
	away := st.Plane == oddeven.PlaneSnowflake || !st.Opened
	s.yes(sequenceSource, !away, st.Name, fromSegment)
	s.yes(sequenceSource, away, st.Name, fromSnowflake)
	s.count(sequenceIDs, st.FromWorker, st.Name, fromSnowflake)
	s.count(sequenceFailovers, st.Failovers, st.Name)
	s.count(sequenceReturns, st.Returns, st.Name)
	s.count(sequenceFailed, st.Failed, st.Name)
	if st.Opened {
		s.segment(st.Name, st.Segment)
	} else {
		s.count(sequenceIDs, 0, st.Name, fromSegment) // or its first increase would not show
	}
}

// segment sends what is known of an Allocator.
func (s *scrape) segment(name string, st segment.Stats) {
	s.send(sequenceIDs, s.collector.issued(name, st.Used), name, fromSegment)
	s.space(name, st)
	s.refills(name, st)
	s.count(segmentReserved, st.Reserved, name)
	s.count(segmentDropped, st.Dropped, name)
	s.count(segmentBuffered, st.Left+st.Queued, name)
	if st.Rate > 0 {
		s.send(segmentSeconds, float64(st.Left+st.Queued)/st.Rate, name)
	}
	s.count(segmentWaits, st.Waits, name)
	s.send(segmentWaited, st.Waited.Seconds(), name)
	s.count(segmentWaiting, st.Waiting, name)
}

// space sends how much of a sequence is left, and how far its servers are apart.
func (s *scrape) space(name string, st segment.Stats) {
	if st.Ceiling > 0 {
		s.count(sequenceCeiling, st.Ceiling, name)
		s.send(sequenceUsed, min(1, float64(st.Floor)*float64(st.Stride)/float64(st.Ceiling)), name)
	}
	s.time(sequenceExhausted, st.Exhausted, name)
	for _, server := range st.Servers {
		s.count(sequenceDrift, max(0, st.Floor-server.Round), name, server.Server)
	}
}

func (s *scrape) refills(name string, st segment.Stats) {
	for cause, n := range byRefill(st.RefillsBy) {
		s.count(segmentRefills, n, name, cause)
	}
	s.histogram(segmentTime, st.RefillTimes, st.RefillTimesSum, name)
	s.count(segmentStep, st.Step, name)
	s.count(segmentFailures, st.Failed, name)
	s.count(segmentAbandoned, st.Abandoned, name)
	s.yes(segmentFailing, st.Err != nil, name)
}
