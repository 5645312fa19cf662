// What differs between bun and node: how modules are found and read. Plugins are written
// for bun; node is brought as far as they need.
import fs from "node:fs"
import module from "node:module"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

// prepare has imports find what lathe installed for the plugins: params.modules is a
// directory with what all can use, params.roots lists directories whose own packages
// are elsewhere ({dir, modules}).
let common = ""

export async function prepare(params) {
  common = params.modules || "."
  if (process.versions.bun) return prepareBun(params)
  const { makeBun } = await import("./bun.mjs")
  globalThis.Bun ??= makeBun()
  module.registerHooks({ resolve: resolver(params), load })
}

// fallbacks are where a package is looked for that a file cannot find by itself.
function fallbacks({ modules, roots = [] }, file) {
  const own = roots.filter((r) => file?.startsWith(r.dir + path.sep)).map((r) => r.modules)
  return [...own, modules].filter(Boolean)
}

// prepareBun writes the imports of plugins' own files anew where bun would not find them:
// its resolver cannot be helped at run time, its loader can.
async function prepareBun(params) {
  const { Bun } = globalThis
  const resolve = (specifier, dir) => {
    try {
      return Bun.resolveSync(specifier, dir)
    } catch {}
  }
  const dirs = params.plugins.filter((p) => !p.file.includes("/node_modules/")).map((p) => path.dirname(p.file) + path.sep)
  const mend = (file, text) => {
    for (const { path: wanted } of new Bun.Transpiler({ loader: "ts" }).scanImports(text)) {
      if (!bare(wanted) || resolve(wanted, path.dirname(file))) continue
      const found = fallbacks(params, file).map((dir) => resolve(wanted, dir)).find(Boolean)
      if (found) text = text.replaceAll(`"${wanted}"`, JSON.stringify(found)).replaceAll(`'${wanted}'`, JSON.stringify(found))
    }
    return text
  }
  if (dirs.length === 0) return
  const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  Bun.plugin({
    name: "lathe",
    setup(build) {
      // Only their own files: what is loaded here counts as a module, also where it is none.
      const filter = new RegExp(`^(?!.*/node_modules/)(${dirs.map(escape).join("|")}).*\\.m?[jt]s$`)
      build.onLoad({ filter }, async ({ path: file }) => ({
        contents: mend(file, await Bun.file(file).text()),
        loader: /ts$/.test(file) ? "ts" : "js",
      }))
    },
  })
}

// shared imports what lathe installed for all plugins.
export function shared(name) {
  if (process.versions.bun) return import(globalThis.Bun.resolveSync(name, common))
  return import(name)
}

const bare = (specifier) => /^[^./]/.test(specifier) && !/^[a-z]+:/i.test(specifier)
const endings = [".ts", ".tsx", ".js", ".mjs", ".json", "/index.ts", "/index.js", "/index.mjs"]

function resolver(params) {
  const shim = new URL("./bun.mjs", import.meta.url).href
  return (specifier, context, next) => {
    if (specifier === "bun" || specifier.startsWith("bun:")) return { url: shim, shortCircuit: true }
    try {
      return next(specifier, context)
    } catch (err) {
      const parent = context.parentURL?.startsWith("file:") ? fileURLToPath(context.parentURL) : undefined
      if (bare(specifier)) {
        for (const dir of fallbacks(params, parent)) {
          try {
            return next(specifier, { ...context, parentURL: pathToFileURL(dir + "/package.json").href })
          } catch {}
        }
      } else if (parent) {
        const wanted = specifier.startsWith("file:") ? fileURLToPath(specifier) : path.resolve(path.dirname(parent), specifier)
        for (const file of [...endings.map((e) => wanted + e), wanted.replace(/\.js$/, ".ts")]) {
          if (fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return { url: pathToFileURL(file).href, shortCircuit: true }
        }
      }
      throw err
    }
  }
}

const typed = /\.[mc]?ts$/
const texts = /\.(txt|md|html|css|sql|ya?ml|toml|sh|graphql)$/

function load(url, context, next) {
  const file = url.startsWith("file:") ? fileURLToPath(url) : ""
  const asText = context.importAttributes?.type === "text" || texts.test(file)
  if (file && asText) return source("export default " + JSON.stringify(fs.readFileSync(file, "utf8")))
  if (file.endsWith(".json") && !context.conditions?.includes("require") && !context.importAttributes?.type) {
    return source("export default " + fs.readFileSync(file, "utf8"))
  }
  if (typed.test(file)) {
    return source(own(module.stripTypeScriptTypes(fs.readFileSync(file, "utf8"), { mode: "transform", sourceUrl: url })))
  }
  if (file.endsWith(".js") && !file.includes("/node_modules/")) {
    // As under bun, what a file says decides, not the package.json that happens to lie above.
    const text = fs.readFileSync(file, "utf8")
    if (/^\s*(export|import)\b/m.test(text)) return source(own(text))
  }
  const out = next(url, context)
  if (file && out.format === "module" && out.source) return { ...out, source: own(String(out.source)) }
  return out
}

const source = (text) => ({ format: "module", source: text, shortCircuit: true })

// own gives a module what bun says of itself in import.meta.
function own(text) {
  if (!/import\.meta\.(dir|file|path)\b/.test(text)) return text
  return (
    "import.meta.dir=import.meta.dirname;import.meta.path=import.meta.filename;" +
    "import.meta.file=import.meta.filename.split(/[\\\\/]/).pop();" +
    text
  )
}
