import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { document: { baseURI: "http://localhost/" }, localStorage: { getItem: () => null, setItem: () => undefined } });
const { en } = await import("../src/i18n/en");
const { languages } = await import("../src/i18n/index");

const holes = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

test("every language has all words, each with the same holes", () => {
  for (const [tag, l] of Object.entries(languages)) {
    assert.deepEqual(Object.keys(l.words).sort(), Object.keys(en).sort(), tag);
    for (const [name, text] of Object.entries(en)) {
      const there = l.words[name as keyof typeof en];
      assert.deepEqual(holes(there), holes(text), `${tag}: ${name}`);
      if (tag === "zh-CN" && /[a-z]{3}/i.test(text.replace(/\{\w+\}|MCP|LSP|lathe|Enter|Shift|Escape|shell/g, ""))) assert.match(there, /\p{Script=Han}/u, `${tag}: ${name}`);
    }
  }
});

test("states of servers are told in words", async () => {
  const { stateWords } = await import("../src/states");
  assert.equal(stateWords("needs_auth"), "needs a login");
  assert.equal(stateWords("needs_client_registration"), "needs a clientId in the configuration");
  assert.equal(stateWords("waiting"), "starts when needed");
  assert.equal(stateWords("to_come"), "to come");
  assert.equal(stateWords("constructor"), "constructor");
});
