// Package learn finds where a person corrected an agent, words the request that asks a model
// what the project's instructions should say, reads its answer, and puts a line into those
// instructions. It sends and stores nothing itself.
package learn
