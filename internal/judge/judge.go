// Package judge says what a shell script would do, from its words alone: the
// commands that would run, and the files that they would read and write. It runs
// nothing and opens no file, and says where something cannot be known.
package judge
