// Package sum is what the mutants in testdata change.
package sum

// Add returns a + b.
func Add(a, b int) int {
	return a + b
}

// Sub returns a - b. No test looks at it.
func Sub(a, b int) int {
	return a - b
}

// Twice returns 2a.
func Twice(a int) int {
	done := make(chan int)
	go func() {
		done <- 2 * a
	}()
	return <-done
}

// Total adds up values from several goroutines.
func Total(values ...int) int {
	total := 0
	done := make(chan struct{})
	for _, v := range values {
		go func() {
			total += v
			done <- struct{}{}
		}()
		<-done
	}
	return total
}
