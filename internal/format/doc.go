// Package format puts files in the form that a project wants, with the formatters that
// it uses. A formatter is asked after a tool wrote a file. One that is missing, fails,
// does not end or removes the file leaves what the tool wrote.
package format
