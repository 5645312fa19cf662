// A plugin that uses every part of the client that it is given, as OpenCode's SDK has it, and
// says what came of each: it writes a JSON object from the names of the parts to a word.
const model = { providerID: "script", modelID: "m" }

// parts finds what a client can do, "session.create" and the like, each function once.
function parts(of, prefix = "", out = new Map()) {
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(of))) {
    if (name !== "constructor") out.set(of[name], [...(out.get(of[name]) ?? []), prefix + name])
  }
  for (const name of Object.keys(of)) {
    if (!name.startsWith("_") && of[name]?._client) parts(of[name], prefix + name + ".", out)
  }
  return out
}

// got is what a request answered; one that failed says so with its status.
function got({ data, error, response }) {
  if (error !== undefined) throw new Error(response.status + " " + JSON.stringify(error))
  return data
}

// refused is how a request that cannot work is refused: its status, and whether the answer
// has OpenCode's form of an error.
function refused({ error, response }) {
  const form = typeof error?.name === "string" && typeof error.data?.message === "string" ? error.name : JSON.stringify(error)
  return response.status + " " + form
}

const is = (yes, what) => (yes ? "ok" : "not as it should be: " + JSON.stringify(what))

// next waits for an event that fits.
async function next(stream, fits) {
  for await (const event of stream) if (fits(event)) return event
  throw new Error("the events ended")
}

