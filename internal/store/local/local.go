// Package local keeps what belongs to one host and is not in the database: bodies
// that are too large for a row ([Blobs]), the text of parts that are still open,
// the full text of outputs that were cut, and which processes are alive
// ([Process]).
package local
