/**
 * `npm run bench -- apiserver [--target KUBECONFIG [--reference KUBECONFIG]] [--only REGEX] [--seconds N] [--million]`
 *
 * Without kubeconfigs it starts our server, a real kube-apiserver 1.36 with etcd 3.6, and nginx. Servers have one core, the load
 * generator another; besides rates it tells the work done per second of server processor time, which a busy machine
 * disturbs less.
 */
import { parseArgs } from 'node:util'
import type { BenchCase, BenchDefinition, BenchGoal } from '../harness.ts'
import type { Job } from './jobs.ts'
import { Load, type Measured } from './load.ts'
import { memoryOf, millionObjects } from './memory.ts'
import { fetchBytes, startNginxBeside } from './nginx.ts'
import { attachServer, type Server, startKubernetes, startOurs } from './servers.ts'

const stored = 10_000
const manyPods = 50_000
const watchers = 1_000
const clients = 64
const lists = 10
const podPath = '/api/v1/namespaces/stored/pods/pod-0000042'
const listPath = '/api/v1/namespaces/stored/pods'

export const options = {
  target: { type: 'string' },
  reference: { type: 'string' },
  only: { type: 'string', default: '' },
  seconds: { type: 'string', default: '3' },
  million: { type: 'boolean', default: false },
  json: { type: 'string' },
} as const

const { values: given } = parseArgs({ args: process.argv.slice(3), options })
const milliseconds = Number(given.seconds) * 1_000
const wanted = new RegExp(given.only)

/** One of the two servers, and the numbers of its last load for the case that tells them another way. */
interface Side {
  readonly server: Server
  readonly start: (() => Promise<Server>) | undefined
}

export const bench: BenchDefinition = {
  title: 'apiserver: TLS, 10,000 pods of 2-3 KB; servers on one core, clients on the other',
  async cases(stack) {
    const load = stack.use(new Load())
    const run = async (server: Server, job: Job) => await load.run(server, job)
    const [ours, theirs] = await startSides(stack)
    const sides = theirs ? [ours, theirs] : [ours]
    const needsPods =
      loadCases(run, ours, theirs).some(({ name }) => wanted.test(name)) || wanted.test('nginx')
    for (const { server } of needsPods ? sides : []) {
      await run(server, { type: 'fill', access: server.access, namespace: 'stored', count: stored })
    }
    const cases = [
      ...loadCases(run, ours, theirs),
      ...(wanted.test('nginx') && ours.server.pids.length > 0
        ? [await nginxCase(stack, run, ours.server)]
        : []),
      ...startCases(run, ours, theirs),
    ]
    return cases.filter(({ name }) => wanted.test(name))
  },
}

async function startSides(stack: AsyncDisposableStack): Promise<[Side, Side | undefined]> {
  if (given.target !== undefined) {
    const ours = { server: await attachServer(given.target), start: undefined }
    if (given.reference === undefined) return [ours, undefined]
    return [ours, { server: await attachServer(given.reference), start: undefined }]
  }
  return [
    { server: stack.use(await startOurs()), start: () => startOurs() },
    { server: stack.use(await startKubernetes()), start: startKubernetes },
  ]
}

type Run = (server: Server, job: Job) => Promise<Measured>

function loadCases(run: Run, ours: Side, theirs: Side | undefined): BenchCase[] {
  const get = (protocol: 'h1' | 'h2') => (server: Server) =>
    run(server, { type: 'get', access: server.access, protocol, path: podPath, clients, milliseconds })
  const create = (count: number) => (server: Server) =>
    run(server, { type: 'create', access: server.access, namespace: 'created', clients: count, milliseconds })
  const watch = (writers: number) => (server: Server) =>
    run(server, {
      type: 'watch',
      access: server.access,
      namespace: 'watched',
      watchers,
      writers,
      milliseconds,
    })
  return [
    ...both('get, HTTP/2', 'gets', get('h2'), 8, ours, theirs),
    ...both('get, HTTP/1.1', 'gets', get('h1'), 5, ours, theirs),
    ...both('create, 1 client', 'creates', create(1), 3, ours, theirs),
    ...both(`create, ${clients} clients`, 'creates', create(clients), 5, ours, theirs),
    ...both(`watch, ${watchers} watchers, 1 writer`, 'events', watch(1), 3.5, ours, theirs),
    ...both(`watch, ${watchers} watchers, 8 writers`, 'events', watch(8), 3.5, ours, theirs),
    ...compared(
      { name: `list of ${stored}`, unit: 'ms CPU', goal: { of: 'ratio', atMost: 1 / 6 } },
      async ({ server }) => {
        const job: Job = { type: 'list', access: server.access, path: listPath, times: lists }
        return (await run(server, job)).cpu / lists
      },
      { ours, theirs },
    ),
  ]
}

