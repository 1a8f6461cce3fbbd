import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import type { Env } from '@coxswain/kit'
import type { ObjectClient, Readable } from './client.ts'
import { ClientError } from './errors.ts'

const restartable: ReadonlySet<string> = new Set(['DaemonSet', 'Deployment', 'StatefulSet'])

/**
 * Replaces the Pods of a Deployment, DaemonSet or StatefulSet by a rollout, as `kubectl rollout restart` does.
 * @throws ClientError `BadOptions` for another kind, or a Deployment that is paused
 */
export async function restart<K extends Kind>(
  client: Pick<ObjectClient, 'get' | 'patch'>,
  env: Pick<Env, 'clock'>,
  { kind, key }: { readonly kind: K; readonly key: ObjectKey },
): Promise<Readable<K>> {
  if (kind.group !== 'apps' || !restartable.has(kind.kind))
    throw new ClientError('BadOptions', `${kind.kind}: restarting is not supported`)
  const object = (await client.get(kind, key)) as
    | { readonly spec?: { readonly paused?: boolean } }
    | undefined
  if (object?.spec?.paused)
    throw new ClientError('BadOptions', "can't restart paused deployment (run rollout resume first)")
  const time = new Date(env.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  const annotations = { 'kubectl.kubernetes.io/restartedAt': time }
  return client.patch(kind, key, { spec: { template: { metadata: { annotations } } } }, { type: 'merge' })
}
