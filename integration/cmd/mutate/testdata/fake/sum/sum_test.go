package sum

import "testing"

func TestAdd(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		if got := Add(2, 3); got != 5 {
			t.Fatalf("Add(2, 3) = %d, want 5", got)
		}
	})
}

func TestTwice(t *testing.T) {
	if got := Twice(4); got != 8 {
		t.Fatalf("Twice(4) = %d, want 8", got)
	}
}

func TestTotal(t *testing.T) {
	if got := Total(1, 2, 3); got != 6 {
		t.Fatalf("Total(1, 2, 3) = %d, want 6", got)
	}
}

func TestSkipped(t *testing.T) {
	t.Skip("a skipped test judges nothing")
}

func TestBroken(t *testing.T) {
	t.Fatal("fails without any mutant")
}
