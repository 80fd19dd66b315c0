package main

import (
	"time"

	"github.com/oddeven/oddeven/internal/overview"
	"github.com/oddeven/oddeven/internal/sequence"
)

// The fields of `stats -o json` are documented in its help. They are only added to.

// statsJSON is a fleet.
type statsJSON struct {
	Time      time.Time           `json:"time"`
	Fleet     string              `json:"fleet,omitempty"`
	Increment int64               `json:"increment,omitempty"`
	ShardBits int                 `json:"shard_bits"`
	Layout    string              `json:"layout,omitempty"`
	TimeEnds  *time.Time          `json:"snowflake_until,omitempty"`
	ServersUp int                 `json:"servers_up"`
	Servers   []statsServerJSON   `json:"servers"`
	Workers   statsWorkersJSON    `json:"workers"`
	Sequences []statsSequenceJSON `json:"sequences"`
}

// statsServerJSON is a server.
type statsServerJSON struct {
	Server        string            `json:"server"`
	State         string            `json:"state"`
	Error         string            `json:"error,omitempty"`
	Offset        int64             `json:"offset,omitempty"`
	Gen           int64             `json:"gen,omitempty"`
	FencedAt      *time.Time        `json:"fenced_at,omitempty"`
	FenceReason   string            `json:"fence_reason,omitempty"`
	FencedBy      string            `json:"fenced_by,omitempty"`
	StartedAt     *time.Time        `json:"started_at,omitempty"`
	HighestTicket int64             `json:"highest_ticket"`
	TicketCeiling int64             `json:"ticket_ceiling,omitempty"`
	TicketsToLine int64             `json:"tickets_to_line"`
	Workers       *statsWorkersJSON `json:"workers,omitempty"`
}

// statsWorkersJSON counts worker numbers.
type statsWorkersJSON struct {
	Total  int `json:"total"`
	Leased int `json:"leased"`
	Parked int `json:"parked"`
	Free   int `json:"free"`
}

// statsSequenceJSON is a sequence.
type statsSequenceJSON struct {
	Name      string                    `json:"name"`
	State     string                    `json:"state"`
	HighestID int64                     `json:"highest_id"`
	Ceiling   int64                     `json:"ceiling"`
	Used      float64                   `json:"used"`
	IDsLeft   int64                     `json:"ids_left"`
	IDs       int64                     `json:"ids_reserved"`
	Rate      float64                   `json:"ids_per_second"`
	Forecast  string                    `json:"forecast"`
	RunsOutAt *time.Time                `json:"runs_out_at,omitempty"`
	ThisHour  statsWindowJSON           `json:"this_hour"`
	LastHour  statsWindowJSON           `json:"last_hour"`
	Peak      int64                     `json:"peak_hour_ids"`
	Gaps      *int64                    `json:"gap_rounds,omitempty"`
	Servers   []statsSequenceServerJSON `json:"servers"`
}

// statsWindowJSON is what was reserved in an hour.
type statsWindowJSON struct {
	IDs     int64 `json:"ids"`
	Refills int64 `json:"refills"`
}

// statsSequenceServerJSON is a sequence on a server.
type statsSequenceServerJSON struct {
	Server     string          `json:"server"`
	Offset     int64           `json:"offset,omitempty"`
	Answered   bool            `json:"answered"`
	Problems   []string        `json:"problems"`
	HighestID  int64           `json:"highest_id"`
	IDs        int64           `json:"ids_reserved"`
	Refills    int64           `json:"refills"`
	Step       int64           `json:"step"`
	Rate       float64         `json:"ids_per_second"`
	ThisHour   statsWindowJSON `json:"this_hour"`
	LastHour   statsWindowJSON `json:"last_hour"`
	Peak       int64           `json:"peak_hour_ids"`
	Share      float64         `json:"share"`
	Behind     int64           `json:"rounds_behind"`
	PassedOver int64           `json:"rounds_passed_over"`
	ToLine     int64           `json:"rounds_to_line"`
	Gen        int64           `json:"gen,omitempty"`
	RefilledAt *time.Time      `json:"refilled_at,omitempty"`
	RefilledBy string          `json:"refilled_by,omitempty"`
}

func windowJSON(w sequence.Window) statsWindowJSON {
	return statsWindowJSON{IDs: w.Rounds, Refills: w.Refills}
}

func workersJSON(w overview.Workers) statsWorkersJSON {
	return statsWorkersJSON{Total: w.Total(), Leased: w.Leased, Parked: w.Parked, Free: w.Free}
}

// statsToJSON is a picture as it is printed with -o json.
func statsToJSON(p *overview.Picture) statsJSON {
	out := statsJSON{
		Time: p.At, Fleet: p.Fleet, Increment: p.Increment, ShardBits: p.ShardBits, Layout: p.Layout, TimeEnds: some(p.TimeEnds), ServersUp: p.Up(),
		Servers: []statsServerJSON{}, Workers: workersJSON(p.Workers()), Sequences: []statsSequenceJSON{},
	}
	for _, s := range p.Servers {
		j := statsServerJSON{
			Server: s.Server, State: serverState(s), Offset: s.Offset, Gen: s.Gen, FencedAt: some(s.FencedAt), FenceReason: s.FenceReason, FencedBy: s.FencedBy,
			StartedAt: some(s.Started), HighestTicket: s.Top, TicketCeiling: s.Ceiling, TicketsToLine: s.ToLine(),
		}
		if err := s.Problem(); err != nil {
			j.Error = redact(err.Error(), nil)
		}
		if s.Workers != nil {
			j.Workers = new(workersJSON(*s.Workers))
		}
		out.Servers = append(out.Servers, j)
	}
	for i := range p.Sequences {
		out.Sequences = append(out.Sequences, statsSequenceToJSON(p, &p.Sequences[i]))
	}
	return out
}

func statsSequenceToJSON(p *overview.Picture, s *overview.Sequence) statsSequenceJSON {
	thisHour, lastHour := s.Hours()
	out := statsSequenceJSON{
		Name: s.Name, State: string(s.Standing(p.At)), HighestID: s.HighestID(), Ceiling: s.State.Ceiling, Used: used(s.Sequence), IDsLeft: s.Left,
		IDs: s.Reserved, Rate: s.Rate, Forecast: string(s.Forecast.Kind), RunsOutAt: some(s.Forecast.At), ThisHour: windowJSON(thisHour),
		LastHour: windowJSON(lastHour), Peak: s.Peak,
	}
	if s.Gaps >= 0 {
		out.Gaps = &s.Gaps
	}
	for _, o := range s.On {
		j := statsSequenceServerJSON{
			Server: o.Server, Offset: o.Offset, Answered: o.Answered, Problems: problemNames(o.OnServer), HighestID: o.HighestID(), Rate: o.Rate,
			ThisHour: windowJSON(o.ThisHour), LastHour: windowJSON(o.LastHour), Share: o.Share, Behind: o.Behind, PassedOver: o.PassedOver(), ToLine: o.ToLine,
		}
		if r := o.Row; r != nil {
			j.IDs, j.Refills, j.Step, j.Peak, j.Gen = r.Reserved, r.Refills, r.Step, r.Peak, r.Gen
			j.RefilledAt, j.RefilledBy = some(r.RefilledAt), r.RefilledBy
		}
		out.Servers = append(out.Servers, j)
	}
	return out
}
