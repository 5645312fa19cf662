import assert from "node:assert/strict";
import { test } from "node:test";
import { collapse, printed, spans } from "../src/ansi";

test("colours become classes", () => {
  assert.deepEqual(spans("a\u001b[1;31mb\u001b[0mc\u001b[38;5;34md\u001b[39m\u001b[48;2;1;2;3me\u001b[0;38;2;250;20;20mf\u001b[38:2::0:0:250mg\u001b[90mh\u001b[37mi"), [
    { text: "a", style: "" },
    { text: "b", style: "b c-red" },
    { text: "c", style: "" },
    { text: "d", style: "c-green" },
    { text: "e", style: "" },
    { text: "f", style: "c-red" },
    { text: "g", style: "c-blue" },
    { text: "h", style: "dim" },
    { text: "i", style: "" },
  ]);
});

test("what has a background is turned round, so that it can be read", () => {
  assert.deepEqual(spans("\u001b[30;42m ok \u001b[m \u001b[7;31mbad\u001b[27m.\u001b[0;7mx\u001b[0;32;42my\u001b[0;7;41mz"), [
    { text: " ok ", style: "c-green v" },
    { text: " ", style: "" },
    { text: "bad", style: "c-red v" },
    { text: ".", style: "c-red" },
    { text: "x", style: "v" },
    { text: "y", style: "c-green v" },
    { text: "z", style: "c-red" },
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
  assert.equal(collapse("\u001b[31m10%\r\u001b[2Kdone"), "\u001b[31m\u001b[2Kdone");
});

test("a command is shown as it printed, and what lathe says of its end below", () => {
  const note = "\n\n<bash_metadata>\nexit code 1\n</bash_metadata>";
  assert.equal(printed("red" + note, "\u001b[31mred\u001b[0m\n"), "\u001b[31mred\u001b[0m\n\nexit code 1");
  assert.equal(printed("first\n\n... 9 lines left out ...\n\nlast" + note, "...\n\nlast"), "first\n\n... 9 lines left out ...\n\nlast\n\nexit code 1");
  assert.equal(printed("<bash_metadata>\n", ""), "<bash_metadata>\n");
});
