package main

const name = "fake"
