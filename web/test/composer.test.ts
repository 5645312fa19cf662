import assert from "node:assert/strict";
import { test } from "node:test";
import { asked, prompt } from "../src/composer";

test("a word that begins with @ or / asks for a choice", () => {
  assert.deepEqual(asked("see @src/ma", 11), { kind: "@", from: 4, word: "src/ma" });
  assert.deepEqual(asked("/com", 4), { kind: "/", from: 0, word: "com" });
  assert.equal(asked("mail me@home", 12), undefined);
  assert.equal(asked("a /b", 4), undefined);
  assert.deepEqual(asked("看 @文", 4), { kind: "@", from: 2, word: "文" });
});

test("a prompt says what it is", () => {
  const commands = new Set(["review"]);
  const model = { providerID: "p", modelID: "m" };
  assert.deepEqual(prompt("hi", [], null, "", commands), { parts: [{ type: "text", text: "hi" }], lathe: { refs: true } });
  assert.deepEqual(prompt("!ls -l", [], model, "build", commands), { model, agent: "build", parts: [], lathe: { shell: "ls -l" } });
  assert.deepEqual(prompt("/review the diff", [], null, "", commands), { parts: [], lathe: { command: "review", arguments: "the diff" } });
  assert.deepEqual(prompt("/unknown x", [], null, "", commands), { parts: [{ type: "text", text: "/unknown x" }], lathe: { refs: true } });
});