/** A load reported twice: per second, and per second of the server's processor time. */
function both(
  name: string,
  unit: string,
  measure: (server: Server) => Promise<Measured>,
  atLeast: number,
  ours: Side,
  theirs: Side | undefined,
): BenchCase[] {
  const last = new Map<Side, Measured>()
  const goal: BenchGoal = { of: 'ratio', atLeast }
  const rate = async (side: Side) => {
    const measured = await measure(side.server)
    last.set(side, measured)
    return (measured.count / measured.milliseconds) * 1_000
  }
  const perCpu = async (side: Side) => {
    const { count, cpu } = last.get(side)!
    return (count / cpu) * 1_000
  }
  const isHere = ours.server.pids.length > 0 && (!theirs || theirs.server.pids.length > 0)
  return [
    ...compared({ name, unit: `${unit}/s`, goal }, rate, { ours, theirs }),
    ...(isHere
      ? compared({ name: `${name}, of server CPU`, unit: `${unit}/CPU s`, goal }, perCpu, { ours, theirs })
      : []),
  ]
}

function compared(
  head: { name: string; unit: string; goal: BenchGoal },
  measure: (side: Side) => Promise<number>,
  { ours, theirs }: { ours: Side; theirs: Side | undefined },
): BenchCase[] {
  const { name, unit, goal } = head
  if (!theirs) return [{ name, unit, measure: () => measure(ours) }]
  return [
    {
      name,
      unit,
      measure: () => measure(ours),
      reference: { name: 'kube-apiserver', measure: () => measure(theirs) },
      goal,
    },
  ]
}

async function nginxCase(stack: AsyncDisposableStack, run: Run, ours: Server): Promise<BenchCase> {
  const nginx = stack.use(await startNginxBeside(await fetchBytes(ours.access, podPath)))
  const perCpu = async (server: Server, path: string) => {
    const job: Job = { type: 'get', access: server.access, protocol: 'h2', path, clients, milliseconds }
    const { count, cpu } = await run(server, job)
    return (count / cpu) * 1_000
  }
  return {
    name: 'get, HTTP/2, beside nginx with the same bytes',
    unit: 'gets/CPU s',
    measure: () => perCpu(ours, podPath),
    reference: { name: 'nginx', measure: () => perCpu(nginx, '/body.json') },
    goal: { of: 'ratio', atLeast: 0.2 },
  }
}

function startCases(run: Run, ours: Side, theirs: Side | undefined): BenchCase[] {
  if (!ours.start || !theirs?.start) return []
  const sides = { ours, theirs }
  const once = (measure: (side: Side) => Promise<number>) => {
    const known = new Map<Side, Promise<number>>()
    return (side: Side) => known.getOrInsertComputed(side, () => measure(side))
  }
  const start = async (side: Side) => {
    await using server = await side.start!()
    return server.startMilliseconds
  }
  return [
    ...compared({ name: 'start to ready', unit: 'ms', goal: { of: 'ratio', atMost: 1 / 6 } }, start, sides),
    ...compared(
      { name: 'memory, empty', unit: 'MB', goal: { of: 'ratio', atMost: 1 / 3 } },
      once(side => memoryOf(side.start!, run, 0)),
      sides,
    ),
    ...compared(
      { name: `memory, ${manyPods} pods`, unit: 'MB', goal: { of: 'ratio', atMost: 1 / 5 } },
      once(side => memoryOf(side.start!, run, manyPods)),
      sides,
    ),
    ...(given.million
      ? [
          {
            name: 'memory, 1,000,000 objects of 2 KB, of the payload',
            unit: 'x',
            measure: millionObjects(),
            goal: { of: 'value', atMost: 1.35 } as const,
          },
        ]
      : []),
  ]
}
