// Completes a session on a server with a client of OpenCode's JavaScript SDK.
// Arguments: the SDK's directory, "v1" or "v2", the server's address, the model's
// name, a directory. The model plays sdkScript of sdk_test.go.
import { pathToFileURL } from "node:url"
import assert from "node:assert/strict"

const [sdk, version, baseUrl, modelID, directory] = process.argv.slice(2)
const load = (p) => import(pathToFileURL(`${sdk}/${p}`))
const model = { providerID: "script", modelID }
const good = ({ data, error, response }) => {
  assert.equal(error, undefined, `${response?.url}: ${JSON.stringify(error)}`)
  return data
}
const words = (text) => [{ type: "text", text }]

// Each client's way to say the same. The v1 client knows no questions.
const clients = {
  async v1() {
    const { createOpencodeClient } = await load("dist/client.js")
    const c = createOpencodeClient({ baseUrl, directory })
    const path = (id) => ({ path: { id } })
    const plain = (url, body) => c._client.post({ url, body, headers: { "Content-Type": "application/json" } })
    return {
      c,
      create: (body) => c.session.create({ body }),
      get: (id) => c.session.get(path(id)),
      update: (id, body) => c.session.update({ ...path(id), body }),
      remove: (id) => c.session.delete(path(id)),
      children: (id) => c.session.children(path(id)),
      todo: (id) => c.session.todo(path(id)),
      diff: (id) => c.session.diff(path(id)),
      prompt: (id, body) => c.session.prompt({ ...path(id), body }),
      promptAsync: (id, body) => c.session.promptAsync({ ...path(id), body }),
      command: (id, body) => c.session.command({ ...path(id), body }),
      shell: (id, body) => c.session.shell({ ...path(id), body }),
      messages: (id) => c.session.messages(path(id)),
      message: (id, messageID) => c.session.message({ path: { id, messageID } }),
      abort: (id) => c.session.abort(path(id)),
      fork: (id, body) => c.session.fork({ ...path(id), body }),
      revert: (id, messageID) => c.session.revert({ ...path(id), body: { messageID } }),
      unrevert: (id) => c.session.unrevert(path(id)),
      summarize: (id) => c.session.summarize({ ...path(id), body: model }),
      permission: (ask, response) =>
        c.postSessionIdPermissionsPermissionId({ path: { id: ask.sessionID, permissionID: ask.id }, body: { response } }),
      answer: (ask, answers) => plain(`/question/${ask.id}/reply`, { answers }),
      dismiss: (ask) => plain(`/question/${ask.id}/reject`, {}),
      find: () => c.find.files({ query: { query: "a.txt" } }),
      read: (file) => c.file.read({ query: { path: file } }),
      files: () => c.file.list({ query: { path: "" } }),
    }
  },
  async v2() {
    const { createOpencodeClient } = await load("dist/v2/client.js")
    const c = createOpencodeClient({ baseUrl, directory })
    return {
      c,
      create: (body) => c.session.create(body),
      get: (sessionID) => c.session.get({ sessionID }),
      update: (sessionID, body) => c.session.update({ sessionID, ...body }),
      remove: (sessionID) => c.session.delete({ sessionID }),
      children: (sessionID) => c.session.children({ sessionID }),
      todo: (sessionID) => c.session.todo({ sessionID }),
      diff: (sessionID) => c.session.diff({ sessionID }),
      prompt: (sessionID, body) => c.session.prompt({ sessionID, ...body }),
      promptAsync: (sessionID, body) => c.session.promptAsync({ sessionID, ...body }),
      command: (sessionID, body) => c.session.command({ sessionID, ...body }),
      shell: (sessionID, body) => c.session.shell({ sessionID, ...body }),
      messages: (sessionID) => c.session.messages({ sessionID }),
      message: (sessionID, messageID) => c.session.message({ sessionID, messageID }),
      abort: (sessionID) => c.session.abort({ sessionID }),
      fork: (sessionID, body) => c.session.fork({ sessionID, ...body }),
      revert: (sessionID, messageID) => c.session.revert({ sessionID, messageID }),
      unrevert: (sessionID) => c.session.unrevert({ sessionID }),
      summarize: (sessionID) => c.session.summarize({ sessionID, ...model }),
      permission: (ask, reply) => c.permission.reply({ requestID: ask.id, reply }),
      answer: (ask, answers) => c.question.reply({ requestID: ask.id, answers }),
      dismiss: (ask) => c.question.reject({ requestID: ask.id }),
      find: () => c.find.files({ query: "a.txt" }),
      read: (file) => c.file.read({ path: file }),
      files: () => c.file.list({ path: "" }),
    }
  },
}

// Watch follows the events: it answers what is asked from a queue, and keeps what
// it saw of parts, to be compared with what is stored.
class Watch {
  constructor(api, stream) {
    this.api = api
    this.replies = [] // what to say to the asks that come
    this.kinds = new Set()
    this.parts = new Map()
    this.waiters = []
    this.ended = this.follow(stream)
  }
  async follow(stream) {
    for await (const ev of stream) {
      this.kinds.add(ev.type)
      const p = ev.properties
      if (ev.type === "message.part.updated") this.parts.set(p.part.id, p.part)
      if (ev.type === "permission.asked") good(await this.api.permission(p, this.replies.shift()))
      if (ev.type === "question.asked") {
        const answers = this.replies.shift()
        good(await (answers ? this.api.answer(p, answers) : this.api.dismiss(p)))
      }
      this.waiters = this.waiters.filter((w) => !(w.want(ev) && (w.done(ev), true)))
    }
  }
  next(want) {
    return new Promise((done) => this.waiters.push({ want, done }))
  }
  idle(id) {
    return this.next((ev) => ev.type === "session.idle" && ev.properties.sessionID === id)
  }
}

