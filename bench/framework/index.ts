/**
 * `npm run bench -- framework [--only REGEX]`
 *
 * One server of ours on memory storage; each number comes from a fresh process that uses our packages, client-go with
 * controller-runtime, or @kubernetes/client-node, with one core for the server and one for the program. Rates are per second of the
 * program's processor time where the server sets the pace.
 */
import { parseArgs } from 'node:util'
import { Load } from '../apiserver/load.ts'
import { startKubernetes } from '../apiserver/servers.ts'
import type { BenchCase, BenchDefinition, BenchGoal } from '../harness.ts'
import { importPrograms } from './imports.ts'
import { patchPods } from './patch-pods.ts'
import {
  buildGoProgram,
  clientNode,
  goProgram,
  ours,
  type Program,
  runProgram,
  startsCluster,
} from './programs.ts'
import { Rounds } from './rounds.ts'
import { type MemoryServer, startMemoryServer } from './server.ts'
import type { Result } from './task.ts'

export const options = { only: { type: 'string', default: '' }, json: { type: 'string' } } as const

const { values: given } = parseArgs({ args: process.argv.slice(3), options })
const wanted = new RegExp(given.only)

const small = { namespace: 'small', count: 10_000 }
const large = { namespace: 'large', count: 100_000 }
const changing = { namespace: 'changing', count: 4_000 }
type Collection = typeof small

export const bench: BenchDefinition = {
  title: 'framework: pods of 2-3 KB on one server; beside client-go, controller-runtime and client-node',
  async cases(stack) {
    const server = stack.use(await startMemoryServer())
    const cases = [
      ...syncCases(server, small),
      ...syncCases(server, large),
      ...memoryCases(server, large),
      ...eventCases(server, changing),
      ...reconcileCases(server, changing),
      ...traceCases(server, changing),
      ...queueCases(server),
      ...(await importCases(stack)),
      startCase(server),
    ].filter(({ name }) => wanted.test(name))
    await buildGoProgram()
    const load = stack.use(new Load())
    for (const { namespace, count } of [small, changing, large]) {
      if (!cases.some(({ uses }) => uses === namespace)) continue
      await load.run(server, { type: 'fill', access: server.access, namespace, count })
    }
    return cases
  },
}

interface FrameworkCase extends BenchCase {
  /** The namespace that has to be filled for it. */
  readonly uses?: string
}

interface Column {
  readonly name: string
  readonly unit: string
  readonly pick: (result: Result) => number
}

/** One column of two programs' rounds. */
function compare(
  column: Column,
  own: Rounds,
  other: { readonly name: string; readonly rounds: Rounds; readonly goal?: BenchGoal },
  uses?: string,
): FrameworkCase {
  const { name, unit, pick } = column
  return {
    name,
    unit,
    measure: own.column(pick),
    reference: { name: other.name, measure: other.rounds.column(pick) },
    ...(other.goal && { goal: other.goal }),
    ...(uses !== undefined && { uses }),
  }
}

const atMost = (bound: number): BenchGoal => ({ of: 'ratio', atMost: bound })
const atLeast = (bound: number): BenchGoal => ({ of: 'ratio', atLeast: bound })

const syncs = new Map<string, Rounds>()

/** Memory and time come from the same runs. */
function syncRounds(server: MemoryServer, program: Program, { namespace, count }: Collection): Rounds {
  const args = ['sync', namespace, String(count)]
  return syncs.getOrInsertComputed(
    `${program.name} ${namespace}`,
    () => new Rounds(() => runProgram(program, args, { kubeconfig: server.kubeconfig })),
  )
}

function syncCases(server: MemoryServer, collection: Collection): FrameworkCase[] {
  const { namespace, count } = collection
  const own = syncRounds(server, ours, collection)
  const peers = [
    { name: 'client-node', rounds: syncRounds(server, clientNode, collection), goal: atMost(0.333) },
    { name: 'client-go', rounds: syncRounds(server, goProgram, collection), goal: atMost(1) },
  ]
  const columns: Column[] = [
    { name: `sync of ${count}`, unit: 'ms', pick: ({ milliseconds }) => milliseconds },
    { name: `sync of ${count}, processor`, unit: 'ms CPU', pick: ({ cpu }) => cpu },
  ]
  return columns.flatMap(column => peers.map(peer => compare(column, own, peer, namespace)))
}

function memoryCases(server: MemoryServer, collection: Collection): FrameworkCase[] {
  const { namespace } = collection
  const own = syncRounds(server, ours, collection)
  const peers = [
    { name: 'client-go', rounds: syncRounds(server, goProgram, collection), goal: atMost(1.5) },
    { name: 'client-node', rounds: syncRounds(server, clientNode, collection) },
  ]
  const columns: Column[] = [
    { name: 'memory of a cached object, alive', unit: 'bytes', pick: ({ heap, count }) => heap! / count },
    {
      name: 'memory of a cached object, resident after the sync',
      unit: 'bytes',
      pick: ({ resident, count }) => resident! / count,
    },
  ]
  return columns.flatMap(column => peers.map(peer => compare(column, own, peer, namespace)))
}

const perCpu = ({ count, cpu }: Result): number => (count / cpu) * 1_000
const perSecond = ({ count, milliseconds }: Result): number => (count / milliseconds) * 1_000

