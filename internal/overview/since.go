package overview

import "time"

// Since fills in what was reserved per second since an earlier picture: in each
// sequence, and on each server that both pictures show and that did not forget
// anything in between. Segments are reserved for ten seconds and more at a time,
// so pictures that are less apart tell little.
func (p *Picture) Since(before *Picture) {
	seconds := p.read.Sub(before.read).Seconds()
	if seconds <= 0 {
		return
	}
	then := map[[2]string]int64{}
	for _, s := range before.Sequences {
		for _, o := range s.On {
			if o.Row != nil {
				then[[2]string{s.Name, o.Server}] = o.Row.Reserved
			}
		}
	}
	for i := range p.Sequences {
		s := &p.Sequences[i]
		s.Lately = -1
		for j := range s.On {
			o := &s.On[j]
			was, known := then[[2]string{s.Name, o.Server}]
			if o.Row == nil || !known || o.Row.Reserved < was {
				o.Lately = -1
				continue
			}
			o.Lately = float64(o.Row.Reserved-was) / seconds
			s.Lately = max(0, s.Lately) + o.Lately
		}
	}
}

// Recent are the pictures, in the order in which they were read, that are not
// older than the window when the last one was read; at least two, if there are.
func Recent(pictures []*Picture, window time.Duration) []*Picture {
	last := len(pictures) - 1
	for len(pictures) > 2 && pictures[last].read.Sub(pictures[0].read) > window {
		pictures, last = pictures[1:], last-1
	}
	return pictures
}
