import { spawnSync } from 'node:child_process'
import { Deployment } from '@coxswain/api/apps/v1'
import { deepClone, readJson } from '@coxswain/apimachinery/json'
import { compileSchema, type Schema } from '@coxswain/apimachinery/schema'
import { Ajv } from 'ajv'
import type { BenchCase } from '../harness.ts'
import { typicalDeployment } from './deployment.ts'
import { publishPackages } from './published.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Microseconds a call, over enough calls to be measured. */
function timeCalls(calls: number, call: (i: number) => unknown): number {
  let kept: unknown
  const start = performance.now()
  for (let i = 0; i < calls; i++) kept = call(i)
  const spent = performance.now() - start
  if (kept === timeCalls) throw new Error('unreachable: keeps the result alive')
  return (spent * 1_000) / calls
}

function readerCase(name: string, text: string): BenchCase {
  const bytes = encoder.encode(text)
  return {
    name,
    unit: 'µs',
    measure: () => timeCalls(3_000, () => readJson(bytes)),
    reference: {
      name: 'JSON.parse',
      measure: () => timeCalls(3_000, () => JSON.parse(decoder.decode(bytes))),
    },
    goal: { of: 'ratio', atMost: 2 },
  }
}

/** A schema that is not compiled yet: what is compiled is kept with the identity of its nodes. */
function freshSchema(): Schema {
  return deepClone(Deployment.schema())
}

function processSchema(schema: Schema, value: unknown): number {
  const compiled = compileSchema(schema)
  const unknown = compiled.prune(value)
  compiled.applyDefaults(value)
  return compiled.validate(value).length + unknown.length
}

/** As on the server, where a value has just been read: a few at a time, so that they are still in the processor's cache. */
function timeFresh(text: string, process: (value: unknown) => unknown): number {
  const batches = 200
  const size = 20
  let spent = 0
  for (let batch = 0; batch < batches; batch++) {
    const values = Array.from({ length: size }, () => JSON.parse(text) as unknown)
    spent += timeCalls(size, i => process(values[i])) * size
  }
  return spent / (batches * size)
}

function schemaCase(text: string): BenchCase {
  const schema = Deployment.schema()
  return {
    name: 'validate + default + prune a Deployment',
    unit: 'µs',
    measure: () => timeFresh(text, value => processSchema(schema, value)),
    reference: { name: 'JSON.parse', measure: () => timeFresh(text, () => JSON.parse(text)) },
    goal: { of: 'ratio', atMost: 1 },
  }
}

function compileCase(text: string): BenchCase {
  return {
    name: "compile a Deployment's schema, to the first answer",
    unit: 'µs',
    measure: () => {
      const schemas = Array.from({ length: 10 }, freshSchema)
      const values = schemas.map(() => JSON.parse(text) as unknown)
      return timeCalls(schemas.length, i => processSchema(schemas[i]!, values[i]))
    },
    reference: {
      name: 'ajv',
      measure: () => {
        const value: unknown = JSON.parse(text)
        const schema = freshSchema()
        const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
        return timeCalls(1, () => ajv.compile(schema)(value))
      },
    },
    goal: { of: 'ratio', atMost: 1 / 50 },
  }
}

/** Milliseconds that a fresh process needs for the import alone. */
function timeImport(specifier: string, cwd: string): number {
  const script = `const start = performance.now(); await import('${specifier}'); console.log(performance.now() - start)`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd,
    encoding: 'utf8',
  })
  return Number(stdout)
}

function timeBareStart(): number {
  const start = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return performance.now() - start
}

function importCase(specifier: string, cwd: string, atMost: number): BenchCase {
  return {
    name: `import ${specifier}, as published`,
    unit: 'ms',
    measure: () => timeImport(specifier, cwd),
    reference: { name: 'bare Node start', measure: timeBareStart },
    goal: { of: 'ratio', atMost },
  }
}

/** The reader, the schema and the imports; goals as the design states them. */
export async function jsonAndSchemaCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const { folder } = stack.use(await publishPackages(['kit', 'apimachinery', 'api'], ['re2js', 'js-yaml']))
  const deployment = typicalDeployment()
  const text = JSON.stringify(deployment)
  return [
    readerCase('strict reader, compact Deployment', text),
    readerCase('strict reader, indented Deployment', JSON.stringify(deployment, null, 2)),
    schemaCase(text),
    compileCase(text),
    importCase('@coxswain/apimachinery/kinds', folder, 1),
    importCase('@coxswain/api/apps/v1', folder, 1 / 4),
  ]
}
