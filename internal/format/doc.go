// Package format formats files with the formatters that a project uses, after a tool
// has written them. A formatter that is missing, fails, hangs or removes the file does
// no harm: what the tool wrote stays.
package format
