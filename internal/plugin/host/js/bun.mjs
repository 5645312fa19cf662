// What plugins use of bun, for node: the global Bun and the module "bun".
import fs from "node:fs"
import path from "node:path"
import { spawn as start, spawnSync as run } from "node:child_process"
import { createHash } from "node:crypto"
import { createRequire } from "node:module"
import { Readable } from "node:stream"
import { fileURLToPath, pathToFileURL } from "node:url"
import { inspect } from "node:util"
import { makeShell } from "./shell.mjs"

class File extends Blob {
  constructor(file) {
    super([])
    this.name = file
  }
  get size() { return fs.statSync(this.name, { throwIfNoEntry: false })?.size ?? 0 }
  get lastModified() { return fs.statSync(this.name, { throwIfNoEntry: false })?.mtimeMs ?? 0 }
  async exists() { return fs.statSync(this.name, { throwIfNoEntry: false })?.isFile() ?? false }
  async text() { return fs.promises.readFile(this.name, "utf8") }
  async json() { return JSON.parse(await this.text()) }
  async bytes() { return new Uint8Array(await fs.promises.readFile(this.name)) }
  async arrayBuffer() { return (await this.bytes()).buffer }
  stream() { return Readable.toWeb(fs.createReadStream(this.name)) }
  async delete() { return fs.promises.rm(this.name) }
  async unlink() { return this.delete() }
  async stat() { return fs.promises.stat(this.name) }
  async write(data) { return write(this.name, data) }
  writer() {
    const pieces = []
    return { write: (d) => void pieces.push(d), flush() {}, end: () => write(this.name, pieces.join("")) }
  }
}

const named = (place) => (place instanceof File ? place.name : place instanceof URL ? fileURLToPath(place) : String(place))
export const file = (place) => new File(named(place))

export async function write(place, data) {
  const target = named(place)
  if (data instanceof Response || data instanceof Blob) data = Buffer.from(await data.arrayBuffer())
  if (data instanceof ArrayBuffer) data = Buffer.from(data)
  await fs.promises.mkdir(path.dirname(target), { recursive: true })
  await fs.promises.writeFile(target, data)
  return Buffer.byteLength(data)
}

export function which(program, options = {}) {
  for (const dir of (options.PATH ?? process.env.PATH ?? "").split(path.delimiter)) {
    const full = path.join(dir, program)
    try {
      fs.accessSync(full, fs.constants.X_OK)
      if (fs.statSync(full).isFile()) return full
    } catch {}
  }
  return null
}

const stdio = (o) => {
  const of = (v, other) => (v === undefined ? other : v === null ? "ignore" : v)
  return [of(typeof o.stdin === "object" && o.stdin ? "pipe" : o.stdin, "ignore"), of(o.stdout, "pipe"), of(o.stderr, "inherit")]
}

export function spawn(command, options = {}) {
  if (!Array.isArray(command)) [command, options] = [command.cmd, command]
  const child = start(command[0], command.slice(1), { cwd: options.cwd, env: options.env ?? process.env, stdio: stdio(options) })
  const exited = new Promise((resolve) => {
    child.on("error", () => resolve(127))
    child.on("close", (code, signal) => (options.onExit?.(out, code, signal), resolve(code ?? 128)))
  })
  const out = {
    pid: child.pid,
    stdin: child.stdin && Object.assign(child.stdin, { flush() {} }),
    stdout: child.stdout && Readable.toWeb(child.stdout),
    stderr: child.stderr && Readable.toWeb(child.stderr),
    exited,
    get exitCode() { return child.exitCode },
    get killed() { return child.killed },
    kill: (signal) => child.kill(signal),
    unref: () => child.unref(),
    ref: () => child.ref(),
  }
  if (options.stdin && typeof options.stdin === "object" && child.stdin) {
    new Response(options.stdin).arrayBuffer().then((b) => child.stdin.end(Buffer.from(b)))
  }
  return out
}

export function spawnSync(command, options = {}) {
  if (!Array.isArray(command)) [command, options] = [command.cmd, command]
  const input = options.stdin && typeof options.stdin === "object" ? Buffer.from(options.stdin) : undefined
  const done = run(command[0], command.slice(1), { cwd: options.cwd, env: options.env ?? process.env, input, maxBuffer: 1 << 30 })
  return { exitCode: done.status ?? 127, success: done.status === 0, stdout: done.stdout, stderr: done.stderr, pid: done.pid }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms instanceof Date ? ms - Date.now() : ms))
export const sleepSync = (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
export const hash = (data) => createHash("sha1").update(Buffer.from(data)).digest().readBigUInt64LE()
export const env = process.env
export const nanoseconds = () => Math.round(performance.now() * 1e6)
export const deepEquals = (a, b) => inspect(a, { depth: null }) === inspect(b, { depth: null })
export const stringWidth = (text) => [...text].length

export class CryptoHasher {
  #hash
  constructor(name) { this.#hash = createHash(name) }
  update(data) { this.#hash.update(data); return this }
  digest(encoding) { return this.#hash.digest(encoding) }
}

export class Glob {
  constructor(pattern) { this.pattern = pattern }
  match(name) { return path.matchesGlob(name, this.pattern) }
  async *scan(options = {}) { yield* this.scanSync(options) }
  *scanSync(options = {}) {
    const { cwd = process.cwd(), absolute, onlyFiles = true } = typeof options === "string" ? { cwd: options } : options
    for (const name of fs.globSync(this.pattern, { cwd })) {
      if (onlyFiles && !fs.statSync(path.join(cwd, name), { throwIfNoEntry: false })?.isFile()) continue
      yield absolute ? path.join(cwd, name) : name
    }
  }
}

export const $ = makeShell({ cwd: undefined, env: undefined, throws: true })

// The module "bun:sqlite", as far as node has it.
export class Database {
  #db
  constructor(file = ":memory:", options = {}) {
    const { DatabaseSync } = createRequire(import.meta.url)("node:sqlite")
    this.#db = new DatabaseSync(file, { readOnly: Boolean(options.readonly) })
  }
  exec(sql) { return this.#db.exec(sql) }
  run(sql, ...values) { return this.#db.prepare(sql).run(...values.flat()) }
  query(sql) { return this.prepare(sql) }
  prepare(sql) {
    const s = this.#db.prepare(sql)
    return { all: (...v) => s.all(...v), get: (...v) => s.get(...v) ?? null, run: (...v) => s.run(...v), values: (...v) => s.all(...v).map(Object.values) }
  }
  transaction(f) {
    return (...args) => {
      this.#db.exec("BEGIN")
      try {
        const out = f(...args)
        this.#db.exec("COMMIT")
        return out
      } catch (err) {
        this.#db.exec("ROLLBACK")
        throw err
      }
    }
  }
  close() { this.#db.close() }
}

export function dlopen() {
  throw new Error("this plugin calls native code through bun:ffi, which needs bun: install bun, and lathe runs plugins under it")
}
export const FFIType = {}, ptr = dlopen, toArrayBuffer = dlopen, CString = dlopen, suffix = process.platform === "darwin" ? "dylib" : "so"

export function makeBun() {
  return {
    $, file, write, which, spawn, spawnSync, sleep, sleepSync, hash, env, nanoseconds, deepEquals, stringWidth, inspect, Glob, CryptoHasher,
    argv: process.argv, main: "", version: "1.0.0", revision: "", fileURLToPath, pathToFileURL,
    stdin: { text: async () => "" },
  }
}
export default makeBun()
