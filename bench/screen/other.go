//go:build !linux

// Command screen measures what the screen costs; it needs Linux.
package main

func main() { panic("this measurement needs Linux") }
