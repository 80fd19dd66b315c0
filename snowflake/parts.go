package snowflake

// Parts are the values of the fields of one ID. A field that the layout does not have is 0.
type Parts struct {
	// Tick is the number of units since the epoch (see Layout.TimeOf).
	Tick int64

	// Datacenter is the upper part of the worker number, Worker the lower (see Layout.Number).
	Datacenter, Worker int64

	// Shard is the database shard.
	Shard int64

	// Sequence tells apart the IDs of one worker within a tick.
	Sequence int64
}

// value returns the part that belongs into a field.
func (p *Parts) value(k Kind) *int64 {
	switch k {
	case KindTime:
		return &p.Tick
	case KindDatacenter:
		return &p.Datacenter
	case KindWorker:
		return &p.Worker
	case KindShard:
		return &p.Shard
	default:
		return &p.Sequence
	}
}

// Compose puts parts together into an ID, which is never negative. A part that is negative or too
// large for its field, or not 0 although there is no such field, gives a *RangeError; the zero
// Layout gives a *LayoutError.
func (l Layout) Compose(p Parts) (int64, error) {
	if l.IsZero() {
		return 0, errZeroLayout()
	}
	for k := KindTime; k < kindEnd; k++ {
		if v := *p.value(k); v < 0 || v > l.max(k) {
			return 0, &RangeError{Field: k.String(), Value: v, Max: l.max(k)}
		}
	}
	return l.compose(p), nil
}

// compose is Compose for parts known to fit.
func (l Layout) compose(p Parts) int64 {
	return p.Tick<<l.shift[KindTime] |
		p.Datacenter<<l.shift[KindDatacenter] |
		p.Worker<<l.shift[KindWorker] |
		p.Shard<<l.shift[KindShard] |
		p.Sequence<<l.shift[KindSequence]
}

// Decompose takes an ID apart: the inverse of Compose. An ID that is negative or has bits above
// the highest field gives a *RangeError; the zero Layout gives a *LayoutError. Whether the ID was
// really made with this layout can't be seen from it.
func (l Layout) Decompose(id int64) (Parts, error) {
	if l.IsZero() {
		return Parts{}, errZeroLayout()
	}
	if largest := int64(1)<<l.Bits() - 1; id < 0 || id > largest {
		return Parts{}, &RangeError{Field: "id", Value: id, Max: largest}
	}
	var p Parts
	for k := KindTime; k < kindEnd; k++ {
		*p.value(k) = id >> l.shift[k] & l.max(k)
	}
	return p, nil
}

// WorkerBits returns the width of a worker number in bits: of datacenter and worker field
// together. It is 0 for a layout that can only decode (see CheckIssue).
func (l Layout) WorkerBits() int { return l.Width(KindDatacenter) + l.Width(KindWorker) }

// MaxWorker returns the largest worker number: 2^WorkerBits − 1.
func (l Layout) MaxWorker() int64 { return int64(1)<<l.WorkerBits() - 1 }

// Node spreads a worker number, 0 to MaxWorker, over the datacenter and the worker field: the
// datacenter is its high bits, whichever of the two fields is higher in the ID. Different numbers
// give different pairs. A number out of range gives a *RangeError.
func (l Layout) Node(number int64) (datacenter, worker int64, err error) {
	if number < 0 || number > l.MaxWorker() {
		return 0, 0, &RangeError{Field: "worker number", Value: number, Max: l.MaxWorker()}
	}
	return number >> l.width[KindWorker], number & l.max(KindWorker), nil
}

// Number returns the worker number that datacenter and worker make: the inverse of Node. A value
// that does not fit into its field gives a *RangeError.
func (l Layout) Number(datacenter, worker int64) (int64, error) {
	if datacenter < 0 || datacenter > l.max(KindDatacenter) {
		return 0, &RangeError{Field: KindDatacenter.String(), Value: datacenter, Max: l.max(KindDatacenter)}
	}
	if worker < 0 || worker > l.max(KindWorker) {
		return 0, &RangeError{Field: KindWorker.String(), Value: worker, Max: l.max(KindWorker)}
	}
	return datacenter<<l.width[KindWorker] | worker, nil
}

// errZeroLayout is for a Layout that was never made.
func errZeroLayout() error {
	return &LayoutError{Field: "bits", Value: "0",
		Problem: "the zero Layout has no fields",
		Remedy:  "take Default, Preset, ParseLayout or NewLayout"}
}