/** Every pod is changed once while a program watches. */
function eventCases(server: MemoryServer, { namespace, count }: Collection): FrameworkCase[] {
  const rounds = (program: Program, task: string) =>
    new Rounds(() =>
      runProgram(program, [task, namespace, String(count)], {
        kubeconfig: server.kubeconfig,
        whenReady: () => patchPods(server.access, namespace, count),
      }),
    )
  const own = rounds(ours, 'events')
  const toHandler = { name: 'events to a handler', unit: 'events/CPU s', pick: perCpu }
  const toReconcile = { name: 'events through to reconcile', unit: 'events/CPU s', pick: perCpu }
  return [
    compare(
      toHandler,
      own,
      { name: 'client-node', rounds: rounds(clientNode, 'events'), goal: atLeast(3) },
      namespace,
    ),
    compare(
      toHandler,
      own,
      { name: 'client-go', rounds: rounds(goProgram, 'events'), goal: atLeast(1) },
      namespace,
    ),
    compare(
      toReconcile,
      rounds(ours, 'controller'),
      { name: 'controller-runtime', rounds: rounds(goProgram, 'controller'), goal: atLeast(1) },
      namespace,
    ),
  ]
}

/** Each reconcile reads its object from the cache and once from the server. */
function reconcileCases(server: MemoryServer, { namespace, count }: Collection): FrameworkCase[] {
  return [1, 10].flatMap(workers => {
    const rounds = (program: Program) =>
      new Rounds(() =>
        runProgram(program, ['reconciles', namespace, String(count), String(workers), 'live'], {
          kubeconfig: server.kubeconfig,
        }),
      )
    const own = rounds(ours)
    const peer = { name: 'controller-runtime', rounds: rounds(goProgram) }
    const name = `reconciles with one read each, ${workers} at a time`
    return [
      compare({ name, unit: 'reconciles/s', pick: perSecond }, own, peer, namespace),
      compare({ name, unit: 'reconciles/CPU s', pick: perCpu }, own, peer, namespace),
    ]
  })
}

/** The same reconciles with traces, beside those without, once the code of both is compiled. */
function traceCases({ kubeconfig }: MemoryServer, { namespace, count }: Collection): FrameworkCase[] {
  const rounds = (...how: string[]) =>
    new Rounds(() =>
      runProgram(ours, ['reconciles', namespace, String(count), '1', 'live', 'warm', ...how], { kubeconfig }),
    )
  const plain = rounds()
  return ['traced', 'sampled=0.01'].flatMap(how => {
    const name = `reconciles with one read each, ${how}`
    const own = rounds(how)
    const peer = { name: 'without traces', rounds: plain, goal: atLeast(0.95) }
    return [
      compare({ name, unit: 'reconciles/s', pick: perSecond }, own, peer, namespace),
      compare({ name, unit: 'reconciles/CPU s', pick: perCpu }, own, peer, namespace),
    ]
  })
}

function queueCases({ kubeconfig }: MemoryServer): FrameworkCase[] {
  const rounds = (program: Program, ...args: string[]) =>
    new Rounds(() => runProgram(program, ['queue', ...args], { kubeconfig }))
  const column = { name: 'work queue: add, get, done', unit: 'items/CPU s', pick: perCpu }
  const own = rounds(ours, '1000', '2000')
  return [
    compare(column, own, {
      name: 'client-go',
      rounds: rounds(goProgram, 'plain', '1000', '2000'),
      goal: atLeast(1),
    }),
    compare(column, own, {
      name: "controller-runtime's priority queue",
      rounds: rounds(goProgram, 'priority', '1000', '200'),
    }),
  ]
}

/** With what reads kubeconfigs and opens connections, which client-node cannot be had without; and what runs without sockets. */
async function importCases(stack: AsyncDisposableStack): Promise<FrameworkCase[]> {
  const programs = await importPrograms(stack)
  const rounds = (program: Program) => new Rounds(() => runProgram(program, []))
  const [whole, core, peer] = [rounds(programs.whole), rounds(programs.core), rounds(programs.clientNode)]
  const time = { unit: 'ms CPU', pick: ({ cpu }: Result) => cpu }
  const memory = { unit: 'MB', pick: ({ resident }: Result) => resident! / 1e6 }
  const name = 'client-node'
  return [
    compare({ name: 'importing the client', ...time }, whole, { name, rounds: peer, goal: atMost(0.1) }),
    compare({ name: 'importing the client without sockets', ...time }, core, { name, rounds: peer }),
    compare({ name: 'importing the client, resident', ...memory }, whole, {
      name,
      rounds: peer,
      goal: atMost(0.333),
    }),
  ]
}

/** In a process that has loaded the package and done nothing yet. */
function startCase({ kubeconfig }: MemoryServer): FrameworkCase {
  return {
    name: 'startCluster() until it answers',
    unit: 'ms',
    measure: async () => (await runProgram(startsCluster, [], { kubeconfig })).milliseconds,
    reference: {
      name: 'etcd + kube-apiserver',
      measure: async () => {
        await using server = await startKubernetes()
        return server.startMilliseconds
      },
    },
    goal: atMost(0.0333),
  }
}
