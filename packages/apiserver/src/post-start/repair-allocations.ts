import type { Service } from '@coxswain/api/core/v1'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { maxOf } from '@coxswain/kit'
import type { Transaction } from '@coxswain/storage'
import type { Decoded } from '@coxswain/strategies'
import { objectOf, recordOf, textOf } from '@coxswain/strategies'
import {
  addressManager,
  addressPrefix,
  canonicalAddress,
  clusterIPsOf,
  createIPAddress,
  createPortEntry,
  isExternalName,
  isHeadless,
  managedByLabel,
  needsHealthCheck,
  nodePortPrefix,
  nodePortsOf,
  portKey,
  specOf,
} from '@coxswain/strategies/service'
import { ControlLoop } from '../cache/control-loop.ts'
import { encodeStored, type StoredObject } from '../cache/stored-object.ts'
import type { StartPorts } from './ports.ts'

const servicePrefix = '/core/services/'
/** Concurrent transactions. */
const batchSize = 100

/** A pool entry that a Service claims. */
interface Entry {
  readonly object: JsonObject
  readonly service: StoredObject
}

/**
 * Makes the IPAddresses and node port entries match the existing Services. Writes of Services keep them consistent in one
 * transaction, so this only repairs manual changes, or a store written by an older server.
 */
export async function repairAllocations(ports: StartPorts): Promise<void> {
  const wanted = new Map<string, Entry>()
  for (const service of ports.cache.resource(servicePrefix).list())
    for (const [key, object] of entriesOf(ports, service)) wanted.set(key, { object, service })

  const transactions: Transaction[] = []
  for (const [key, entry] of wanted) {
    const prefix = key.startsWith(addressPrefix) ? addressPrefix : nodePortPrefix
    if (!ports.cache.resource(prefix).get(key)) transactions.push(createEntry(key, entry))
  }
  for (const stored of ports.cache.resource(addressPrefix).list()) {
    if (isManaged(stored.parse()) && !wanted.has(stored.key)) transactions.push(dropEntry(stored))
  }
  for (const stored of ports.cache.resource(nodePortPrefix).list())
    if (!wanted.has(stored.key)) transactions.push(dropEntry(stored))

  for (let at = 0; at < transactions.length; at += batchSize) {
    const batch = transactions.slice(at, at + batchSize)
    const results = await Promise.all(batch.map(transaction => ports.store.transact(transaction)))
    await ports.cache.waitFor(maxOf(results.map(({ revision }) => revision)))
  }
}

/** Recreates an IPAddress that is deleted while its Service has the address. */
export function createAddressLoop(ports: StartPorts): ControlLoop {
  /** Deleted addresses that are not yet checked, by key. */
  const deleted = new Map<string, StoredObject>()
  return new ControlLoop(ports, {
    name: 'service-addresses',
    prefixes: [addressPrefix],
    keysOf: ({ type, object }) => {
      if (type !== 'DELETED') return []
      deleted.set(object.key, object)
      return [object.key]
    },
    initialKeys: () => [],
    reconcile: async key => {
      const address = deleted.get(key)
      const transaction = address && findHolder(ports, address)
      if (transaction) await ports.store.transact(transaction)
      if (deleted.get(key) === address) deleted.delete(key)
    },
  })
}

function findHolder(ports: StartPorts, deleted: StoredObject): Transaction | undefined {
  const object = deleted.parse()
  const { namespace, name } = objectOf(objectOf(object.spec).parentRef)
  const key = `${servicePrefix}${textOf(namespace)}/${textOf(name)}`
  const service = isManaged(object) ? ports.cache.resource(servicePrefix).get(key) : undefined
  const entry = service && entriesOf(ports, service).get(deleted.key)
  return entry && createEntry(deleted.key, { object: entry, service })
}

const isManaged = (address: JsonObject): boolean =>
  recordOf(objectOf(address.metadata).labels)[managedByLabel] === addressManager

/** Only if the entry is still free, and the Service unchanged. */
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

/** The pool entries of a Service, by key. */
function entriesOf({ env }: StartPorts, service: StoredObject): Map<string, JsonObject> {
  const entries = new Map<string, JsonObject>()
  const spec = specOf(service.parse() as Decoded<Service>)
  if (!isExternalName(spec) && !isHeadless(spec)) {
    for (const ip of clusterIPsOf(spec).map(canonicalAddress))
      entries.set(addressPrefix + ip, createIPAddress(env, ip, service))
  }
  const check = needsHealthCheck(spec) && spec.healthCheckNodePort ? [spec.healthCheckNodePort] : []
  for (const port of [...nodePortsOf(spec), ...check])
    entries.set(portKey(port), createPortEntry(port, service))
  return entries
}
