package tool

import (
	"errors"
	"strings"
)

var (
	errCircular = errors.New("schema: a reference leads back to itself")
	errForeign  = errors.New("schema: only references to its own definitions are supported")
)

// checkRefs refuses a schema that a validator could follow for ever: one with
// references that come back to themselves without going deeper into the value.
// Only references of the form "#/$defs/name" and "#/definitions/name" are
// accepted.
func checkRefs(root map[string]any) error {
	c := refChecker{root: root, state: make(map[string]int)}
	return c.walk(root, true)
}

// refChecker walks a schema; state holds the references that are being followed
// (1) or are known to end (2).
type refChecker struct {
	root  map[string]any
	state map[string]int
}

// walk follows every reference in the document.
func (c *refChecker) walk(v any, top bool) error {
	switch t := v.(type) {
	case map[string]any:
		if _, dynamic := t["$dynamicRef"]; dynamic {
			return errForeign
		}
		if _, id := t["$id"]; id && !top { // changes what references mean
			return errForeign
		}
		if err := c.follow(t); err != nil {
			return err
		}
		for _, sub := range t {
			if err := c.walk(sub, false); err != nil {
				return err
			}
		}
	case []any:
		for _, sub := range t {
			if err := c.walk(sub, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow goes through all that applies to the same value as the schema.
func (c *refChecker) follow(v any) error {
	schema, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if ref, ok := schema["$ref"]; ok {
		if err := c.ref(ref); err != nil {
			return err
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[key].([]any)
		for _, sub := range list {
			if err := c.follow(sub); err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		if err := c.follow(schema[key]); err != nil {
			return err
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		subs, _ := schema[key].(map[string]any)
		for _, sub := range subs {
			if err := c.follow(sub); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *refChecker) ref(v any) error {
	name, ok := v.(string)
	if !ok {
		return errForeign
	}
	switch c.state[name] {
	case 1:
		return errCircular
	case 2:
		return nil
	}
	target, err := c.lookup(name)
	if err != nil {
		return err
	}
	c.state[name] = 1
	err = c.follow(target)
	c.state[name] = 2
	return err
}

func (c *refChecker) lookup(ref string) (any, error) {
	for _, key := range []string{"$defs", "definitions"} {
		name, ok := strings.CutPrefix(ref, "#/"+key+"/")
		if !ok || strings.ContainsAny(name, "/~%") {
			continue
		}
		defs, _ := c.root[key].(map[string]any)
		if target, ok := defs[name]; ok {
			return target, nil
		}
	}
	return nil, errForeign
}
