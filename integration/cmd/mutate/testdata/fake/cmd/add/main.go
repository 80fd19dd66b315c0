// Command add is built and run by a test.
package main

import (
	"fmt"

	"example.com/fake/sum"
)

func main() {
	fmt.Println(sum.Add(2, 3), name+suffix)
}
