import assert from "node:assert/strict";
import { test } from "node:test";
import { lines } from "../src/diff";

const patch = `--- a/x\n+++ b/x\n@@ -10,3 +10,4 @@\n same\n-the old line\n+the new line\n+another\n tail\n`;

test("lines have their numbers", () => {
  assert.deepEqual(
    lines(patch).map((l) => [l.kind, l.old, l.new]),
    [["gap", undefined, undefined], ["same", 10, 10], ["del", 11, undefined], ["add", undefined, 11], ["add", undefined, 12], ["same", 12, 13]],
  );
});

test("a changed line shows its changed words", () => {
  const one = lines(patch.replace("+another\n", "").replace("+10,4", "+10,3"));
  assert.deepEqual(one[2]?.pieces.filter((p) => p.marked).map((p) => p.text), ["old"]);
  assert.deepEqual(one[3]?.pieces.filter((p) => p.marked).map((p) => p.text), ["new"]);
});

test("marks that would turn a line around are left out", () => {
  assert.equal(lines("--- a\n+++ b\n@@ -1,1 +1,1 @@\n-a\n+if (x\u202e) {\n")[1]?.pieces.map((p) => p.text).join(""), "if (x) {");
});
