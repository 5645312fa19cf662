import assert from "node:assert/strict";
import { test } from "node:test";
import { boundary } from "../src/markdown";

function pieces(text: string): string[] {
  const out: string[] = [];
  let at = 0;
  for (let end = 1; end <= text.length; end++) {
    const next = boundary(text.slice(0, end), at);
    if (next > at) out.push(text.slice(at, next));
    at = next;
  }
  return [...out, text.slice(at)];
}

test("nothing is lost, and blocks stay whole", () => {
  const cases: Record<string, string[]> = {
    "one\n\ntwo\n\nthree, which goes on": ["one\n\n", "two\n\n", "three, which goes on"],
    "```go\na\n\nb\n```\n\nafter that": ["```go\na\n\nb\n```\n\nafter that"],
    "```go\na\n\nb\n```\n\nafter that\n": ["```go\na\n\nb\n```\n\n", "after that\n"],
    "- a\n\n- b\n\nafter\n": ["- a\n\n- b\n\n", "after\n"],
    "1. a\n\n   more\n\n2. b\n\nz\n": ["1. a\n\n   more\n\n2. b\n\n", "z\n"],
    "~~~~\n```\n\nx\n~~~~\n\ny\n": ["~~~~\n```\n\nx\n~~~~\n\n", "y\n"],
  };
  for (const [text, want] of Object.entries(cases)) {
    const got = pieces(text);
    assert.equal(got.join(""), text);
    assert.deepEqual(got, want, JSON.stringify(text));
  }
});
