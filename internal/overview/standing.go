package overview

import "time"

// soon is how long before its end a sequence is said to end soon, as
// segment.Config.WarnBefore is by default.
const soon = 365 * 24 * time.Hour

// Standing says in a word how a sequence stands.
type Standing string

// The standings, worst first.
const (
	ToBeMended  Standing = "to be mended" // a server missed a change, or forgot it
	UsedUp      Standing = "exhausted"    //
	Tombstone   Standing = "deleted"      //
	EndsSoon    Standing = "ends soon"    // within a year at the present rate
	PastLine    Standing = "past line"    // a server is past its clock line
	PartlyKnown Standing = "partly known" // some server did not answer
	Fine        Standing = "ok"           //
)

// Standing is the worst that can be said of a sequence.
func (c *Sequence) Standing(now time.Time) Standing {
	past := false
	for _, o := range c.On {
		past = past || o.Row != nil && o.ToLine < 0
	}
	switch {
	case !c.InOrder():
		return ToBeMended
	case c.State.Deleted:
		return Tombstone
	case c.Forecast.Kind == Exhausted:
		return UsedUp
	case c.Forecast.Kind == RunsOut && c.Forecast.At.Sub(now) < soon:
		return EndsSoon
	case past:
		return PastLine
	case c.Partial:
		return PartlyKnown
	}
	return Fine
}
