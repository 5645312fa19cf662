// The shell that plugins are given as $: Bun's own where there is one, and what plugins
// use of it where there is none.
import { spawn } from "node:child_process"
import { Writable } from "node:stream"

export function shell(directory) {
  if (globalThis.Bun?.$ && process.versions.bun) return quietly(globalThis.Bun.$, directory)
  return makeShell({ cwd: directory, env: undefined, throws: true })
}

// quietly keeps what commands print out of this process's own output.
function quietly($, directory) {
  const quiet = (...args) => {
    const run = $(...args)
    return run.cwd(directory).quiet()
  }
  for (const name of ["braces", "escape", "env", "cwd", "nothrow", "throws"]) {
    quiet[name] = (...args) => {
      const out = $[name](...args)
      return out === $ ? quiet : out
    }
  }
  return quiet
}

export function makeShell(settings) {
  const $ = (strings, ...values) => {
    let script = strings.raw ? strings.raw[0] : String(strings)
    values.forEach((v, i) => (script += word(v) + strings.raw[i + 1]))
    return new Run(script, { ...settings })
  }
  $.env = (env) => ((settings.env = env), $)
  $.cwd = (cwd) => ((settings.cwd = cwd ?? settings.cwd), $)
  $.throws = (on) => ((settings.throws = on), $)
  $.nothrow = () => $.throws(false)
  $.escape = escape
  $.braces = braces
  return $
}

// word is a value as one word of a shell, or several for a list.
function word(value) {
  if (Array.isArray(value)) return value.map(word).join(" ")
  if (value && typeof value === "object" && "raw" in value) return String(value.raw)
  return escape(String(value))
}

export function escape(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", `'\\''`) + "'"
}

export function braces(pattern) {
  const m = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(pattern)
  return m ? m[2].split(",").flatMap((part) => braces(m[1] + part + m[3])) : [pattern]
}

class Output {
  constructor(stdout, stderr, exitCode) {
    Object.assign(this, { stdout, stderr, exitCode })
  }
  text(encoding) { return this.stdout.toString(encoding) }
  json() { return JSON.parse(this.text()) }
  arrayBuffer() { return new Uint8Array(this.stdout).buffer }
  bytes() { return new Uint8Array(this.stdout) }
  blob() { return new Blob([this.stdout]) }
}

class ShellError extends Error {
  constructor(out, script) {
    super(`Failed with exit code ${out.exitCode}`)
    this.name = "ShellError"
    this.command = script
    for (const name of ["text", "json", "arrayBuffer", "bytes", "blob"]) this[name] = out[name].bind(out)
    Object.assign(this, { stdout: out.stdout, stderr: out.stderr, exitCode: out.exitCode })
  }
}

// Run is a command that starts when it is waited for.
class Run {
  #script
  #settings
  #done
  #input = []
  constructor(script, settings) {
    this.#script = script
    this.#settings = settings
    queueMicrotask(() => this.#start())
  }
  cwd(dir) { this.#settings.cwd = dir; return this }
  env(env) { this.#settings.env = env; return this }
  quiet() { return this }
  throws(on) { this.#settings.throws = on; return this }
  nothrow() { return this.throws(false) }
  get stdin() {
    return new Writable({ write: (chunk, _, done) => (this.#input.push(chunk), done()) })
  }
  async text(encoding) { return (await this).text(encoding) }
  async json() { return (await this).json() }
  async arrayBuffer() { return (await this).arrayBuffer() }
  async bytes() { return (await this).bytes() }
  async blob() { return (await this).blob() }
  async *lines() {
    yield* (await this.text()).split("\n")
  }
  then(ok, failed) { return this.#start().then(ok, failed) }
  catch(failed) { return this.#start().catch(failed) }
  finally(always) { return this.#start().finally(always) }

  #start() {
    this.#done ??= this.#run()
    this.#done.catch(() => {}) // who waits is told
    return this.#done
  }

  #run() {
    const { cwd, env, throws } = this.#settings
    const program = process.env.LATHE_PLUGIN_SHELL || (process.platform === "win32" ? "bash" : "/bin/sh")
    return new Promise((resolve, reject) => {
      const child = spawn(program, ["-c", this.#script], { cwd, env: env ?? process.env, stdio: "pipe" })
      const out = []
      const err = []
      child.stdout.on("data", (b) => out.push(b))
      child.stderr.on("data", (b) => err.push(b))
      child.stdin.on("error", () => {})
      child.stdin.end(Buffer.concat(this.#input.map((b) => Buffer.from(b))))
      child.on("error", reject)
      child.on("close", (code) => {
        const done = new Output(Buffer.concat(out), Buffer.concat(err), code ?? 1)
        if (done.exitCode !== 0 && throws) reject(new ShellError(done, this.#script))
        else resolve(done)
      })
    })
  }
}
