package metrics

import (
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/ticket"
)

var (
	fleetInfo         = gauge("fleet_info", "1, with the identity of the fleet; missing before a server was reached.", "fleet")
	serverUp          = gauge("server_up", "1 if the server takes part, 0 if it is down or being checked.", "server")
	serverRefused     = gauge("server_refused", "1 if the server is kept out until an operator does something about it.", "server")
	serverOffset      = gauge("server_offset", "Offset of the server, its residue class; 0 before it was reached.", "server")
	serverGeneration  = gauge("server_generation", "Generation of the server, raised by each fence; 0 before it was reached.", "server")
	serverConnections = counter("server_connections_total", "Connections made to the server.", "server")
	serverErrors      = counter("server_errors_total", "Statements and connections that failed, by cause.", "server", "cause")
	serverFences      = counter("server_fences_total", "Fences of the server that this client ran, by reason.", "server", "reason")

	tickets       = counter("tickets_total", "Tickets issued.", "server")
	ticketTime    = histogram("ticket_statement_duration_seconds", "How long statements took that issued tickets.", "server")
	ticketGaps    = counter("ticket_gaps_total", "Statements whose outcome never became known.", "server")
	ticketRetries = counter("ticket_retries_total", "Statements sent again after a deadlock or a lock wait.", "server")
	ticketHighest = gauge("ticket_highest", "Highest ticket seen from the server; missing before there is one.", "server")
	ticketDrift   = gauge("ticket_drift_rounds", "How far the server is behind the one that is furthest ahead; missing before a ticket of it was seen.", "server")
	ticketLine    = gauge("ticket_clock_line", "Ticket that a fence would take the server to now, at least; missing before it was reached.", "server")
	ticketCeiling = gauge("ticket_ceiling", "Largest ticket that there may be; missing before the server was reached.", "server")

	groupFleet = group{
		fleetInfo, serverUp, serverRefused, serverOffset, serverGeneration, serverConnections, serverErrors, serverFences,
		tickets, ticketTime, ticketGaps, ticketRetries, ticketHighest, ticketDrift, ticketLine, ticketCeiling,
	}
)

// byCause are the values of the label cause.
func byCause(e ticket.ErrorCounts) map[string]int64 {
	return map[string]int64{
		"unreachable": e.Unreachable, "timeout": e.Timeout, "denied": e.Denied, "read_only": e.ReadOnly,
		"changed": e.Changed, "scheme": e.Scheme, "other": e.Other,
	}
}

// byReason are the values of the label reason.
func byReason(f ticket.FenceCounts) map[string]int64 {
	return map[string]int64{"restarted": f.Restarted, "replaced": f.Replaced, "peer": f.Peer, "scheme": f.Scheme}
}

// fleet sends what is known of the servers and their tickets.
func (s *scrape) fleet(st ticket.Stats) {
	if st.Fleet != "" {
		s.send(fleetInfo, 1, st.Fleet)
	}
	var highest int64
	for _, server := range st.Servers {
		highest = max(highest, server.Highest)
	}
	named := map[string]int{}
	for _, server := range st.Servers {
		name := server.Server
		if named[server.Server]++; named[server.Server] > 1 {
			// Given twice and not noticed yet, because it is down. Two series with the
			// same labels would fail the whole scrape.
			name = fmt.Sprintf("%s (%d)", name, named[server.Server])
		}
		s.server(name, server)
		s.tickets(name, server, highest, st.Increment)
	}
}

func (s *scrape) server(name string, st ticket.ServerStats) {
	s.yes(serverUp, st.State == ticket.StateUp, name)
	s.yes(serverRefused, errors.Is(st.Err, ticket.ErrNotAccepted) || errors.Is(st.Err, ticket.ErrForeign) || errors.Is(st.Err, ticket.ErrBehind), name)
	s.count(serverOffset, st.Offset, name)
	s.count(serverGeneration, st.Gen, name)
	s.count(serverConnections, st.Connections, name)
	for cause, n := range byCause(st.Errors) {
		s.count(serverErrors, n, name, cause)
	}
	for reason, n := range byReason(st.FencesBy) {
		s.count(serverFences, n, name, reason)
	}
}

func (s *scrape) tickets(name string, st ticket.ServerStats, highest, increment int64) {
	s.count(tickets, st.Issued, name)
	s.histogram(ticketTime, st.Latency, st.LatencySum, name)
	s.count(ticketGaps, st.Gaps, name)
	s.count(ticketRetries, st.Retries, name)
	if st.Highest > 0 {
		s.count(ticketHighest, st.Highest, name)
		s.count(ticketDrift, (highest-st.Highest)/max(1, increment), name)
	}
	if st.Line > 0 {
		s.count(ticketLine, st.Line, name)
	}
	if st.Ceiling > 0 {
		s.count(ticketCeiling, st.Ceiling, name)
	}
}
