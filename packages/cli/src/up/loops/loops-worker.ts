/**
 * The thread of `coxswain up` that controllers, scheduler and simulated nodes run on. See loops-thread.ts for the other end.
 * @module
 */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type Client, createClient } from '@coxswain/client'
import { aborted, createLogger, createRealEnv, type LogRecord, TaskGroup } from '@coxswain/kit'
import type { Manager, Operator } from '@coxswain/runtime'
import type { Transport } from '@coxswain/wire'
import { createThreadTransport, serveThread } from '@coxswain/wire/node'
import type { SimulatedNodesOptions } from '../nodes/nodes.ts'
import type { LoopsCommand, LoopsMessage, LoopsModule, LoopsOptions } from './loops-messages.ts'
import { untilPodsCanBeCreated } from './pods-can-be-created.ts'
import type { ThreadPreparation } from './prepare-thread.ts'
import { runInTurns } from './run-in-turns.ts'

const { hasSimulatedNodes, isGeneric } = workerData as ThreadPreparation
const loading: Promise<LoopsModule> = isGeneric
  ? import('./generic-control-loops.ts')
  : import('./control-loops.ts')
const stop = new AbortController()
const post = (message: LoopsMessage, ports: MessagePort[] = []) => parentPort?.postMessage(message, ports)
const env = createRealEnv(createLogger(sendRecord))
const connections = new AsyncDisposableStack()
const group = new TaskGroup(stop.signal)
let options: LoopsOptions

/** Runs until the other end says stop. */
export async function runLoops(): Promise<void> {
  options = await receiveOptions()
  const client = connect('kube-controller-manager/0.1')
  const leading = await startControlLoops(client)
  const nodes = options.simulatedNodes && (await startNodes(options.simulatedNodes))
  await Promise.race([
    Promise.all(leading).then(() =>
      untilPodsCanBeCreated(client, env, { controllers: options.controllers, signal: group.signal }),
    ),
    aborted(group.signal),
  ])
  post({ started: true, ...(nodes && { nodes }) }, nodes && [nodes])
  await group.join()
  await connections.disposeAsync()
  parentPort?.close()
}

/** The first message of the thread; code is preloaded meanwhile. */
async function receiveOptions(): Promise<LoopsOptions> {
  if (hasSimulatedNodes) import('../nodes/nodes.ts').catch(() => {})
  return await new Promise(resolve => {
    parentPort?.on('message', (command: LoopsCommand) => {
      if (command === 'stop') stop.abort()
      else resolve(command.start)
    })
  })
}

/** Returns a promise for each that resolves when it runs. */
async function startControlLoops(client: Client): Promise<Promise<void>[]> {
  const served = options.resources && new Set(options.resources)
  const serves = (resource: string) => served?.has(resource) ?? true
  const { createLoops } = await loading
  const operators = await createLoops({ ...options, serves, signToken }, { env, client, group })
  return operators.map(operator => lead(operator, connect(`${operator.name}/0.1`)))
}

/** Resolves when the operator leads, or is ready to lead where another server may be leading. */
function lead(operator: Operator, client: Client): Promise<void> {
  const { leaderElection, isShared } = options
  return new Promise(resolve => {
    const onManager = (manager: Manager) => void (isShared ? manager.ready : manager.elected).then(resolve)
    group.spawn(signal => {
      const common = { client, env, hostname: hostname(), signal }
      return runInTurns(operator, { ...common, ...(leaderElection && { leaderElection }) }, onManager)
    })
  })
}

/** Returns the port through which the server reaches the nodes. */
async function startNodes(simulated: SimulatedNodesOptions): Promise<MessagePort> {
  const { startSimulatedNodes } = await import('../nodes/nodes.ts')
  const nodes = startSimulatedNodes(simulated, { connect: connectTransport, env, group })
  const { port1, port2 } = new MessageChannel()
  serveThread(port1, {
    async send(request) {
      const [, node = '', path] = /^\/([^/]+)(.*)$/.exec(request.path) ?? []
      return await nodes.ask(node, { ...request, path: path || '/' })
    },
    async [Symbol.asyncDispose]() {},
  })
  stop.signal.addEventListener('abort', () => port1.close())
  return port2
}

function connectTransport(): Transport {
  const { port1, port2 } = new MessageChannel()
  post({ connect: port2 }, [port2])
  return connections.use(createThreadTransport(port1))
}

function connect(userAgent: string): Client {
  return createClient({
    env,
    userAgent,
    transport: connectTransport(),
    // The garbage collector watches deprecated kinds too: their warnings are not actionable.
    onWarning: ({ text }, { path }) => env.log.debug('server warning', { text, path }),
  })
}

/** The server's code is loaded for the first legacy token, which is rarely used. */
async function signToken(claims: Readonly<Record<string, string>>): Promise<string> {
  const [{ signJwt }, { readSigningKey }] = await Promise.all([
    import('@coxswain/apiserver'),
    import('@coxswain/apiserver/node'),
  ])
  return signJwt(claims, readSigningKey(readFileSync(options.signingKeyFile, 'utf8')))
}

function sendRecord(record: LogRecord): void {
  if (record.level === 'debug' && options.logLevel !== 'debug') return
  try {
    post({ log: record })
  } catch {
    // A value that cannot be cloned to another thread, such as a function.
    const fields = Object.fromEntries(
      Object.entries(record.fields).map(([name, value]) => [name, String(value)]),
    )
    post({ log: { ...record, fields } })
  }
}