export const tour = (client, directory) => {
  const c = client
  let id, other, first, pty, asked, spoken
  const at = () => ({ path: { id } })
  return {
    "global.event": async () => {
      const { stream } = await c.global.event()
      const { value } = await stream.next()
      await stream.return()
      return is(value.payload.type === "server.connected", value)
    },
    "event.subscribe": async () => {
      const { stream } = await c.event.subscribe()
      const { value } = await stream.next()
      await stream.return()
      return is(value.type === "server.connected", value)
    },
    "project.list": async () => { const v = got(await c.project.list()); return is(v.some((p) => p.worktree === directory), v) },
    "project.current": async () => { const v = got(await c.project.current()); return is(v.worktree === directory, v) },
    "path.get": async () => { const v = got(await c.path.get()); return is(v.directory === directory && v.worktree === directory, v) },
    "vcs.get": async () => { const v = got(await c.vcs.get()); return is(v.branch === "main", v) },
    "config.get": async () => { const v = got(await c.config.get()); return is(v.model === "script/m", v) },
    "config.update": async () => { const v = got(await c.config.update({ body: { username: "somebody" } })); return is(v.username === "somebody", v) },
    "config.providers": async () => { const v = got(await c.config.providers()); return is(Array.isArray(v.providers) && v.default, v) },
    "provider.list": async () => { const v = got(await c.provider.list()); return is(v.all.length > 10 && Array.isArray(v.connected), v) },
    "provider.auth": async () => { const v = got(await c.provider.auth()); return is(typeof v === "object", v) },
    "provider.oauth.authorize": async () => refused(await c.provider.oauth.authorize({ path: { id: "nobody" }, body: { method: 0 } })),
    "provider.oauth.callback": async () => refused(await c.provider.oauth.callback({ path: { id: "nobody" }, body: { method: 0, code: "x" } })),
    "auth.set": async () => is(got(await c.auth.set({ path: { id: "acme" }, body: { type: "api", key: "secret" } })) === true),
    "command.list": async () => { const v = got(await c.command.list()); return is(v.some((x) => x.name === "greet"), v) },
    "app.agents": async () => { const v = got(await c.app.agents()); return is(v.some((x) => x.name === "build"), v) },
    "app.log": async () => is(got(await c.app.log({ body: { service: "tour", level: "info", message: "hello", extra: { n: 1 } } })) === true),
    "tool.ids": async () => { const v = got(await c.tool.ids()); return is(v.includes("bash") && v.includes("edit"), v) },
    "tool.list": async () => {
      const v = got(await c.tool.list({ query: { provider: "script", model: "m" } }))
      return is(v.some((t) => t.id === "read" && t.description && t.parameters.type === "object"), v)
    },
    "lsp.status": async () => { const v = got(await c.lsp.status()); return is(Array.isArray(v), v) },
    "formatter.status": async () => { const v = got(await c.formatter.status()); return is(Array.isArray(v), v) },
    "find.text": async () => {
      const v = got(await c.find.text({ query: { pattern: "^wor.d$" } }))
      return is(v.length === 1 && v[0].path.text.endsWith("a.txt") && v[0].line_number === 2, v)
    },
    "find.files": async () => { const v = got(await c.find.files({ query: { query: "a.txt" } })); return is(v[0] === "a.txt", v) },
    "find.symbols": async () => { const v = got(await c.find.symbols({ query: { query: "x" } })); return is(Array.isArray(v), v) },
    "file.list": async () => { const v = got(await c.file.list({ query: { path: "." } })); return is(v.some((f) => f.name === "a.txt" && f.type === "file"), v) },
    "file.read": async () => { const v = got(await c.file.read({ query: { path: "a.txt" } })); return is(v.content.includes("world"), v) },
    "file.status": async () => { const v = got(await c.file.status()); return is(v.some((f) => f.path === "new.txt" && f.status === "added"), v) },
    "session.create": async () => {
      const v = got(await c.session.create({ body: { title: "A tour" } }))
      id = v.id
      return is(v.title === "A tour" && v.directory === directory, v)
    },
    "session.list": async () => { const v = got(await c.session.list()); return is(v.some((s) => s.id === id), v) },
    "session.get": async () => { const v = got(await c.session.get(at())); return is(v.id === id, v) },
    "session.update": async () => { const v = got(await c.session.update({ ...at(), body: { title: "Renamed" } })); return is(v.title === "Renamed", v) },
    "session.status": async () => { const v = got(await c.session.status()); return is(typeof v === "object" && !v[id], v) },
    "session.todo": async () => { const v = got(await c.session.todo(at())); return is(v.length === 0, v) },
    "session.children": async () => {
      other = got(await c.session.create({ body: { parentID: id } })).id
      const v = got(await c.session.children(at()))
      return is(v.length === 1 && v[0].id === other, v)
    },
    "session.prompt": async () => {
      const v = got(await c.session.prompt({ ...at(), body: { model, parts: [{ type: "text", text: "hello" }] } }))
      first = v.info
      return is(v.info.role === "assistant" && v.parts.some((p) => p.type === "text" && p.text.startsWith("Done.")), v)
    },
    "session.messages": async () => {
      const v = got(await c.session.messages(at()))
      spoken = v[0].info.id
      return is(v.length === 2 && v[0].info.role === "user" && v[0].parts[0].text === "hello" && v[1].info.id === first.id, v)
    },
    "session.message": async () => { const v = got(await c.session.message({ path: { id, messageID: first.id } })); return is(v.info.id === first.id, v) },
    "session.promptAsync": async () => {
      const { stream } = await c.event.subscribe()
      await stream.next()
      const sent = await c.session.promptAsync({ ...at(), body: { model: { ...model, modelID: "ask" }, parts: [{ type: "text", text: "run it" }] } })
      asked = (await next(stream, (e) => e.type === "permission.updated" || e.type === "permission.asked")).properties
      await stream.return()
      return is(sent.response.status === 204 && asked.sessionID === id, asked)
    },
    postSessionIdPermissionsPermissionId: async () => {
      const { stream } = await c.event.subscribe()
      await stream.next()
      const v = got(await c.postSessionIdPermissionsPermissionId({ path: { id, permissionID: asked.id }, body: { response: "once" } }))
      await next(stream, (e) => e.type === "session.idle" && e.properties.sessionID === id)
      await stream.return()
      const told = got(await c.session.messages(at())).flatMap((m) => m.parts).filter((p) => p.type === "tool")
      return is(v === true && told.length === 1 && told[0].state.status === "completed" && told[0].state.output.includes("it ran"), told)
    },
    "session.shell": async () => {
      const v = got(await c.session.shell({ ...at(), body: { agent: "build", command: "echo from-a-shell" } }))
      const told = got(await c.session.messages(at())).flatMap((m) => m.parts).some((p) => p.state?.output?.includes("from-a-shell"))
      return is((v.info ?? v).role === "assistant" && told, v)
    },
    "session.command": async () => {
      const v = got(await c.session.command({ ...at(), body: { command: "greet", arguments: "all", model: "script/m" } }))
      return is(v.info.role === "assistant", v)
    },
    "session.diff": async () => { const v = got(await c.session.diff(at())); return is(Array.isArray(v), v) },
    "session.fork": async () => {
      const v = got(await c.session.fork({ ...at(), body: { messageID: first.id } }))
      return is(v.id !== id && got(await c.session.messages({ path: { id: v.id } })).length === 1, v)
    },
    "session.revert": async () => {
      const v = got(await c.session.revert({ ...at(), body: { messageID: spoken } }))
      return is(v.revert?.messageID === spoken, v)
    },
    "session.unrevert": async () => { const v = got(await c.session.unrevert(at())); return is(!v.revert, v) },
    "session.summarize": async () => is(got(await c.session.summarize({ ...at(), body: model })) === true),
    "session.init": async () => is(got(await c.session.init({ ...at(), body: { ...model, messageID: "msg_zzzzzzzzzzzzzzzzzzzzzzzzzz" } })) === true),
    "session.abort": async () => is(got(await c.session.abort(at())) === true),
    "session.share": async () => refused(await c.session.share(at())),
    "session.unshare": async () => { const v = got(await c.session.unshare(at())); return is(v.id === id && !v.share, v) },
    "session.delete": async () => is(got(await c.session.delete({ path: { id: other } })) === true),
    "pty.create": async () => {
      pty = got(await c.pty.create({ body: { command: "/bin/sh", args: ["-c", "sleep 60"], title: "A terminal" } }))
      return is(pty.title === "A terminal" && pty.status === "running", pty)
    },
    "pty.list": async () => { const v = got(await c.pty.list()); return is(v.some((p) => p.id === pty.id), v) },
    "pty.get": async () => { const v = got(await c.pty.get({ path: { id: pty.id } })); return is(v.id === pty.id, v) },
    "pty.update": async () => {
      const v = got(await c.pty.update({ path: { id: pty.id }, body: { title: "Another", size: { rows: 10, cols: 20 } } }))
      return is(v.title === "Another", v)
    },
    "pty.connect": async () => String((await c.pty.connect({ path: { id: pty.id } })).response.status),
    "pty.remove": async () => is(got(await c.pty.remove({ path: { id: pty.id } })) === true),
    "mcp.status": async () => { const v = got(await c.mcp.status()); return is(typeof v === "object", v) },
    "mcp.add": async () => {
      const v = got(await c.mcp.add({ body: { name: "none", config: { type: "local", command: ["/nowhere/server"] } } }))
      return is(v.none.status === "failed" && v.none.error, v)
    },
    "mcp.connect": async () => is(typeof got(await c.mcp.connect({ path: { name: "none" } })) === "boolean"),
    "mcp.disconnect": async () => is(got(await c.mcp.disconnect({ path: { name: "none" } })) === true),
    "mcp.auth.start": async () => refused(await c.mcp.auth.start({ path: { name: "nobody" } })),
    "mcp.auth.callback": async () => refused(await c.mcp.auth.callback({ path: { name: "nobody" }, body: { code: "x" } })),
    "mcp.auth.authenticate": async () => refused(await c.mcp.auth.authenticate({ path: { name: "nobody" } })),
    "mcp.auth.remove": async () => refused(await c.mcp.auth.remove({ path: { name: "nobody" } })),
    "mcp.auth.set": async () => is(got(await c.mcp.auth.set({ path: { id: "acme2" }, body: { type: "api", key: "secret" } })) === true),
    "tui.control.next": async () => {
      const over = new AbortController()
      const waits = c.tui.control.next({ signal: over.signal }).then(() => "answered", (err) => err.name)
      const first = await Promise.race([waits, new Promise((done) => setTimeout(done, 100, "open"))])
      over.abort()
      return first === "open" ? await waits : first
    },
    "tui.control.response": async () => is(got(await c.tui.control.response({ body: true })) === true),
    "tui.appendPrompt": async () => {
      const { stream } = await c.event.subscribe()
      await stream.next()
      const v = got(await c.tui.appendPrompt({ body: { text: "more" } }))
      const event = await next(stream, (e) => e.type === "tui.prompt.append")
      await stream.return()
      return is(v === true && event.properties.text === "more", event)
    },
    "tui.openHelp": async () => is(got(await c.tui.openHelp()) === true),
    "tui.openSessions": async () => is(got(await c.tui.openSessions()) === true),
    "tui.openThemes": async () => is(got(await c.tui.openThemes()) === true),
    "tui.openModels": async () => is(got(await c.tui.openModels()) === true),
    "tui.submitPrompt": async () => is(got(await c.tui.submitPrompt()) === true),
    "tui.clearPrompt": async () => is(got(await c.tui.clearPrompt()) === true),
    "tui.executeCommand": async () => is(got(await c.tui.executeCommand({ body: { command: "session_list" } })) === true),
    "tui.showToast": async () => is(got(await c.tui.showToast({ body: { message: "done", variant: "success" } })) === true),
    "tui.publish": async () => is(got(await c.tui.publish({ body: { type: "tui.toast.show", properties: { message: "x", variant: "info" } } })) === true),
    "instance.dispose": async () => is(got(await c.instance.dispose()) === true),
  }
}

export const Tour = async ({ client, directory }) => ({
  "experimental.text.complete": async (_input, output) => {
    const steps = tour(client, directory)
    const out = {}
    for (const names of parts(client).values()) if (!names.some((name) => steps[name])) out[names[0]] = "it is not tried"
    for (const [name, step] of Object.entries(steps)) {
      const late = new Promise((_, fail) => setTimeout(() => fail(new Error("it does not answer")), 30000).unref?.())
      try {
        out[name] = await Promise.race([step(), late])
      } catch (err) {
        out[name] = "failed: " + err.message
      }
    }
    output.text = JSON.stringify(out)
  },
})
