package leasemodel

import "math/rand/v2"

// Explore visits every state that can be reached by a time, the nearest first. It
// returns how many there are, and the way to the first state with a tick that
// belongs to two leases; nil if there is none.
func Explore(r Rules, end int8) (states int, way []State) {
	var start State
	came := map[State]State{start: start}
	queue := []State{start}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, n := range s.Next(r, end) {
			if _, known := came[n]; known {
				continue
			}
			came[n] = s
			if n.Duplicate() {
				return len(came), back(came, n)
			}
			queue = append(queue, n)
		}
	}
	return len(came), nil
}

// back is the way from the start to a state.
func back(came map[State]State, s State) []State {
	way := []State{s}
	for s != came[s] {
		s = came[s]
		way = append([]State{s}, way...)
	}
	return way
}

// Walk takes random steps and returns the way to the first state with a tick that
// belongs to two leases; nil if it met none. It begins anew when all leases there
// may be have ended.
func Walk(r Rules, steps int, random *rand.Rand) []State {
	var s State
	var way []State
	for range steps {
		next := s.Next(r, 60)
		s = next[random.IntN(len(next))]
		way = append(way, s)
		if s.Duplicate() {
			return way
		}
		if s.now >= 60 || s.granted == MaxLeases && s.active() == 0 {
			s, way = State{}, nil // a fleet anew
		}
	}
	return nil
}
