import assert from "node:assert/strict";
import { test } from "node:test";
import { Frames } from "../src/sse";

test("frames come whole, however the bytes are cut", () => {
  const text = "id: a-1\ndata: {\"x\":1}\n\n: a comment\ndata: two\ndata: lines\r\n\r\ndata:\n\nid: a-9\n\n";
  const want = [
    { id: "a-1", data: '{"x":1}' },
    { id: "", data: "two\nlines" },
    { id: "", data: "" },
  ];
  for (let size = 1; size <= text.length; size++) {
    const f = new Frames();
    const got = [];
    for (let at = 0; at < text.length; at += size) got.push(...f.feed(text.slice(at, at + size)));
    assert.deepEqual(got, want, `pieces of ${size}`);
  }
});
