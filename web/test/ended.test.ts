import assert from "node:assert/strict";
import { test } from "node:test";
import { ended } from "../src/ended";
import type { Meta } from "../src/wire";

const state = (error: string, metadata?: Meta) => ({ status: "error" as const, input: {}, error, ...(metadata && { metadata }), time: { start: 1, end: 2 } });

test("a call that did not succeed says how in a word, and only what is worth reading", () => {
  assert.deepEqual(ended(state("The user rejected permission to use this specific tool call.")), { word: "refused", why: "" });
  assert.deepEqual(ended(state("The user rejected permission to use this specific tool call with the following feedback: not this file")), { word: "refused", why: "not this file" });
  assert.deepEqual(ended(state("The user dismissed this question")), { word: "refused", why: "" });
  assert.deepEqual(ended(state("[Tool execution was interrupted]")), { word: "interrupted", why: "" });
  assert.deepEqual(ended(state("Tool execution aborted", { interrupted: true })), { word: "interrupted", why: "" });
  assert.deepEqual(ended(state("Not started, nothing changed: the turn was aborted before this call could begin.", { interrupted: true })), { word: "notStarted", why: "" });
  assert.deepEqual(ended(state("half of the output", { interrupted: true })), { word: "interrupted", why: "half of the output" });
  assert.deepEqual(ended(state("no such file: x")), { word: "failed", why: "no such file: x" });
});