const text = (m) => m.parts.filter((p) => p.type === "text").map((p) => p.text).join("")
const tools = (m) => m.parts.filter((p) => p.type === "tool")

const api = await clients[version]()
const { c } = api
const watch = new Watch(api, (await c.event.subscribe()).stream)
await watch.next((ev) => ev.type === "server.connected")

const s = good(await api.create({ title: version, permission: [{ permission: "bash", pattern: "*", action: "ask" }] }))
const turn = async (say, ...replies) => {
  watch.replies = replies
  const idle = watch.idle(s.id)
  const m = good(await api.prompt(s.id, { model, parts: words(say) }))
  await idle
  assert.equal(m.info.role, "assistant")
  assert.deepEqual(watch.replies, [], `${say}: not asked`)
  return m
}

// Text, tools, permission once and always; what is always allowed is not asked again.
assert.equal(text(await turn("go", "once", "always")), "All done.")
let all = good(await api.messages(s.id))
assert.deepEqual(all.flatMap(tools).map((p) => p.state.status), ["completed", "completed", "completed"])
assert.ok(all.some((m) => m.parts.some((p) => p.type === "reasoning" && p.text === "I think.")))
assert.equal(good(await api.read("made.txt")).content, "two")

// A question answered, and one dismissed: that ends the turn.
assert.equal(text(await turn("ask", [["blue"]])), "You chose.")
assert.equal(tools(await turn("dismiss", null))[0].state.status, "error")
// A permission refused ends it too.
assert.equal(tools(await turn("refuse", "reject"))[0].state.status, "error")

// Abort.
watch.replies = []
const waiting = watch.next((ev) => ev.type === "message.part.updated" && ev.properties.part.text?.includes("Now I wait."))
const aborted = watch.next((ev) => ev.type === "session.error")
const idle = watch.idle(s.id)
good(await api.promptAsync(s.id, { model, parts: words("wait") }))
await waiting
assert.equal(good(await api.abort(s.id)), true)
assert.equal((await aborted).properties.error.name, "MessageAbortedError")
await idle
all = good(await api.messages(s.id))
assert.equal(all.at(-1).info.error.name, "MessageAbortedError")
assert.equal(text(all.at(-1)), "Now I wait.")

// What the events told of parts is what is stored.
for (const m of all)
  for (const p of m.parts) {
    const seen = watch.parts.get(p.id)
    assert.ok(seen, `no event for ${p.type} ${p.id}`)
    assert.deepEqual(seen, p)
  }
for (const k of ["session.updated", "session.status", "message.updated", "permission.asked", "permission.replied", "question.asked", "question.replied", "question.rejected"])
  assert.ok(watch.kinds.has(k), k)

// A note without an answer, a shell command.
good(await api.prompt(s.id, { model, noReply: true, parts: words("a note") }))
const shell = good(await api.shell(s.id, { agent: "build", command: "echo from-shell" }))
assert.match(tools(shell)[0].state.output, /from-shell/)
assert.equal(good(await api.message(s.id, all[0].info.id)).info.role, "user")

// Revert takes the file back, unrevert brings it again.
assert.equal(good(await api.revert(s.id, all[0].info.id)).revert.messageID, all[0].info.id)
assert.equal(good(await api.read("made.txt")).content, "")
assert.equal(good(await api.unrevert(s.id)).revert, undefined)
assert.equal(good(await api.read("made.txt")).content, "two")

// Forks, of all and up to a message.
const fork = good(await api.fork(s.id, {}))
assert.equal(good(await api.messages(fork.id)).length, good(await api.messages(s.id)).length)
const half = good(await api.fork(s.id, { messageID: all.find((m) => text(m) === "ask").info.id }))
assert.equal(text(good(await api.messages(half.id)).at(-1)), "All done.")

// Summarize; the conversation goes on after it.
const compacted = watch.next((ev) => ev.type === "session.compacted" && ev.properties.sessionID === s.id)
assert.equal(good(await api.summarize(s.id)), true)
await compacted
assert.ok(good(await api.messages(s.id)).some((m) => m.info.summary === true))

// Lists and what else is read.
assert.equal(good(await api.update(s.id, { title: "named" })).title, "named")
assert.equal(good(await api.get(s.id)).title, "named")
const ids = good(await c.session.list()).map((s) => s.id)
for (const id of [s.id, fork.id, half.id]) assert.ok(ids.includes(id), id)
const child = good(await api.create({ parentID: s.id }))
assert.deepEqual(good(await api.children(s.id)).map((s) => s.id), [child.id])
for (const list of [api.todo(s.id), api.diff(s.id), api.files(), api.find(), c.project.list(), c.app.agents(), c.command.list(), c.tool.ids(), c.lsp.status(), c.formatter.status()])
  assert.ok(Array.isArray(good(await list)))
for (const one of [c.config.get(), c.config.providers(), c.provider.list(), c.provider.auth(), c.session.status(), c.mcp.status(), c.path.get(), c.vcs.get(), c.project.current()])
  assert.equal(typeof good(await one), "object")

// Errors have their names, and what is deleted is gone, children with it.
assert.equal((await api.prompt(s.id, { model, parts: [{ type: "nope" }] })).response.status, 400)
const removed = watch.next((ev) => ev.type === "session.deleted" && ev.properties.info.id === half.id)
for (const id of [s.id, fork.id, half.id]) assert.equal(good(await api.remove(id)), true)
await removed
for (const id of [s.id, child.id]) {
  const gone = await api.get(id)
  assert.equal(gone.response.status, 404)
  assert.equal(gone.error?.name ?? gone.error?.cause?.body?.name, "NotFoundError")
}

console.log("ok")
process.exit(0) // the event stream is still open
