// Drives a server with the two clients of OpenCode's JavaScript SDK.
// Arguments: the SDK's directory, the server's address, the model's name, a directory.
import { pathToFileURL } from "node:url"
import assert from "node:assert/strict"

const [sdk, baseUrl, modelID, directory] = process.argv.slice(2)
const load = (p) => import(pathToFileURL(`${sdk}/${p}`))
const model = { providerID: "script", modelID }
const good = ({ data, error, response }) => {
  assert.equal(error, undefined, `${response?.url}: ${JSON.stringify(error)}`)
  return data
}

// collect follows events until the session is idle.
async function collect(stream, id) {
  const seen = []
  for await (const ev of stream) {
    seen.push(ev)
    if (ev.type === "session.idle" && ev.properties.sessionID === id) return seen
  }
  throw new Error("the stream ended")
}

async function v1() {
  const { createOpencodeClient } = await load("dist/client.js")
  const c = createOpencodeClient({ baseUrl, directory })
  const s = good(await c.session.create({ body: { title: "v1" } }))
  const { stream } = await c.event.subscribe()
  const events = collect(stream, s.id)
  const m = good(await c.session.prompt({ path: { id: s.id }, body: { model, parts: [{ type: "text", text: "go" }] } }))
  assert.equal(m.info.role, "assistant")
  assert.equal(m.parts.find((p) => p.type === "text").text, "All done.")
  const seen = await events
  assert.ok(seen.some((e) => e.type === "message.part.updated" && e.properties.part.type === "tool" && e.properties.part.state.status === "completed"))
  assert.equal(good(await c.session.messages({ path: { id: s.id } })).length, 3)
  const user = good(await c.session.messages({ path: { id: s.id } }))[0].info.id
  const fork = good(await c.session.fork({ path: { id: s.id }, body: {} }))
  assert.notEqual(fork.id, s.id)
  assert.ok(good(await c.session.revert({ path: { id: s.id }, body: { messageID: user } })).revert)
  assert.equal(good(await c.session.unrevert({ path: { id: s.id } })).revert, undefined)
  good(await c.session.update({ path: { id: s.id }, body: { title: "named" } }))
  assert.equal(good(await c.session.get({ path: { id: s.id } })).title, "named")
  for (const list of [c.session.list(), c.session.children({ path: { id: s.id } }), c.session.todo({ path: { id: s.id } }), c.project.list(), c.app.agents(), c.command.list(), c.file.list({ query: { path: "" } }), c.find.files({ query: { query: "a" } }), c.tool.ids()])
    assert.ok(Array.isArray(good(await list)))
  good(await c.config.get())
  good(await c.config.providers())
  good(await c.provider.list())
  good(await c.session.abort({ path: { id: s.id } }))
  assert.equal(good(await c.session.delete({ path: { id: fork.id } })), true)
  const gone = await c.session.get({ path: { id: fork.id } })
  assert.equal(gone.response.status, 404)
  assert.equal(gone.error.name, "NotFoundError")
}

async function v2() {
  const { createOpencodeClient } = await load("dist/v2/client.js")
  const c = createOpencodeClient({ baseUrl, directory })
  const s = good(await c.session.create({ title: "v2", permission: [{ permission: "bash", pattern: "*", action: "ask" }] }))
  const { stream } = await c.event.subscribe()
  const events = collect(stream, s.id)
  const answer = c.session.prompt({ sessionID: s.id, model, parts: [{ type: "text", text: "go" }] })
  let asks = []
  for (let i = 0; asks.length === 0 && i < 500; i++) {
    asks = good(await c.permission.list())
    if (asks.length === 0) await new Promise((r) => setTimeout(r, 20))
  }
  assert.equal(asks[0].permission, "bash")
  good(await c.permission.reply({ requestID: asks[0].id, reply: "once" }))
  const m = good(await answer)
  assert.equal(m.parts.find((p) => p.type === "text").text, "All done.")
  const kinds = (await events).map((e) => e.type)
  for (const k of ["permission.asked", "permission.replied", "session.status"]) assert.ok(kinds.includes(k), k)
  good(await c.session.promptAsync({ sessionID: s.id, model, noReply: true, parts: [{ type: "text", text: "note" }] }))
  good(await c.mcp.status())
  good(await c.lsp.status())
  good(await c.formatter.status())
  good(await c.path.get())
  good(await c.vcs.get())
  good(await c.session.summarize({ sessionID: s.id, ...model }))
  good(await c.session.delete({ sessionID: s.id }))
}

await v1()
await v2()
console.log("ok")
process.exit(0) // the event streams are still open
