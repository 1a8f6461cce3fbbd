/**
 * Which files of this package a write passes on its way to the store, measured while it happens. A file is passed when
 * the data goes through it: it is on the call stack when the body is read, when a plug-in is called or when the store is
 * written, or it has a step of the pipeline. Helpers that are asked and have answered by then are not passed.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { describe, it } from 'node:test'
import { createRealEnv, type Env, encodeText, TaskGroup } from '@coxswain/kit'
import { createMemoryStore, type Store } from '@coxswain/storage'
import type { WireRequest } from '@coxswain/wire'
import type { ApiServerOptions } from '../options.ts'
import { createApiServer } from '../server.ts'
import { pipelines } from '../write/pipeline.ts'

const architecture = readFileSync(new URL('../../../../ARCHITECTURE.md', import.meta.url), 'utf8')
const packages = new URL('../../../', import.meta.url).href
/** This package, and the rules of CRDs, which it shares with the tools. */
const followed = /^(?:apiserver\/src|strategies\/src\/apiextensions)\//
/** The keys of the objects that are followed. */
const measured = /\/configmaps\/|\/customresourcedefinitions\//
const peer = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

/** The numbered list of files under a heading of ARCHITECTURE.md. */
function listedUnder(heading: string): string[] {
  const start = architecture.indexOf(heading)
  assert.ok(start > 0, heading)
  const end = architecture.indexOf('\n#', start)
  const lines = architecture.slice(start, end < 0 ? undefined : end).split('\n')
  return lines.flatMap(line => /^\d+\. `packages\/([^`]+)`/.exec(line)?.[1] ?? [])
}

/** A path below `packages`; undefined for files of other packages and for tests. */
function sourceOf(url: string): string | undefined {
  if (!url.startsWith(packages) || url.includes('.test.ts') || url.includes('/test-support/'))
    return undefined
  const path = url.slice(packages.length)
  return followed.test(path) ? path : undefined
}

/** Adds the files of this package that are on the call stack, with the callers that wait for them. */
function addStack(files: Set<string>): void {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = Number.POSITIVE_INFINITY
  const { stack = '' } = new Error('for its stack')
  Error.stackTraceLimit = limit
  for (const [, url = ''] of stack.matchAll(/(file:\/\/[^\s()]+?):\d+:\d+/g)) {
    const file = sourceOf(url)
    if (file !== undefined) files.add(file)
  }
}

/** The files in which these functions are defined. */
async function filesOf(functions: readonly unknown[]): Promise<string[]> {
  const holder = globalThis as { asked?: readonly unknown[] }
  holder.asked = functions
  const session = new Session()
  session.connect()
  const urls = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  await session.post('Debugger.enable')
  const found: string[] = []
  for (const index of functions.keys()) {
    const { result } = await session.post('Runtime.evaluate', { expression: `globalThis.asked[${index}]` })
    const { internalProperties = [] } = await session.post('Runtime.getProperties', {
      objectId: result.objectId!,
    })
    const location = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')?.value?.value
    const file = sourceOf(urls.get((location as { scriptId: string }).scriptId) ?? '')
    assert.ok(file !== undefined, String(functions[index]))
    found.push(file)
  }
  session.disconnect()
  delete holder.asked
  return found
}

/** The files with these paths in which a function runs during `work`. */
async function filesThatRun(paths: RegExp, work: () => Promise<void>): Promise<string[]> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true })
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  return result.flatMap(({ url, functions }) => {
    const file = sourceOf(url)
    const hasRun = functions.some(({ ranges }) => ranges[0]!.count > 0)
    return file !== undefined && paths.test(file) && hasRun ? file : []
  })
}

/** A server whose store, plug-ins and platform add the stacks on which they are called to `files`. */
async function startProbed(files: Set<string>, options: Partial<ApiServerOptions> = {}) {
  const env: Env = createRealEnv()
  const memory = createMemoryStore({ env })
  const store: Store = Object.create(memory, {
    transact: {
      value: (transaction: Parameters<Store['transact']>[0]) => {
        // Loops of the server write other objects meanwhile.
        if (transaction.operations.some(({ key }) => measured.test(key))) addStack(files)
        return memory.transact(transaction)
      },
    },
  })
  for (const name of ['status', 'range', 'get', 'watch', 'compact', 'revisionNow', 'isStale'] as const)
    if (memory[name]) Object.defineProperty(store, name, { value: memory[name].bind(memory) })
  const probe = { name: 'Probe', mutate: () => addStack(files), validate: () => addStack(files) }
  const server = createApiServer({
    env,
    store,
    admission: { plugins: [probe] },
    platform: { compression: {} as never, readLargeYaml: () => Promise.reject(new Error('no YAML here')) },
    ...options,
  })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await server.ready
  const path = '/api/v1/namespaces/default/configmaps'
  const common = { method: 'POST', path, query: '', signal: group.signal, peer }
  const headers = { 'content-type': 'application/json', ':method': 'POST' }
  const bodyOf = (name: string) => encodeText(JSON.stringify({ metadata: { name }, data: { a: 'b' } }))
  return {
    store,
    /** Creates a ConfigMap whose body has arrived with the request. */
    async create(name: string): Promise<void> {
      const request: WireRequest = {
        ...common,
        headers,
        get body() {
          addStack(files)
          return bodyOf(name)
        },
      }
      assert.equal((await server.handler(request)).status, 201)
    },
    /** Creates a ConfigMap whose body is received when a filter asks for it. */
    async createSlowly(name: string): Promise<void> {
      const receiveBody = async () => {
        addStack(files)
        return bodyOf(name)
      }
      assert.equal((await server.handler({ ...common, headers, receiveBody })).status, 201)
    },
    async [Symbol.asyncDispose]() {
      group.abort()
      await group.join()
      await memory.close()
    },
  }
}

describe('the files that a create passes', () => {
  const heading = '### The files that a create passes'

  async function measure(options: Partial<ApiServerOptions> = {}): Promise<Set<string>> {
    const files = new Set<string>()
    await using server = await startProbed(files, options)
    files.clear()
    await server.create('at-once')
    await server.createSlowly('slowly')
    for (const file of await filesOf(pipelines.create.map(({ run }) => run))) files.add(file)
    // The record that the steps change: it is handed from file to file, and has none on its stack.
    files.add('apiserver/src/write/write.ts')
    return files
  }

  it('are those that ARCHITECTURE.md lists, at most 15', async () => {
    const listed = listedUnder(heading)
    assert.deepEqual([...(await measure())].sort(), listed.toSorted())
    assert.ok(listed.length <= 15, `${listed.length} files`)
  })

  it('include the file of another filter', async () => {
    const write = () => {}
    const audit = { policy: { rules: [{ level: 'Metadata' }] }, backends: [{ write }] } as never
    assert.ok((await measure({ audit })).has('apiserver/src/filters/audit.ts'))
  })
})

describe('the files that a CRD passes until it is established', () => {
  const heading = '### The files that a CRD passes until it is established'
  const key = '/apiextensions.k8s.io/customresourcedefinitions/ships.example.com'
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'ships.example.com', uid: 'a' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'ships', singular: 'ship', kind: 'Ship', listKind: 'ShipList' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
      conversion: { strategy: 'None' },
    },
  }

  it('are those that ARCHITECTURE.md lists, at most 8', async () => {
    const files = new Set<string>()
    await using server = await startProbed(files)
    files.clear()
    const ran = await filesThatRun(/\/(?:custom-resources|apiextensions)\//, async () => {
      await server.store.transact({
        conditions: [],
        operations: [{ type: 'put', key, value: encodeText(JSON.stringify(crd)) }],
      })
      for (let isEstablished = false; !isEstablished; ) {
        await new Promise(resolve => setTimeout(resolve, 5))
        const stored = Buffer.from((await server.store.get(key)).kv!.value).toString()
        isEstablished =
          /"type":"Established"[^}]*"status":"True"|"status":"True"[^}]*"type":"Established"/.test(stored)
      }
    })
    // It ends in the registry, which writes nothing.
    const passed = new Set([...files, ...ran, 'apiserver/src/registry/registry.ts'])
    const listed = listedUnder(heading)
    assert.deepEqual([...passed].sort(), listed.toSorted())
    assert.ok(listed.length <= 8, `${listed.length} files`)
  })
})
