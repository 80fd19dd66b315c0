package alerts

import "time"

// scenario is what was scraped, once a minute, and what comes of it.
type scenario struct {
	name   string
	series string
	at     time.Duration // when it is looked at
	fires  []string      // labels of the alerts that fire then; none if empty
}

const (
	first  = `server="db1:3306/oddeven"`
	second = `server="db2:3306/oddeven"`
	db1    = `{` + first + `}`
	db2    = `{` + second + `}`
	orders = `{sequence="orders"}`
)

// scenarios are by alert: each has some that make it fire and some that do not.
var scenarios = map[string][]scenario{
	"OddevenNoServerUp": {
		{"AllDown", "oddeven_server_up" + db1 + " 1 0x10 \n oddeven_server_up" + db2 + " 1 0x10", 2 * time.Minute, []string{`{}`}},
		{"NeverReached", "oddeven_fleet_reached 0x10", time.Minute, []string{`{}`}},
		{"OneUp", "oddeven_server_up" + db1 + " 0x10 \n oddeven_server_up" + db2 + " 1x10 \n oddeven_fleet_reached 1x10", 10 * time.Minute, nil},
		{"AMoment", "oddeven_server_up" + db1 + " 1 0 1x10 \n oddeven_server_up" + db2 + " 1 0 0 0 0", 4 * time.Minute, nil},
	},
	"OddevenServerDown": {
		{"FiveMinutes", "oddeven_server_up" + db1 + " 1x10 \n oddeven_server_up" + db2 + " 1 0x10", 6 * time.Minute, []string{db2}},
		{"NotYet", "oddeven_server_up" + db2 + " 1 0x10", 5 * time.Minute, nil},
		{"Up", "oddeven_server_up" + db1 + " 1x10", 10 * time.Minute, nil},
	},
	"OddevenServerRefused": {
		{"Refused", "oddeven_server_refused" + db1 + " 0 1x10", 2 * time.Minute, []string{db1}},
		{"OnlyDown", "oddeven_server_refused" + db1 + " 0x10 \n oddeven_server_up" + db1 + " 0x10", 10 * time.Minute, nil},
	},
	"OddevenNumbersRefused": {
		{"Once", `oddeven_server_errors_total{` + first + `,cause="scheme"} 0 0 1x10`, 3 * time.Minute, []string{`{cause="scheme", ` + first + `}`}},
		{"LongAgo", `oddeven_server_errors_total{` + first + `,cause="scheme"} 0 1x60`, 30 * time.Minute, nil},
		{"OtherErrors", `oddeven_server_errors_total{` + first + `,cause="timeout"} 0+5x60`, 30 * time.Minute, nil},
	},
	"OddevenFencesOften": {
		{"ByTwoProcesses", `oddeven_server_fences_total{` + first + `,reason="restarted"} 0 1 2 2x400
			oddeven_server_fences_total{` + first + `,reason="peer",instance="host:2"} 0 0 1 2 2x400`, 30 * time.Minute, []string{db1}},
		{"Twice", `oddeven_server_fences_total{` + first + `,reason="restarted"} 0 1 2 2x400`, 30 * time.Minute, nil},
		{"ManyInMonths", `oddeven_server_fences_total{` + first + `,reason="restarted"} 40x400`, 400 * time.Minute, nil},
	},
	"OddevenTicketDrift": {
		{"Up", "oddeven_ticket_drift_rounds" + db2 + " 2000000x20 \n oddeven_server_up" + db2 + " 1x20", 16 * time.Minute, []string{db2}},
		{"Down", "oddeven_ticket_drift_rounds" + db2 + " 2000000x20 \n oddeven_server_up" + db2 + " 0x20", 20 * time.Minute, nil},
		{"Near", "oddeven_ticket_drift_rounds" + db2 + " 10000x20 \n oddeven_server_up" + db2 + " 1x20", 20 * time.Minute, nil},
		{"PulledLevel", "oddeven_ticket_drift_rounds" + db2 + " 2000000 0x20 \n oddeven_server_up" + db2 + " 1x20", 20 * time.Minute, nil},
	},
	"OddevenTicketClockLinePassed": {
		{"Above", "oddeven_ticket_highest" + db1 + " 2000x70 \n oddeven_ticket_clock_line" + db1 + " 1000+1x70", 65 * time.Minute, []string{db1}},
		{"Below", "oddeven_ticket_highest" + db1 + " 900x70 \n oddeven_ticket_clock_line" + db1 + " 1000+1x70", 65 * time.Minute, nil},
	},
	"OddevenTicketsNearCeiling": {
		{"Near", "oddeven_ticket_highest" + db1 + " 95x20 \n oddeven_ticket_ceiling" + db1 + " 100x20", 16 * time.Minute, []string{db1}},
		{"Far", "oddeven_ticket_highest" + db1 + " 80x20 \n oddeven_ticket_ceiling" + db1 + " 100x20", 16 * time.Minute, nil},
	},
	"OddevenIDsFromSnowflake": {
		{"Away", `oddeven_sequence_source{sequence="orders",source="snowflake"} 0 1x10
			oddeven_sequence_source{sequence="orders",source="segment"} 1 0x10`, 2 * time.Minute, []string{`{sequence="orders", source="snowflake"}`}},
		{"AMoment", `oddeven_sequence_source{sequence="orders",source="snowflake"} 0 1 0 1 0`, 3 * time.Minute, nil},
		{"Segments", `oddeven_sequence_source{sequence="orders",source="segment"} 1x10
			oddeven_sequence_source{sequence="orders",source="snowflake"} 0x10`, 10 * time.Minute, nil},
	},
	"OddevenCallsFailing": {
		{"Failing", "oddeven_sequence_failed_calls_total" + orders + " 0+3x10", 5 * time.Minute, []string{orders}},
		{"LongAgo", "oddeven_sequence_failed_calls_total" + orders + " 0 7x30", 20 * time.Minute, nil},
	},
	"OddevenRefillsFailing": {
		{"Failing", "oddeven_segment_refill_failing" + orders + " 0 1x10 \n oddeven_segment_refill_failures_total" + orders + " 0+9x10", 5 * time.Minute, []string{orders}},
		{"OneFailedAndNobodyAskedSince", "oddeven_segment_refill_failing" + orders + " 0 1x20 \n oddeven_segment_refill_failures_total" + orders + " 0 1x20", 12 * time.Minute, nil},
		{"OneServerFails", "oddeven_segment_refill_failing" + orders + " 0x20 \n oddeven_segment_refill_failures_total" + orders + " 0+1x20", 12 * time.Minute, nil},
	},
	"OddevenCallersWait": {
		{"Now", "oddeven_segment_waiting_calls" + orders + " 0 4x10 \n oddeven_segment_wait_seconds_total" + orders + " 5x10", 4 * time.Minute, []string{orders}},
		{"OftenAndShort", "oddeven_segment_waiting_calls" + orders + " 0x10 \n oddeven_segment_wait_seconds_total" + orders + " 0+30x10", 5 * time.Minute, []string{orders}},
		{"FirstCallsAfterAPause", "oddeven_segment_waiting_calls" + orders + " 0x20 \n oddeven_segment_wait_seconds_total" + orders + " 0+0.1x20", 15 * time.Minute, nil},
	},
	"OddevenBufferLow": {
		{"HalfASecond", "oddeven_segment_buffered_seconds" + orders + ` 0.5x20
			oddeven_sequence_ids_total{sequence="orders",source="segment"} 0+1000x20`, 7 * time.Minute, []string{orders}},
		{"Plenty", "oddeven_segment_buffered_seconds" + orders + ` 8x20
			oddeven_sequence_ids_total{sequence="orders",source="segment"} 0+1000x20`, 7 * time.Minute, nil},
		{"NotUsed", "oddeven_segment_buffered_seconds" + orders + ` 0.5x20
			oddeven_sequence_ids_total{sequence="orders",source="segment"} 1000x20
			oddeven_sequence_ids_total{sequence="orders",source="snowflake"} 0+1000x20`, 12 * time.Minute, nil},
	},
	"OddevenSequenceDrift": {
		{"NeverAsked", sequenceDrift("5000000x60", "1000x60", "0+4x60", "1x60"), 40 * time.Minute, []string{`{sequence="orders", ` + second + `}`}},
		{"LargeSteps", sequenceDrift("5000000x60", "1000000x60", "0+4x60", "1x60"), 40 * time.Minute, nil},
		{"FewRefills", sequenceDrift("5000000x60", "1000x60", "0+0.1x60", "1x60"), 40 * time.Minute, nil},
		{"Down", sequenceDrift("5000000x60", "1000x60", "0+4x60", "0x60"), 40 * time.Minute, nil},
		{"Near", sequenceDrift("5000x60", "10x60", "0+4x60", "1x60"), 40 * time.Minute, nil},
	},
	"OddevenSequenceRunsOut": {
		{"InTenDays", "oddeven_sequence_exhausted_timestamp_seconds" + orders + " 864000x400", 365 * time.Minute, []string{orders}},
		{"InAYear", "oddeven_sequence_exhausted_timestamp_seconds" + orders + " 31536000x400", 365 * time.Minute, nil},
		{"AJump", "oddeven_sequence_exhausted_timestamp_seconds" + orders + " 864000x200 31536000x400", 190 * time.Minute, nil},
	},
	"OddevenSequenceNearCeiling": {
		{"Near", "oddeven_sequence_used_ratio" + orders + " 0.95x20", 16 * time.Minute, []string{orders}},
		{"Far", "oddeven_sequence_used_ratio" + orders + " 0.5x20", 16 * time.Minute, nil},
	},
	"OddevenNoLease": {
		{"None", "oddeven_worker_leased 1 0x10", 7 * time.Minute, []string{`{}`}},
		{"AnotherOneSoon", "oddeven_worker_leased 1 0 1x10", 7 * time.Minute, nil},
		{"NotNeeded", "oddeven_fleet_reached 1x10", 7 * time.Minute, nil},
	},
	"OddevenLeaseOverdue": {
		{"Overdue", "oddeven_worker_lease_overdue 0 1x10", 3 * time.Minute, []string{`{}`}},
		{"Renewed", "oddeven_worker_lease_overdue 0 1 0x10", 3 * time.Minute, nil},
	},
	"OddevenLeaseEnding": {
		{"Ending", "oddeven_worker_lease_remaining_seconds 900-60x10 \n oddeven_worker_lease_overdue 1x10", 6 * time.Minute, []string{`{}`}},
		{"NotYet", "oddeven_worker_lease_remaining_seconds 900-60x10 \n oddeven_worker_lease_overdue 1x10", 5 * time.Minute, nil},
		{"ShortLeases", "oddeven_worker_lease_remaining_seconds 30x10 \n oddeven_worker_lease_overdue 0x10", 6 * time.Minute, nil},
	},
	"OddevenLayoutRunsOut": {
		{"InAMonth", "oddeven_worker_layout_exhausted_timestamp_seconds 2592000x70", 65 * time.Minute, []string{`{}`}},
		{"InTwoYears", "oddeven_worker_layout_exhausted_timestamp_seconds 63072000x70", 65 * time.Minute, nil},
	},
}

// sequenceDrift is a sequence of two servers, the second of which is behind.
func sequenceDrift(drift, step, refills, up string) string {
	return `oddeven_sequence_drift_rounds{sequence="orders",` + second + `} ` + drift + `
		oddeven_sequence_drift_rounds{sequence="orders",` + first + `} 0x60
		oddeven_segment_step_ids` + orders + ` ` + step + `
		oddeven_segment_refills_total{sequence="orders",cause="prefetch"} ` + refills + `
		oddeven_segment_refills_total{sequence="orders",cause="first"} 1x60
		oddeven_server_up` + db1 + ` 1x60
		oddeven_server_up` + db2 + ` ` + up
}
