import { ConfigMap, ServiceAccount } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { type Client, isClientError, waitFor } from '@coxswain/client'
import type { ControllerName } from '@coxswain/controllers/names'
import type { Env } from '@coxswain/kit'

/** Milliseconds between warnings. */
const patience = 10_000

export interface PodsCanBeCreatedOptions {
  /** The running controllers: only objects that they create are waited for. */
  readonly controllers: readonly ControllerName[]
  readonly signal: AbortSignal
}

/**
 * Resolves when Pods can be created in the namespace `default`, or when `signal` aborts: the ServiceAccount admission plug-in
 * rejects Pods of a namespace without its account, and no Pod starts without the CA's certificate. There is no timeout, because a
 * server that reports ready must accept a Pod; a log line says what is missing meanwhile.
 */
export async function untilPodsCanBeCreated(
  client: Pick<Client, 'list' | 'watch'>,
  env: Env,
  { controllers, signal }: PodsCanBeCreatedOptions,
): Promise<void> {
  const namespace = 'default'
  const needs: readonly (readonly [ControllerName, { readonly kind: Kind; readonly key: ObjectKey }])[] = [
    ['serviceaccount-controller', { kind: ServiceAccount, key: { namespace, name: 'default' } }],
    [
      'root-ca-certificate-publisher-controller',
      { kind: ConfigMap, key: { namespace, name: 'kube-root-ca.crt' } },
    ],
  ]
  for (const [controller, target] of needs) {
    let isThere = !controllers.includes(controller)
    while (!isThere && !signal.aborted) {
      try {
        await waitFor(client, env, target, object => object !== undefined, { signal, timeout: patience })
        isThere = true
      } catch (error) {
        if (signal.aborted) return
        const { kind, key } = target
        const missing = `${kind.kind} ${key.namespace}/${key.name}`
        env.log.warn('Pods cannot be created yet', { missing, error })
        // Any other error is immediate.
        if (!isClientError(error, 'WaitTimeout')) await env.clock.sleep(patience, { signal }).catch(() => {})
      }
    }
  }
}
