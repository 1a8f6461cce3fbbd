import type { Operation } from '@coxswain/storage'
import { encodeStored } from '../../cache/stored-object.ts'
import type { JsonObject } from '../../json.ts'
import type { ServerState } from '../../request/context.ts'
import { objectOf, recordOf } from '../pod/validation/reading.ts'
import {
  addressManager,
  addressPrefix,
  canonicalAddress,
  createIPAddress,
  createPortEntry,
  nodePortPrefix,
  portKey,
} from './pools.ts'
import { clusterIPsOf, isExternalName, isHeadless, needsHealthCheck, nodePortsOf, specOf } from './spec.ts'

const managedBy = 'ipaddress.kubernetes.io/managed-by'
/** Keys in one transaction. */
const batchSize = 100

/**
 * Makes the entries of addresses and node ports agree with the services there are. Writes of services keep them in one
 * transaction, so this only heals what somebody did by hand, or a store that an older server wrote.
 */
export async function repairAllocations(state: ServerState): Promise<void> {
  const wanted = wantedEntries(state)
  const operations: Operation[] = []
  for (const [key, object] of wanted) {
    const prefix = key.startsWith(addressPrefix) ? addressPrefix : nodePortPrefix
    if (!state.cache.resource(prefix).get(key))
      operations.push({ type: 'put', key, value: encodeStored(object) })
  }
  for (const stored of state.cache.resource(addressPrefix).list()) {
    const labels = recordOf(objectOf(stored.parse().metadata).labels)
    if (labels[managedBy] === addressManager && !wanted.has(stored.key))
      operations.push({ type: 'delete', key: stored.key })
  }
  for (const stored of state.cache.resource(nodePortPrefix).list())
    if (!wanted.has(stored.key)) operations.push({ type: 'delete', key: stored.key })

  for (let at = 0; at < operations.length; at += batchSize) {
    const result = await state.store.transact({ operations: operations.slice(at, at + batchSize) })
    await state.cache.waitFor(result.revision)
  }
}

function wantedEntries(state: ServerState): Map<string, JsonObject> {
  const wanted = new Map<string, JsonObject>()
  for (const stored of state.cache.resource('/core/services/').list()) {
    const spec = specOf(stored.parse())
    const owner = { namespace: stored.namespace, name: stored.name }
    if (!isExternalName(spec) && !isHeadless(spec)) {
      for (const ip of clusterIPsOf(spec).map(canonicalAddress))
        wanted.set(addressPrefix + ip, createIPAddress(state.env, ip, owner))
    }
    const check = needsHealthCheck(spec) && spec.healthCheckNodePort ? [spec.healthCheckNodePort] : []
    for (const port of [...nodePortsOf(spec), ...check])
      wanted.set(portKey(port), createPortEntry(port, owner))
  }
  return wanted
}
