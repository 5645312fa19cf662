// An editor on the official TypeScript SDK of the protocol: it starts an agent, goes
// through the steps that standard input lists, and prints every message that went over
// the wire as {"from": "editor"|"agent", "message": …}, one a line. The SDK checks what
// the agent sends against the published schema.
//
//   node editor.mjs STEPS.json AGENT ARG…
//
// A step is {"call": METHOD, "params": …, "save": NAME, "fails": true}, {"notify": METHOD,
// "params": …}, {"wait": UPDATE}, or {"write": FILE}, which makes an empty one. "$NAME" in
// params is a value of a saved answer's sessionId; answers to permission asks, questions and files come from "answers".
import { readFileSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk/unstable";

const [, , plan, agent, ...args] = process.argv;
const { steps, capabilities, options = [], forms = [], files = {} } = JSON.parse(readFileSync(plan, "utf8"));
const child = spawn(agent, args, { stdio: ["pipe", "pipe", "inherit"] });

const print = (from, message) => process.stdout.write(JSON.stringify({ from, message }) + "\n");
const tap = (from) => new TransformStream({ transform(m, c) { print(from, m); c.enqueue(m); } });
const wire = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const out = tap("editor");
out.readable.pipeTo(wire.writable).catch(() => {});
const stream = { writable: out.writable, readable: wire.readable.pipeThrough(tap("agent")) };

const seen = [];
let wake = () => {};
const app = client({ name: "editor" })
  .onNotification(methods.client.session.update, ({ params }) => { seen.push(params.update); wake(); })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    const want = options.shift() ?? "reject";
    const pick = params.options.find((o) => o.optionId === want || o.kind === want || o.name === want);
    return { outcome: pick ? { outcome: "selected", optionId: pick.optionId } : { outcome: "cancelled" } };
  })
  .onRequest(methods.client.elicitation.create, () => forms.shift() ?? { action: "cancel" })
  .onRequest(methods.client.fs.readTextFile, ({ params }) => {
    if (!(params.path in files)) throw new Error("not open");
    return { content: files[params.path] };
  })
  .onRequest(methods.client.fs.writeTextFile, ({ params }) => { files[params.path] = params.content; return {}; });

const saved = {};
const fill = (v) => JSON.parse(JSON.stringify(v), (_, x) => (typeof x === "string" && x.startsWith("$") && x.slice(1) in saved ? saved[x.slice(1)] : x));

await app.connectWith(stream, async (ctx) => {
  await ctx.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities, clientInfo: { name: "editor", version: "1" } });
  const running = [];
  for (const step of steps) {
    if (step.wait) {
      const found = () => seen.some((u) => JSON.stringify(u).includes(step.wait));
      while (!found()) await new Promise((done) => { wake = done; });
      continue;
    }
    if (step.write) { writeFileSync(step.write, ""); continue; }
    if (step.notify) { await ctx.notify(step.notify, fill(step.params)); continue; }
    const call = ctx.request(step.call, fill(step.params)).then(
      (answer) => { if (step.fails) throw new Error(step.call + " did not fail"); if (step.save) saved[step.save] = answer.sessionId; },
      (err) => { if (!step.fails) throw err; },
    );
    if (step.later) running.push(call); else await call;
  }
  await Promise.all(running);
});
child.stdin.end();
const code = await new Promise((done) => child.on("exit", (code, signal) => done(code ?? signal)));
print("exit", code);
process.exit(code === 0 ? 0 : 1);
