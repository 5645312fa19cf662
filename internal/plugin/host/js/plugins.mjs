// The plugins of a directory: imported one after the other, called one at a time for
// each hook.
import path from "node:path"
import { pathToFileURL } from "node:url"
import { client, serverFetch, settled } from "./client.mjs"
import { shell } from "./shell.mjs"
import { describeTool, checkArgs } from "./tools.mjs"

const members = ["event", "config", "tool", "auth", "provider", "dispose"]

export class Plugins {
  constructor(peer, params) {
    this.peer = peer
    this.params = params
    this.list = [] // {name, hooks: [object…], error}
    this.tools = new Map() // "plugin tool" → definition
    this.events = new Set() // that are being taken
    this.calls = new Map() // running tool calls: id → AbortController
  }

  async load() {
    const { config, plugins } = this.params
    const before = Object.fromEntries(Object.entries(config ?? {}).map(([k, v]) => [k, JSON.stringify(v)]))
    this.loading = true
    for (const [index, spec] of plugins.entries()) {
      const one = { index, name: spec.name, hooks: [], tools: [], error: undefined }
      this.list.push(one)
      const done = (spec.kind === "tool" ? this.#importTools(one, spec) : this.#importPlugin(one, spec)).catch((err) => {
        one.error = message(err)
      })
      // A plugin that asks lathe something while it starts would wait for lathe, which
      // waits for it: it joins when it is ready.
      one.late = (await Promise.race([done.then(() => "done"), settled.asked(), timeout(spec.limit)])) !== "done"
      if (one.late) done.then(() => this.peer.notify("late", this.#told(one)))
    }
    for (const one of this.list) {
      for (const h of one.hooks) {
        try {
          await h.config?.(config)
        } catch (err) {
          one.error = "config: " + message(err)
        }
      }
    }
    this.loading = false
    const changed = {}
    for (const [key, value] of Object.entries(config ?? {})) {
      if (value !== undefined && JSON.stringify(value) !== before[key]) changed[key] = value
    }
    return { plugins: this.list.map((one) => this.#told(one)), config: changed }
  }

  #told(one) {
    const names = new Set(one.hooks.flatMap((h) => Object.keys(h).filter((k) => typeof h[k] === "function" && !members.includes(k))))
    if (one.hooks.some((h) => h.event)) names.add("event")
    return {
      index: one.index,
      name: one.name,
      late: one.late,
      error: one.error,
      hooks: [...names],
      config: one.hooks.some((h) => h.config),
      tools: one.tools,
      auth: one.hooks.filter((h) => h.auth?.provider).map((h) => tellAuth(h.auth)),
      providers: one.hooks.filter((h) => h.provider?.id && h.provider.models).map((h) => h.provider.id),
    }
  }

  async #importPlugin(one, spec) {
    const mod = await importFile(spec.file)
    const input = await this.#input()
    const servers = new Set()
    if (typeof mod.default === "object" && typeof mod.default?.server === "function") servers.add(mod.default.server)
    else for (const value of Object.values(mod)) {
      if (typeof value === "function") servers.add(value)
      else if (typeof value?.server === "function") servers.add(value.server)
    }
    if (servers.size === 0) throw new Error("it exports no plugin function")
    for (const server of servers) {
      const hooks = await server(input, spec.options ?? {})
      if (hooks && typeof hooks === "object") one.hooks.push(hooks)
    }
    for (const h of one.hooks) await this.#addTools(one, h.tool ?? {})
  }

  async #importTools(one, spec) {
    const mod = await importFile(spec.file)
    const base = path.basename(spec.file, path.extname(spec.file))
    const found = {}
    for (const [name, def] of Object.entries(mod)) {
      if (typeof def?.execute === "function") found[name === "default" ? base : `${base}_${name}`] = def
    }
    if (Object.keys(found).length === 0) throw new Error("it exports no tool")
    await this.#addTools(one, found)
  }

  async #addTools(one, tools) {
    for (const [id, def] of Object.entries(tools)) {
      try {
        one.tools.push(await describeTool(id, def))
        this.tools.set(one.index + " " + id, def)
      } catch (err) {
        one.error = `tool ${id}: ${message(err)}`
      }
    }
  }

  async #input() {
    const { project, directory, worktree, serverUrl } = this.params
    return {
      client: await client(this.peer, this.params),
      project,
      directory,
      worktree,
      serverUrl: new URL(serverUrl),
      $: shell(directory),
      experimental_workspace: { register() {} },
    }
  }

  // Calls one hook of one plugin, and returns the output as it left it.
  async hook({ plugin, hook, input, output }) {
    for (const h of this.list[plugin].hooks) await h[hook]?.(input, output)
    return output
  }

  async event({ plugins, event }) {
    for (const index of plugins) {
      for (const h of this.list[index].hooks) {
        const taken = Promise.resolve()
          .then(() => h.event?.({ event }))
          .catch((err) => this.peer.notify("stray", { plugin: index, message: "event: " + message(err) }))
          .finally(() => this.events.delete(taken))
        this.events.add(taken)
      }
    }
  }

  async runTool({ plugin, tool, args, context, call }) {
    const def = this.tools.get(plugin + " " + tool)
    const given = await checkArgs(def, args)
    const control = new AbortController()
    this.calls.set(call, control)
    try {
      const result = await def.execute(given, {
        ...context,
        abort: control.signal,
        metadata: (value) => this.peer.notify("metadata", { call, ...value }),
        ask: (value) => this.peer.request("ask", { call, ...value }),
      })
      return typeof result === "string" ? { output: result } : { ...result, output: String(result?.output ?? "") }
    } finally {
      this.calls.delete(call)
    }
  }

  abortTool({ call }) {
    this.calls.get(call)?.abort()
  }

  async models({ plugin, id, provider, auth }) {
    const h = this.list[plugin].hooks.find((h) => h.provider?.id === id)
    return h.provider.models(provider, { auth })
  }

  // The member that logs in to a provider.
  auth(plugin, provider) {
    const h = this.list[plugin]?.hooks.find((h) => h.auth?.provider === provider)
    if (!h) throw new Error(`there is no login for ${provider}`)
    return h.auth
  }

  async dispose() {
    await Promise.race([Promise.all(this.events), timeout(1000)])
    for (const one of this.list) {
      for (const h of one.hooks) await Promise.race([Promise.resolve(h.dispose?.()).catch(() => {}), timeout(1000)])
    }
  }
}

function tellAuth(auth) {
  return {
    provider: auth.provider,
    loader: typeof auth.loader === "function",
    methods: (auth.methods ?? []).map((m) => ({
      type: m.type,
      label: m.label,
      authorizes: typeof m.authorize === "function",
      prompts: (m.prompts ?? []).map(({ type, key, message, placeholder, options, when }) => ({ type, key, message, placeholder, options, when })),
    })),
  }
}

const importFile = (file) => import(pathToFileURL(file).href)
const message = (err) => (err instanceof Error ? err.message || err.name : String(err))
const timeout = (ms) => new Promise((resolve) => setTimeout(() => resolve("timeout"), ms).unref())
export { serverFetch }
