import { ConfigMap, Pod, Secret, ServiceAccount } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { defineOperator, type Operator, type OperatorClient, type TaskContext } from '@coxswain/runtime'
import { secretNamesOf } from './pod-secrets.ts'

/** Options of {@link createLegacyTokenCleaner}. */
export interface LegacyTokenCleanerOptions {
  /** Milliseconds without use after which a token is invalidated, and after that until it is deleted. @default a year */
  readonly cleanUpPeriod?: number
}

const day = 86_400_000
const tokenType = 'kubernetes.io/service-account-token'
const accountName = 'kubernetes.io/service-account.name'
const accountUid = 'kubernetes.io/service-account.uid'
/** The API server sets it when a token is used. */
const lastUsed = 'kubernetes.io/legacy-token-last-used'
/** The API server rejects tokens with this label. */
const invalidSince = 'kubernetes.io/legacy-token-invalid-since'
/** The API server records there since when it tracks usage. */
const tracking = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' }

type SecretView = DeepReadonly<Secret>

/** Invalidates auto-generated legacy tokens that are not used, and later deletes them. Runs once a day. */
export function createLegacyTokenCleaner(options: LegacyTokenCleanerOptions = {}): Operator {
  const { cleanUpPeriod = 365 * day } = options
  return defineOperator('legacy-serviceaccount-token-cleaner-controller', operator => {
    operator.task('legacy-serviceaccount-token-cleaner', async context => {
      const { env, signal } = context
      while (!signal.aborted) {
        try {
          await clean(context, cleanUpPeriod)
        } catch (error) {
          if (signal.aborted) return
          env.log.warn('failed to clean up legacy tokens', { error })
        }
        await env.clock.sleep(day, { signal })
      }
    })
  })
}

const dateOf = (time: number) => formatTime(time).slice(0, 10)
const isDate = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

async function clean({ client, env }: TaskContext, period: number): Promise<void> {
  const now = env.clock.now()
  const { since } = (await client.get(ConfigMap, tracking, { cached: false }))?.data ?? {}
  // Usage on the first day may be earlier than the start of tracking.
  if (!isDate(since) || now < Date.parse(since) + day + period) return
  const fields = { type: tokenType }
  const { items } = await client.list(Secret, { fields, cached: false })
  for (const secret of items) {
    if (!(await isIdle(client, secret, now - period))) continue
    try {
      await retire(client, secret, now, dateOf(now - period))
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }
}

/** Whether it is an auto-generated legacy token that has not been used since. */
async function isIdle(client: OperatorClient, secret: SecretView, before: number): Promise<boolean> {
  const { namespace = '', name, labels = {}, annotations = {}, creationTimestamp } = secret.metadata
  if (secret.metadata.deletionTimestamp || Date.parse(creationTimestamp) >= before) return false
  const used = labels[lastUsed]
  if (used !== undefined && (!isDate(used) || used >= dateOf(before))) return false
  const account = await client.get(ServiceAccount, { namespace, name: annotations[accountName] ?? '' })
  const uid = annotations[accountUid]
  if (!account || (uid && uid !== account.metadata.uid)) return false
  if (!account.secrets?.some(reference => reference.name === name)) return false
  const { items: pods } = await client.list(Pod, { namespace })
  return !pods.some(pod => secretNamesOf(pod).includes(name))
}

async function retire(
  client: OperatorClient,
  secret: SecretView,
  now: number,
  before: string,
): Promise<void> {
  const { namespace = '', name, uid, labels, resourceVersion = '' } = secret.metadata
  const since = labels?.[invalidSince]
  if (!isDate(since)) {
    const metadata = { uid, labels: { [invalidSince]: dateOf(now) } }
    await client.patch(Secret, { namespace, name }, { metadata }, { type: 'merge' })
  } else if (since < before) {
    await client.delete(Secret, { namespace, name }, { preconditions: { uid, resourceVersion } })
  }
}
