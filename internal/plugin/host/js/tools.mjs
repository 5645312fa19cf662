// Tools of plugins: what the model is told of them, and the check of what it gave.
import { shared } from "./runtime.mjs"

// describeTool returns a tool's description and the schema of its arguments.
export async function describeTool(id, def) {
  const properties = {}
  const required = []
  const toJSON = await converter()
  for (const [name, field] of Object.entries(def.args ?? {})) {
    properties[name] = field?._zod || field?._def ? toJSON(field) : (field ?? {})
    if (!optional(field)) required.push(name)
  }
  return {
    id,
    description: String(def.description ?? ""),
    schema: { type: "object", properties, required, additionalProperties: false },
  }
}

const optional = (field) => (typeof field?.isOptional === "function" ? field.isOptional() : field?._zod?.optin === "optional")

let made
const converter = () => (made ??= makeConverter())

async function makeConverter() {
  let z
  try {
    z = await shared("zod")
  } catch {
    return (field) => older(field)
  }
  return (field) => {
    if (!field._zod) return older(field)
    const schema = z.toJSONSchema(field, {
      io: "input",
      unrepresentable: "any",
      // Each copy of zod keeps descriptions for itself; the schema knows its own.
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema.description) jsonSchema.description = zodSchema.description
      },
    })
    delete schema.$schema
    return schema
  }
}

// older says what a schema of zod 3 means.
function older(field) {
  const def = field._def ?? {}
  const more = field.description ? { description: field.description } : {}
  const inner = () => ({ ...older(def.innerType ?? def.schema), ...more })
  switch (def.typeName) {
    case "ZodString": return { type: "string", ...more }
    case "ZodNumber": return { type: def.checks?.some((c) => c.kind === "int") ? "integer" : "number", ...more }
    case "ZodBoolean": return { type: "boolean", ...more }
    case "ZodLiteral": return { const: def.value, ...more }
    case "ZodEnum": return { type: "string", enum: def.values, ...more }
    case "ZodNativeEnum": return { enum: Object.values(def.values), ...more }
    case "ZodArray": return { type: "array", items: older(def.type), ...more }
    case "ZodUnion": return { anyOf: def.options.map(older), ...more }
    case "ZodRecord": return { type: "object", additionalProperties: older(def.valueType), ...more }
    case "ZodNullable": return { anyOf: [older(def.innerType), { type: "null" }], ...more }
    case "ZodOptional": case "ZodDefault": case "ZodEffects": case "ZodReadonly": return inner()
    case "ZodObject": {
      const shape = def.shape()
      const names = Object.keys(shape)
      return {
        type: "object",
        properties: Object.fromEntries(names.map((n) => [n, older(shape[n])])),
        required: names.filter((n) => !shape[n].isOptional()),
        ...more,
      }
    }
  }
  return more
}

// checkArgs returns the arguments as the tool's own schemas read them, or says what is
// wrong with them.
export async function checkArgs(def, args) {
  const given = { ...args }
  const wrong = []
  for (const [name, field] of Object.entries(def.args ?? {})) {
    if (typeof field?.safeParseAsync !== "function") continue
    const read = await field.safeParseAsync(given[name])
    if (read.success) {
      if (read.data !== undefined) given[name] = read.data
      continue
    }
    for (const issue of read.error.issues ?? []) wrong.push([name, ...issue.path].join(".") + ": " + issue.message)
  }
  if (wrong.length > 0) throw new Error("The arguments are not what the tool takes: " + wrong.join("; "))
  return given
}
