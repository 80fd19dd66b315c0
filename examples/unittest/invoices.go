// Package invoices shows how code that needs IDs is tested without a server: it
// asks for an interface that *oddeven.Generator has, and its test gives it IDs
// from memory.
package invoices

import (
	"context"
	"fmt"

	"github.com/oddeven/oddeven"
)

// IDs is where the IDs of invoices come from: a *oddeven.Generator.
type IDs interface {
	Next(ctx context.Context) (oddeven.ID, error)
}

// Invoice is what somebody has to pay.
type Invoice struct {
	ID    oddeven.ID
	Cents int64
}

// Book has all invoices. It is not safe for concurrent use.
type Book struct {
	ids      IDs
	invoices map[oddeven.ID]Invoice
}

// NewBook returns an empty Book.
func NewBook(ids IDs) *Book { return &Book{ids: ids, invoices: map[oddeven.ID]Invoice{}} }

// Add adds an invoice.
func (b *Book) Add(ctx context.Context, cents int64) (Invoice, error) {
	id, err := b.ids.Next(ctx)
	if err != nil {
		return Invoice{}, fmt.Errorf("add invoice: %w", err)
	}
	i := Invoice{ID: id, Cents: cents}
	b.invoices[id] = i
	return i, nil
}
