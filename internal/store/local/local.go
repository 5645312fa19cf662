// Package local keeps what belongs to one host and is no database: bodies that are
// too large for a row ([Blobs]), the text of parts that are still open, the whole
// of outputs that were cut, and which processes live ([Process]).
package local
