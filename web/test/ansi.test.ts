import assert from "node:assert/strict";
import { test } from "node:test";
import { collapse, spans } from "../src/ansi";

test("colours become classes", () => {
  assert.deepEqual(spans("a\u001b[1;31mb\u001b[0mc\u001b[38;5;42md\u001b[39m\u001b[48;2;1;2;3me"), [
    { text: "a", style: "" },
    { text: "b", style: "b c-red" },
    { text: "c", style: "" },
    { text: "d", style: "c-green" },
    { text: "e", style: "" },
  ]);
});

test("what would steer a terminal is left out", () => {
  for (const evil of [
    "\u001b]52;c;aGVsbG8=\u0007", "\u001b]0;title\u001b\\", "\u001bPq...\u001b\\", "\u001b[2J", "\u001b[?1049h", "\u009b31m", "\u0007", "\b", "\u202e", "\u001bc",
    "\u001b]8;;javascript:alert(1)\u001b\\",
  ]) {
    assert.deepEqual(spans(`x${evil}y`), [{ text: "xy", style: "" }], JSON.stringify(evil));
  }
});

test("a million sequences end as bounded spans", () => {
  assert.ok(spans("\u001b[31ma\u001b[32mb".repeat(500_000)).length <= 20_000);
});

test("progress lines keep their last state", () => {
  assert.equal(collapse("10%\r20%\rdone\r\nnext"), "done\nnext");
});
