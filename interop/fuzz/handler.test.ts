/**
 * Malformed requests of every kind go to the server's handler in this process: no bug may answer, memory stays bounded,
 * and a request of up to 256 KB takes less than 50 ms of processor time, so that it cannot hold others up for longer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiServer } from '@coxswain/apiserver'
import { createYamlThread, verifySignature } from '@coxswain/apiserver/node'
import { createLogger, createRealEnv, createSeededRandom, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { discardBody, isStream, type WireRequest } from '@coxswain/wire'
import { type BadRequest, makeBadRequest } from './inputs.ts'

const seed = Number(process.env.TORTURE_SEED ?? 1)
/** Ten minutes of torture, most of one in a suite. */
const duration = process.env.TORTURE_RUNS === undefined ? Number(process.env.FUZZ_MS ?? 40_000) : 600_000
/** Milliseconds of processor time, on a machine that has nothing else to do. */
const longest = 50
/** What makes the suite fail; times between this and the goal depend on what else the machine does, and are printed. */
const unbearable = 1_000
/** How often a slow request is tried again: compilers and collectors run when they like. */
const attempts = 4
/** Megabytes that the process may grow by once it is warm. */
const growth = 400

const peer = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

function cpuMilliseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** What `measureSlowness` takes on the machine that the limits are meant for. */
const calibration = 8

/** How much slower than that this machine is now: caches and cores are shared with whatever else runs. */
function measureSlowness(): number {
  const member = { name: 'x', value: 'y'.repeat(40), list: [1, 2, 3], nested: { a: 'b', c: 'd' } }
  const text = JSON.stringify(Array.from({ length: 10_000 }, () => member))
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = cpuMilliseconds()
    JSON.stringify(JSON.parse(text))
    best = Math.min(best, cpuMilliseconds() - before)
  }
  return Math.max(1, best / calibration)
}

test(`malformed requests, seed ${seed}`, { timeout: duration + 120_000 }, async () => {
  const bugs: string[] = []
  const log = createLogger(({ level, fields }) => {
    if (level === 'error') bugs.push(String((fields.error as Error | undefined)?.stack ?? fields.error))
  })
  const env = createRealEnv(log)
  await using store = createMemoryStore({ env })
  const server = createApiServer({
    env,
    store,
    platform: { readLargeYaml: createYamlThread(), verifySignature },
  })
  await using group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await server.ready

  const send = async (request: BadRequest): Promise<number> => {
    const wire: WireRequest = { ...request, peer, signal: AbortSignal.any([group.signal]) }
    const { status, body } = await server.handler(wire)
    if (isStream(body)) await discardBody(body)
    return status
  }
  const json = { 'content-type': 'application/json' }
  const present = { metadata: { name: 'present' }, data: { a: 'b' } }
  await send({
    family: 'setup',
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    query: '',
    headers: json,
    body: Buffer.from(JSON.stringify(present)),
  })

  const random = createSeededRandom(seed)
  const statuses = new Map<number, number>()
  const slow: string[] = []
  let sent = 0
  let warm = 0
  for (const deadline = performance.now() + duration; performance.now() < deadline; sent++) {
    const request = makeBadRequest(random)
    let best = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < attempts && best > longest; attempt++) {
      const before = cpuMilliseconds()
      const status = await send(request)
      best = Math.min(best, cpuMilliseconds() - before)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      assert.ok(status >= 200 && status < 600)
    }
    // A watch and a revision that never comes wait; they do not work. What takes time is the body.
    if (best > longest && best > longest * measureSlowness()) slow.push(describe(request, best))
    if (best > unbearable) assert.ok(best < unbearable * measureSlowness(), describe(request, best))
    if (bugs.length > 0) assert.fail(`${describe(request, best)}\n${bugs[0]}`)
    if (sent === 2_000) warm = process.memoryUsage.rss()
  }
  if (warm > 0) {
    const grown = (process.memoryUsage.rss() - warm) / 2 ** 20
    assert.ok(grown < growth, `the process grew by ${Math.round(grown)} MB`)
  }
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  console.log(`${sent} requests; ${counts.join(', ')}`)
  if (slow.length > 0) console.log(`${slow.length} took more than ${longest} ms:\n  ${slow.join('\n  ')}`)
})

function describe({ family, method, path, query, headers, body }: BadRequest, milliseconds: number): string {
  const start = body ? JSON.stringify(new TextDecoder().decode(body.subarray(0, 80))) : ''
  const shown = `${method} ${path.slice(0, 80)}?${query.slice(0, 80)}`
  return `${family}, ${Math.round(milliseconds)} ms: ${shown} ${headers['content-type'] ?? ''} ${body?.length ?? 0} bytes ${start}`
}
