package decode

import (
	"errors"

	"github.com/oddeven/oddeven"
)

// parseNumber reads a number in the base of the configuration, in the one form
// that an oddeven.ID is written in.
func (d *Decoder) parseNumber(text string) (int64, error) {
	parse := oddeven.ParseID
	if d.cfg.Base == 32 {
		parse = oddeven.ParseBase32
	}
	id, err := parse(text)
	if err == nil {
		return int64(id), nil
	}
	if other, err := oddeven.ParseBase32(text); err == nil && d.cfg.Base != 32 {
		return 0, newError(text, "is not a number in base 10", "give --base 32 if it is one in base 32, "+other.String()+" then")
	}
	var why *oddeven.IDError
	if !errors.As(err, &why) {
		return 0, newError(text, "is no ID", err.Error())
	}
	// Not wrapped: it quotes the beginning of the text, which may be a secret that
	// is recognized only as a whole.
	return 0, newError(text, why.Problem, why.Remedy+"; or a UUID or an ObjectID")
}
