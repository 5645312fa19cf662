import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, Message, Part } from "../src/wire";

Object.assign(globalThis, { document: { baseURI: "http://localhost/prefix/" } });
const { Conversation } = await import("../src/conversation");

const part = (text: string, end?: number): Part => ({ id: "prt_1", messageID: "msg_2", sessionID: "ses_1", type: "text", text, time: end === undefined ? { start: 1 } : { start: 1, end } });
const answer: Message = { info: { id: "msg_2", role: "assistant", sessionID: "ses_1", time: { created: 2 } }, parts: [part("你好")], lathe: { seq: 2 } };

function serve(messages: Message[]): string[] {
  const asked: string[] = [];
  globalThis.fetch = (url) => {
    const address = url as string;
    asked.push(address);
    const body = address.includes("/todo") ? [] : { messages, event: "e-1", more: false };
    return Promise.resolve(new Response(JSON.stringify(body)));
  };
  return asked;
}

const delta = (text: string, end: number): Event => ({
  time: 0, type: "message.part.delta", properties: { sessionID: "ses_1", messageID: "msg_2", partID: "prt_1", field: "text", delta: text }, lathe: { end },
});

const text = (c: InstanceType<typeof Conversation>) => {
  const p = c.entries.value[0]?.parts.value[0]?.value;
  return p?.type === "text" ? p.text : undefined;
};

const drawn = () => new Promise((done) => setTimeout(done, 250));

test("deltas that came while messages were loaded are neither lost nor doubled", async () => {
  const asked = serve([structuredClone(answer)]);
  const c = new Conversation("ses_1");
  const loading = c.load();
  c.apply(delta("好", 6)); // the loaded text holds it: it ends at byte 6
  c.apply(delta(" world", 12));
  await loading;
  await drawn();
  assert.equal(text(c), "你好 world");
  assert.match(asked[0] ?? "", /^http:\/\/localhost\/prefix\/lathe\/session\/ses_1\/message\?limit=\d+$/);
});

test("a gap in a text loads it again", async () => {
  serve([structuredClone(answer)]);
  const c = new Conversation("ses_1");
  await c.load();
  serve([{ ...answer, parts: [part("你好, all of it", 5)] }]);
  c.apply(delta("it", 17));
  await drawn();
  assert.equal(text(c), "你好, all of it");
});

test("messages stand in the order of their ids, and go when they are removed", async () => {
  serve([structuredClone(answer)]);
  const c = new Conversation("ses_1");
  await c.load();
  for (const id of ["msg_3", "msg_1"]) c.apply({ time: 0, type: "message.updated", properties: { info: { id, role: "user", sessionID: "ses_1", time: { created: 1 } } }, lathe: { seq: 9 } });
  assert.deepEqual(c.entries.value.map((e) => e.id), ["msg_1", "msg_2", "msg_3"]);
  c.apply({ time: 0, type: "message.removed", properties: { sessionID: "ses_1", messageID: "msg_2" } });
  assert.deepEqual(c.entries.value.map((e) => e.id), ["msg_1", "msg_3"]);
});

test("of a piece that begins before the loaded text ends, only the rest is added", async () => {
  serve([structuredClone(answer)]);
  const c = new Conversation("ses_1");
  await c.load(); // 你好, 6 bytes
  c.apply(delta("好, world 世", 17));
  c.apply(delta("界", 20));
  await drawn();
  assert.equal(text(c), "你好, world 世界");
});
