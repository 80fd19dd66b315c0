package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/overview"
)

const (
	watchInterval = time.Second
	// watchWindow is what rates of the moment are taken over: clients reserve for
	// ten seconds and more at a time.
	watchWindow = 30 * time.Second
)

// Where the picture begins, and what is cleared: the rest of a line, and of the
// screen. Every line is written over in place, so nothing flickers.
const (
	screenClear = "\x1b[2J"
	screenHome  = "\x1b[H"
	lineRest    = "\x1b[K"
	screenRest  = "\x1b[J"
)

// watchStats draws pictures until ctx ends, which is no error. A server that
// fails meanwhile is shown, and ends nothing.
func (a *app) watchStats(ctx context.Context, r *overview.Reader, names []string) error {
	paint := a.colours()
	var past []*overview.Picture
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	frame := screenClear
	for {
		lines, err := a.watchPicture(ctx, r, names, &past, paint)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		frame += a.frame(lines)
		if _, err := fmt.Fprint(a.out, frame); err != nil {
			return err
		}
		frame = ""
		select {
		case <-ctx.Done():
		case <-tick.C:
			continue
		}
		break
	}
	_, err := fmt.Fprintln(a.out) // the shell goes on below the picture
	return err
}

// watchPicture reads a picture and draws it, with what is wrong below.
func (a *app) watchPicture(ctx context.Context, r *overview.Reader, names []string, past *[]*overview.Picture, paint colours) ([]string, error) {
	p, err := r.Read(ctx)
	if err != nil {
		return nil, err
	}
	unknown := unknownSequences(ctx, r, p, names)
	if unknown != nil && p.Up() == len(p.Servers) && len(p.Sequences) == 0 {
		return nil, unknown
	}
	p.Sequences = shownSequences(p, names)
	*past = overview.Recent(append(*past, p), watchWindow)
	p.Since((*past)[0])
	lines := drawStats(p, paint)
	for _, err := range []error{statsProblems(p), unknown} {
		if err != nil {
			lines = append(lines, "")
			for line := range strings.Lines(told(err)) {
				lines = append(lines, paint.paint(toneBad, strings.TrimSuffix(line, "\n")))
			}
		}
	}
	return lines, nil
}

// frame is what takes the place of the picture before: as much as the terminal
// has room for.
func (a *app) frame(lines []string) string {
	width, height := a.screen()
	if len(lines) >= height {
		hidden := len(lines) - max(0, height-2)
		lines = append(lines[:len(lines)-hidden:len(lines)-hidden], fmt.Sprintf("(%d more lines; name sequences to see these alone)", hidden))
	}
	var b strings.Builder
	b.WriteString(screenHome)
	for _, line := range lines {
		b.WriteString(cut(line, width) + lineRest + "\n")
	}
	b.WriteString(screenRest)
	return b.String()
}
