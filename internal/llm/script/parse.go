package script

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"lathe/internal/llm"
)

// Parse reads the text form of a script. Steps are separated by lines "---";
// empty lines and lines that start with "#" are skipped. A step has lines
//
//	text WORDS              text; several lines in a row are one block
//	reasoning WORDS         reasoning, likewise
//	tool NAME {JSON}        a tool call
//	usage in=1 out=2 cached=3 written=4 reasoning=5    or: usage none
//	finish REASON           stop, tool-calls, length, content-filter, unknown
//	status N [HEADER=VALUE …] MESSAGE    an HTTP error
//	code CODE               the provider's code of that error
//	error MESSAGE           an error inside the stream, after the blocks
//	drop N                  close the connection after N bytes of the body
//	stall                   say nothing more until the client leaves
//	raw BYTES               body as it stands; several lines are joined by LF
//	whole                   answer with one JSON document
//	when WORDS              only for a request whose last message contains them
//	side                    only for a request without tools
//	times N                 use the step N times
func Parse(data []byte) (Script, error) {
	var script Script
	p := parser{}
	for n, line := range strings.Split(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimRight(line, " \t") == "---" {
			script = append(script, p.step)
			p = parser{}
			continue
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("script line %d: %w", n+1, err)
		}
	}
	if p.used || len(script) == 0 {
		script = append(script, p.step)
	}
	return script, nil
}

// parser reads one step.
type parser struct {
	step Step
	last string // word of the line before
	used bool
}

func (p *parser) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	joined := p.last == word
	p.last, p.used = word, true
	s := &p.step
	switch word {
	case "text":
		return p.text(rest, joined)
	case "reasoning":
		return p.reasoning(rest, joined)
	case "tool":
		name, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if name == "" {
			return fmt.Errorf("tool needs a name")
		}
		s.Blocks = append(s.Blocks, Call{Name: name, Args: strings.TrimSpace(args)})
	case "usage":
		return p.usage(rest)
	case "finish":
		s.Finish = llm.FinishReason(strings.TrimSpace(rest))
	case "status":
		return p.status(rest)
	case "code":
		s.Code = strings.TrimSpace(rest)
	case "error":
		s.Broken = rest
	case "drop":
		s.Drop = true
		return number(rest, &s.DropAt)
	case "stall":
		s.Stall = true
	case "raw":
		s.Raw += rest + "\n"
	case "whole":
		s.Whole = true
	case "when":
		s.When = rest
	case "side":
		s.Side = true
	case "times":
		return number(rest, &s.Times)
	default:
		return unknownWord(word)
	}
	return nil
}

// unknownWord quotes only what may be a word with a typing error: a file that is no
// script may hold secrets, and the error goes to whoever named the file.
func unknownWord(word string) error {
	if len(word) > 12 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return errors.New("it does not begin with a word of the script language; is this a script file?")
	}
	return fmt.Errorf("unknown word %q", word)
}

func (p *parser) text(rest string, joined bool) error {
	blocks := p.step.Blocks
	if joined {
		blocks[len(blocks)-1] = blocks[len(blocks)-1].(Text) + Text("\n"+rest)
		return nil
	}
	p.step.Blocks = append(blocks, Text(rest))
	return nil
}

func (p *parser) reasoning(rest string, joined bool) error {
	blocks := p.step.Blocks
	if joined {
		r := blocks[len(blocks)-1].(Reasoning)
		r.Text += "\n" + rest
		blocks[len(blocks)-1] = r
		return nil
	}
	p.step.Blocks = append(blocks, Reasoning{Text: rest})
	return nil
}

func (p *parser) usage(rest string) error {
	u := &llm.Usage{Reported: true}
	p.step.Usage = u
	for _, field := range strings.Fields(rest) {
		if field == "none" {
			*u = llm.Usage{}
			return nil
		}
		name, value, _ := strings.Cut(field, "=")
		to, ok := map[string]*int64{
			"in": &u.Input, "out": &u.Output, "cached": &u.CacheRead, "written": &u.CacheWrite, "reasoning": &u.Reasoning,
		}[name]
		n, err := strconv.ParseInt(value, 10, 64)
		if !ok || err != nil {
			return fmt.Errorf("usage field %q is not in=N, out=N, cached=N, written=N or reasoning=N", field)
		}
		*to = n
	}
	return nil
}

func (p *parser) status(rest string) error {
	words := strings.Fields(rest)
	if len(words) == 0 {
		return fmt.Errorf("status needs a number")
	}
	if err := number(words[0], &p.step.Status); err != nil || http.StatusText(p.step.Status) == "" && p.step.Status != 529 {
		return fmt.Errorf("status %q is not an HTTP status", words[0])
	}
	words = words[1:]
	p.step.Header = map[string]string{}
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0], "=")
		if !ok {
			break
		}
		p.step.Header[name] = value
		words = words[1:]
	}
	p.step.Message = strings.Join(words, " ")
	return nil
}

func number(s string, to *int) error {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a number from 0 on", s)
	}
	*to = n
	return nil
}
