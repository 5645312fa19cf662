// Logins that plugins bring: their methods, and the requests to a provider that they
// carry out themselves.

export class Login {
  constructor(peer, plugins) {
    this.peer = peer
    this.plugins = plugins
    this.pending = new Map() // provider → what authorize returned
    this.loaded = new Map() // provider → options of the loader
    this.running = new Map() // stream → AbortController
  }

  // Says what is wrong with an answer to a prompt, and whether the prompt is asked at all.
  prompted({ plugin, provider, method, key, value, inputs }) {
    const prompt = this.plugins.auth(plugin, provider).methods[method].prompts.find((p) => p.key === key)
    const asked = prompt.condition ? Boolean(prompt.condition(inputs ?? {})) : true
    return { asked, problem: value === undefined ? undefined : prompt.validate?.(value) }
  }

  async authorize({ plugin, provider, method, inputs }) {
    const m = this.plugins.auth(plugin, provider).methods[method]
    if (!m) throw new Error(`there is no method ${method}`)
    const begun = await m.authorize?.(inputs ?? {})
    if (m.type === "api") return { result: begun }
    this.pending.set(provider, begun)
    return { url: begun.url, method: begun.method, instructions: begun.instructions }
  }

  async callback({ provider, code }) {
    const begun = this.pending.get(provider)
    if (!begun) throw new Error("no login was begun")
    return begun.method === "code" ? begun.callback(code) : begun.callback()
  }

  // Runs a plugin's loader: its options, of which fetch stays here.
  async loader({ plugin, provider, info }) {
    const auth = this.plugins.auth(plugin, provider)
    const options = (await auth.loader(() => this.peer.request("auth", { provider }), info)) ?? {}
    this.loaded.set(provider, options)
    const { fetch, ...plain } = options
    return { ...JSON.parse(JSON.stringify(plain)), fetches: typeof fetch === "function" }
  }

  // Carries out a request to a provider; the answer's body follows in pieces.
  async fetch({ provider, stream, url, method, headers, body }) {
    const control = new AbortController()
    this.running.set(stream, control)
    const fetch = this.loaded.get(provider)?.fetch ?? globalThis.fetch
    const init = { method, headers, signal: control.signal }
    if (body) init.body = body
    const response = await fetch(url, init)
    this.#pass(stream, response)
    return { status: response.status, headers: Object.fromEntries(response.headers) }
  }

  async #pass(stream, response) {
    let end = ""
    try {
      for await (const piece of response.body ?? []) {
        this.peer.notify("chunk", { stream, data: Buffer.from(piece).toString("base64") })
      }
    } catch (err) {
      end = err?.message || "the answer broke off"
    }
    this.running.delete(stream)
    this.peer.notify("chunk", { stream, end })
  }

  cancel({ stream }) {
    this.running.get(stream)?.abort()
  }
}
