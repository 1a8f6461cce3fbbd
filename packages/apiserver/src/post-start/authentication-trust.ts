import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import type { AuthenticationTrust } from '../authentication/authentication.ts'
import { ControlLoop } from '../cache/control-loop.ts'
import { encodeStored } from '../cache/stored-object.ts'
import type { StartPorts } from './ports.ts'

const prefix = '/core/configmaps/'
const namespace = 'kube-system'
const name = 'extension-apiserver-authentication'
const key = `${prefix}${namespace}/${name}`
const attempts = 10

/**
 * Publishes the ConfigMap `extension-apiserver-authentication`, and recreates it when it is deleted. CAs of other servers
 * on the same store stay in it.
 */
export function createTrustLoop(ports: StartPorts, trust: AuthenticationTrust): ControlLoop {
  return new ControlLoop(ports, {
    name: 'authentication-trust',
    prefixes: [prefix],
    keysOf: ({ type, object }) => (type === 'DELETED' && object.key === key ? [name] : []),
    initialKeys: () => [name],
    reconcile: () => publish(ports, trust),
  })
}

async function publish(ports: StartPorts, trust: AuthenticationTrust): Promise<void> {
  const { env, store, cache } = ports
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stored = cache.resource(prefix).get(key)
    const present = stored?.parse()
    const before = isObject(present?.data) ? (present.data as Record<string, string>) : {}
    const data = merge(before, trust)
    if (present && Object.entries(data).every(([member, text]) => before[member] === text)) return
    const metadata = present
      ? (present.metadata as JsonObject)
      : { name, namespace, uid: env.random.uuid(), creationTimestamp: formatTime(env.clock.now()) }
    const value = encodeStored({ ...present, kind: 'ConfigMap', apiVersion: 'v1', metadata, data })
    const result = await store.transact({
      conditions: [{ key, modRevision: stored?.revision ?? 0 }],
      operations: [{ type: 'put', key, value }],
    })
    await cache.waitFor(result.revision)
    if (result.committed) return
  }
  throw new Error(`the ConfigMap ${namespace}/${name} kept changing`)
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Certificate bundles are merged; everything else is replaced. */
function merge(before: Readonly<Record<string, string>>, trust: AuthenticationTrust): Record<string, string> {
  const data: Record<string, string> = { ...before }
  for (const [member, text] of Object.entries(trust)) {
    const blocks = [before[member] ?? '', text].flatMap(bundle => bundle.match(block) ?? [])
    data[member] = blocks.length > 0 ? `${[...new Set(blocks)].join('\n')}\n` : text
  }
  return data
}
