// The host of plugins: one process for a directory, which lathe starts when a plugin is
// first needed and talks to over two pipes, a JSON object a line.
import { Peer } from "./peer.mjs"
import { prepare } from "./runtime.mjs"
import { Plugins } from "./plugins.mjs"
import { Login } from "./login.mjs"

const peer = new Peer({ input: 4, output: 3 })

// What a plugin forgot to catch is told, and the others go on.
const stray = (err) => peer.notify("stray", { message: text(err) })
process.on("uncaughtException", stray)
process.on("unhandledRejection", stray)

function text(err) {
  return err instanceof Error ? (err.stack ?? err.message) : String(err)
}

let plugins, login

peer.handle({
  // Imports the plugins and tells what each takes part in.
  async load(params) {
    await prepare(params)
    plugins = new Plugins(peer, params)
    login = new Login(peer, plugins)
    return plugins.load()
  },
  ping: () => ({}),
  hook: (p) => plugins.hook(p),
  event: (p) => plugins.event(p),
  tool: (p) => plugins.runTool(p),
  abort: (p) => plugins.abortTool(p),
  models: (p) => plugins.models(p),
  authorize: (p) => login.authorize(p),
  prompted: (p) => login.prompted(p),
  callback: (p) => login.callback(p),
  loader: (p) => login.loader(p),
  fetch: (p) => login.fetch(p),
  cancel: (p) => login.cancel(p),
  async dispose() {
    await plugins?.dispose()
    setImmediate(() => process.exit(0))
    return {}
  },
})

peer.notify("hello", { runtime: process.versions.bun ? "bun" : "node", version: process.versions.bun ?? process.versions.node })
