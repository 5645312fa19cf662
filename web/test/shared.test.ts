import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { document: { baseURI: "http://localhost/" } });
const { Kept, read } = await import("../src/shared");

const info = { id: "ses_1", title: "Old work", directory: "/w", time: { created: 1, updated: 2 } };
const user = { id: "msg_1", role: "user", time: { created: 1 } };
const answer = { id: "msg_2", role: "assistant", time: { created: 2 }, tokens: { input: 3 } };
const said = { id: "prt_1", messageID: "msg_1", type: "text", text: "hello" };
const call = { id: "prt_2", messageID: "msg_2", type: "tool", tool: "bash", state: { status: "completed", input: { command: "ls" }, output: "a", metadata: { sessionId: "ses_2", exit: 1 } } };

test("an exported session and a service's list are the same session", () => {
  const file = read({ info, messages: [{ info: user, parts: [said] }, { info: answer, parts: [call] }] });
  const list = read([
    { type: "part", data: call },
    { type: "message", data: answer },
    { type: "session", data: info },
    { type: "message", data: user },
    { type: "part", data: said },
    { type: "part", data: said },
    { type: "model", data: [] },
  ]);
  assert.deepEqual(list, file);
  assert.equal(file?.session.title, "Old work");
  assert.deepEqual(file.messages.map((m) => [m.info.role, m.lathe?.seq]), [["user", 1], ["assistant", 2]]);
  const part = file.messages[1]?.parts[0];
  assert.ok(part?.type === "tool" && part.state.status === "completed");
  assert.deepEqual(part.state.metadata, { exit: 1 }); // no way into a helper that is elsewhere
});

test("what is not as it should be is left out, and what is no session is none", () => {
  for (const none of [undefined, null, 3, "x", [], {}, [{ type: "part" }], { messages: [] }]) assert.equal(read(none), undefined, JSON.stringify(none));
  const odd = read({
    info: { id: "<b>", title: 7 },
    messages: [null, { info: { id: "a b", role: "user" } }, { info: { id: "m1", role: "root" } }, { info: { id: "m2", role: "user", time: "x" }, parts: [null, 1, { type: "iframe" }, { type: "text", text: { a: 1 } }, { type: "tool", state: 3 }] }, { info: { id: "m2", role: "user" } }],
    diffs: [{}, { file: "a", additions: "3" }, 4],
  });
  assert.equal(odd?.session.id, "ses_shared");
  assert.deepEqual(odd.messages.map((m) => m.info.id), ["m2"]);
  assert.deepEqual(odd.messages[0]?.parts.map((p) => p.type), ["text", "tool"]);
  assert.deepEqual(odd.diffs.map((d) => [d.file, d.additions]), [["a", 0]]);
});

test("messages are handed out in pages, in both directions", async () => {
  const messages = Array.from({ length: 100 }, (_, i) => ({ info: { id: `msg_${String(i).padStart(3, "0")}`, role: "user", time: { created: i } }, parts: [] }));
  const shared = read({ info, messages });
  assert.ok(shared);
  const k = new Kept(shared);
  const seqs = async (w: Parameters<typeof k.history>[0]) => {
    const h = await k.history(w);
    return [h.messages[0]?.lathe?.seq, h.messages.at(-1)?.lathe?.seq, h.more, h.newer];
  };
  assert.deepEqual(await seqs({ limit: 30 }), [71, 100, true, false]);
  assert.deepEqual(await seqs({ limit: 30, before: 71 }), [41, 70, true, true]);
  assert.deepEqual(await seqs({ limit: 30, before: 11 }), [1, 10, false, true]);
  assert.deepEqual(await seqs({ limit: 30, after: 0 }), [1, 30, false, true]);
  assert.deepEqual(await seqs({ limit: 30, after: 90 }), [91, 100, true, false]);
  assert.deepEqual(await seqs({ limit: 30, around: "msg_050" }), [36, 65, true, true]);
});
