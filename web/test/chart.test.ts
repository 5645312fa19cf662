import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { document: { baseURI: "http://localhost/" }, localStorage: { getItem: () => null, setItem: () => undefined } });
const { range } = await import("../src/chart");
const { pieces } = await import("../src/files");
const { whole } = await import("../src/changes");

test("a chart has every day up to today, over the end of a month", () => {
  const tally = { answers: 1, cost: 2, tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } };
  const got = range({ "2026-03-01": tally }, new Date(2026, 2, 2), 4);
  assert.deepEqual(got.map((d) => [d.day, d.tally?.cost]), [["2026-02-27", undefined], ["2026-02-28", undefined], ["2026-03-01", 2], ["2026-03-02", undefined]]);
});

test("what was found is marked by its bytes", () => {
  assert.deepEqual(pieces("é x é", [{ start: 3, end: 4 }]), [{ text: "é ", marked: false }, { text: "x", marked: true }, { text: " é", marked: false }]);
});

test("a file is compared in whole where both of its contents are known", () => {
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`);
  const patch = whole({ file: "a", before: lines.join("\n"), after: [...lines, "more"].join("\n"), additions: 1, deletions: 0 });
  assert.ok(patch?.includes(" line 0\n") && patch.includes("+more"));
  assert.equal(whole({ file: "a", before: "", after: "", additions: 1, deletions: 0 }), undefined);
});
