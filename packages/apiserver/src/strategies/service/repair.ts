import { AsyncQueue, maxOf } from '@coxswain/kit'
import type { Transaction } from '@coxswain/storage'
import type { CacheWatcher } from '../../cache/resource-cache.ts'
import { encodeStored, type StoredObject } from '../../cache/stored-object.ts'
import type { JsonObject } from '../../json.ts'
import type { ServerState } from '../../request/context.ts'
import { objectOf, recordOf, textOf } from '../pod/validation/reading.ts'
import {
  addressManager,
  addressPrefix,
  canonicalAddress,
  createIPAddress,
  createPortEntry,
  managedByLabel,
  nodePortPrefix,
  portKey,
} from './pools.ts'
import { clusterIPsOf, isExternalName, isHeadless, needsHealthCheck, nodePortsOf, specOf } from './spec.ts'

const servicePrefix = '/core/services/'
/** Transactions under way at once. */
const batchSize = 100

/** An entry of a pool that a service says it has. */
interface Entry {
  readonly object: JsonObject
  readonly service: StoredObject
}

/**
 * Makes the entries of addresses and node ports agree with the services there are. Writes of services keep them in one
 * transaction, so this only heals what somebody did by hand, or a store that an older server wrote.
 */
export async function repairAllocations(state: ServerState): Promise<void> {
  const wanted = new Map<string, Entry>()
  for (const service of state.cache.resource(servicePrefix).list())
    for (const [key, object] of entriesOf(state, service)) wanted.set(key, { object, service })

  const transactions: Transaction[] = []
  for (const [key, entry] of wanted) {
    const prefix = key.startsWith(addressPrefix) ? addressPrefix : nodePortPrefix
    if (!state.cache.resource(prefix).get(key)) transactions.push(createEntry(key, entry))
  }
  for (const stored of state.cache.resource(addressPrefix).list()) {
    if (isManaged(stored.parse()) && !wanted.has(stored.key)) transactions.push(dropEntry(stored))
  }
  for (const stored of state.cache.resource(nodePortPrefix).list())
    if (!wanted.has(stored.key)) transactions.push(dropEntry(stored))

  for (let at = 0; at < transactions.length; at += batchSize) {
    const batch = transactions.slice(at, at + batchSize)
    const results = await Promise.all(batch.map(transaction => state.store.transact(transaction)))
    await state.cache.waitFor(maxOf(results.map(({ revision }) => revision)))
  }
}

/** Puts an IPAddress back that is deleted while its service has the address. Resolves once `signal` aborts. */
export async function keepAddresses(state: ServerState, signal: AbortSignal): Promise<void> {
  for await (const deleted of watchDeletions(state, [addressPrefix], signal)) {
    const transaction = findHolder(state, deleted)
    if (transaction) await state.store.transact(transaction)
  }
}

/** Objects under `prefixes` that go, from now on until `signal` aborts. */
export async function* watchDeletions(
  state: ServerState,
  prefixes: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<StoredObject, void, undefined> {
  const queue = new AsyncQueue<StoredObject>()
  const watcher: CacheWatcher = {
    namespace: '',
    onEvent: ({ type, object }) => void (type === 'DELETED' && queue.push(object)),
    onEnd: () => queue.end(),
  }
  const stop = () => queue.end()
  const caches = prefixes.map(prefix => state.cache.resource(prefix))
  for (const cache of caches) cache.addWatcher(watcher)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    for await (const deleted of queue) {
      if (signal.aborted) return
      yield deleted
    }
  } finally {
    for (const cache of caches) cache.removeWatcher(watcher)
    signal.removeEventListener('abort', stop)
  }
}

function findHolder(state: ServerState, deleted: StoredObject): Transaction | undefined {
  const object = deleted.parse()
  const { namespace, name } = objectOf(objectOf(object.spec).parentRef)
  const key = `${servicePrefix}${textOf(namespace)}/${textOf(name)}`
  const service = isManaged(object) ? state.cache.resource(servicePrefix).get(key) : undefined
  const entry = service && entriesOf(state, service).get(deleted.key)
  return entry && createEntry(deleted.key, { object: entry, service })
}

const isManaged = (address: JsonObject): boolean =>
  recordOf(objectOf(address.metadata).labels)[managedByLabel] === addressManager

/** Only if nobody has taken it, and the service is still as it was. */
function createEntry(key: string, { object, service }: Entry): Transaction {
  return {
    conditions: [
      { key, modRevision: 0 },
      { key: service.key, modRevision: service.revision },
    ],
    operations: [{ type: 'put', key, value: encodeStored(object) }],
  }
}

function dropEntry({ key, revision }: StoredObject): Transaction {
  return { conditions: [{ key, modRevision: revision }], operations: [{ type: 'delete', key }] }
}

/** What a service has of the pools, by key. */
function entriesOf({ env }: ServerState, service: StoredObject): Map<string, JsonObject> {
  const entries = new Map<string, JsonObject>()
  const spec = specOf(service.parse())
  if (!isExternalName(spec) && !isHeadless(spec)) {
    for (const ip of clusterIPsOf(spec).map(canonicalAddress))
      entries.set(addressPrefix + ip, createIPAddress(env, ip, service))
  }
  const check = needsHealthCheck(spec) && spec.healthCheckNodePort ? [spec.healthCheckNodePort] : []
  for (const port of [...nodePortsOf(spec), ...check])
    entries.set(portKey(port), createPortEntry(port, service))
  return entries
}
