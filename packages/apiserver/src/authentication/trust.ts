import { formatTime, isObject, type JsonObject } from '@coxswain/apimachinery'
import { encodeStored } from '../cache/stored-object.ts'
import { watchDeletions } from '../post-start/repair-allocations.ts'
import type { ServerState } from '../request/context.ts'

/** What servers behind this one need to know to tell who is who: PEM of CAs, and JSON lists of header names. */
export type AuthenticationTrust = Readonly<Record<string, string>>

const prefix = '/core/configmaps/'
const namespace = 'kube-system'
const name = 'extension-apiserver-authentication'
const key = `${prefix}${namespace}/${name}`
const attempts = 10

/**
 * Publishes it as the ConfigMap `extension-apiserver-authentication`, and puts it back when somebody deletes it. CAs of
 * other servers on the same store stay in it. Resolves once `signal` aborts.
 */
export async function keepAuthenticationTrust(
  state: ServerState,
  trust: AuthenticationTrust,
  signal: AbortSignal,
): Promise<void> {
  await publish(state, trust)
  for await (const deleted of watchDeletions(state, [prefix], signal))
    if (deleted.key === key) await publish(state, trust)
}

async function publish(state: ServerState, trust: AuthenticationTrust): Promise<void> {
  const { env, store, cache } = state
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
  env.log.warn('others keep writing the ConfigMap with the trusted CAs', { namespace, name })
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Bundles of certificates grow together; everything else is replaced. */
function merge(before: Readonly<Record<string, string>>, trust: AuthenticationTrust): Record<string, string> {
  const data: Record<string, string> = { ...before }
  for (const [member, text] of Object.entries(trust)) {
    const blocks = [before[member] ?? '', text].flatMap(bundle => bundle.match(block) ?? [])
    data[member] = blocks.length > 0 ? `${[...new Set(blocks)].join('\n')}\n` : text
  }
  return data
}
