// JSON over pipes, a message a line: requests have an id and a method, answers an id,
// and what has no id wants no answer.
import fs from "node:fs"
import net from "node:net"

const mostMemory = Number(process.env.LATHE_PLUGIN_MEMORY || 1024) * 1024 * 1024

// follow reads a pipe to its end, in the way that is fastest under each runtime.
async function follow(fd, take) {
  if (process.versions.bun) {
    for await (const chunk of globalThis.Bun.file(fd).stream()) take(Buffer.from(chunk))
    return
  }
  const pipe = new net.Socket({ fd, readable: true, writable: false })
  pipe.on("data", take)
  await new Promise((resolve) => pipe.on("close", resolve).on("error", resolve))
}

export class Peer {
  #out
  #methods = {}
  #waiting = new Map()
  #streams = new Map()
  #next = 1

  constructor({ input, output }) {
    this.#out = output
    let rest = []
    const take = (chunk) => {
      let from = 0
      for (let at; (at = chunk.indexOf(10, from)) >= 0; from = at + 1) {
        rest.push(chunk.subarray(from, at))
        const line = rest.length === 1 ? rest[0] : Buffer.concat(rest)
        rest = []
        this.#take(line)
      }
      if (from < chunk.length) rest.push(chunk.subarray(from))
    }
    // A plugin may grow without being called.
    setInterval(() => this.#watchMemory(), 1000).unref()
    follow(input, take).finally(() => process.exit(0)) // lathe is gone
  }

  handle(methods) {
    Object.assign(this.#methods, methods)
  }

  notify(method, params) {
    this.#send({ method, params })
  }

  request(method, params) {
    const id = "h" + this.#next++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#send({ id, method, params })
    })
  }

  // A body that lathe sends in pieces: take is called with each, and with null at the end.
  onStream(id, take) {
    this.#streams.set(id, take)
  }

  #take(line) {
    const msg = JSON.parse(line.toString("utf8"))
    if (msg.method === "chunk") return this.#chunk(msg.params)
    if (msg.method) return this.#run(msg)
    const call = this.#waiting.get(msg.id)
    this.#waiting.delete(msg.id)
    if (!call) return
    if (msg.error) call.reject(new Error(msg.error.message))
    else call.resolve(msg.result)
  }

  #chunk({ stream, text, data, end }) {
    const take = this.#streams.get(stream)
    if (end !== undefined) this.#streams.delete(stream)
    if (!take) return
    if (text !== undefined) take(Buffer.from(text, "utf8"))
    if (data !== undefined) take(Buffer.from(data, "base64"))
    if (end !== undefined) take(null, end)
  }

  async #run({ id, method, params }) {
    try {
      const result = await this.#methods[method](params ?? {})
      if (id !== undefined) this.#send({ id, result: result ?? null })
    } catch (err) {
      const message = err instanceof Error ? err.message || err.name : String(err)
      if (id !== undefined) this.#send({ id, error: { message, stack: err?.stack } })
      else this.notify("stray", { message })
    }
  }

  #watchMemory() {
    if (process.memoryUsage.rss() < mostMemory) return
    this.notify("stray", { message: `the plugins need more than ${mostMemory / 1024 / 1024} MB and were ended`, fatal: true })
    process.exit(9)
  }

  #send(msg) {
    const line = Buffer.from(JSON.stringify(msg) + "\n")
    for (let from = 0; from < line.length; ) {
      try {
        from += fs.writeSync(this.#out, line, from)
      } catch (err) {
        if (err.code !== "EAGAIN") process.exit(0)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
      }
    }
  }
}
