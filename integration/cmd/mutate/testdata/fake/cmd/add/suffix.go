package main

import _ "embed"

//go:embed suffix.txt
var suffix string
