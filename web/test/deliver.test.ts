import assert from "node:assert/strict";
import { test } from "node:test";
import { deliver, messageName, passing } from "../src/deliver";
import { Refused } from "../src/http";

/** Answers calls with statuses, 0 for none at all, and notes what was sent. */
function server(...statuses: number[]): { sent: { messageID: string; text: string }[] } {
  const seen: { sent: { messageID: string; text: string }[] } = { sent: [] };
  Object.assign(globalThis, { document: { baseURI: "http://localhost/" } });
  globalThis.fetch = (_, init) => {
    seen.sent.push(JSON.parse(init?.body as string) as { messageID: string; text: string });
    const status = statuses.shift() ?? 200;
    if (status === 0) return Promise.reject(new TypeError("Failed to fetch"));
    return Promise.resolve(new Response(status === 200 ? `{"messageID":"m"}` : "no", { status }));
  };
  return seen;
}

const now = () => Promise.resolve();

test("a prompt is sent again under the same name until a server takes it", async () => {
  const s = server(0, 502, 503, 504, 200);
  await deliver("ses_1", { text: "hello" }, now);
  assert.equal(s.sent.length, 5);
  assert.equal(new Set(s.sent.map((p) => p.messageID)).size, 1);
  await deliver("ses_1", { text: "hello" }, now);
  assert.notEqual(s.sent[5]?.messageID, s.sent[0]?.messageID, "the same words later are another prompt");
});

test("what is refused is not sent again", async () => {
  const s = server(400, 200);
  await assert.rejects(deliver("ses_1", { text: "hello" }, now), (err) => err instanceof Refused && err.status === 400);
  assert.equal(s.sent.length, 1);
  await deliver("ses_1", { text: "hello" }, now);
  assert.notEqual(s.sent[1]?.messageID, s.sent[0]?.messageID);
});

test("a prompt of which nobody knows whether it arrived keeps its name", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
  const pause = (ms: number) => (t.mock.timers.tick(ms), Promise.resolve());
  const s = server(...Array<number>(100).fill(502));
  await assert.rejects(deliver("ses_2", { text: "hello" }, pause), passing);
  const tried = s.sent.length;
  assert.ok(tried > 3 && tried < 20, `${tried} times`);
  const again = server(200);
  await deliver("ses_2", { text: "hello" }, pause);
  assert.equal(again.sent[0]?.messageID, s.sent[0]?.messageID);
});

test("names are those of the server", () => {
  assert.match(messageName(), /^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
  assert.ok(messageName(1_700_000_000_000) < messageName(1_700_000_000_001));
});
