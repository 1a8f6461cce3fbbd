import { ConfigMap, Secret } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { encodeBase64Url, encodeText, minOf } from '@coxswain/kit'
import {
  defineOperator,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { listTokens, mayBeToken } from './token-secret.ts'

/** HMAC with SHA-256. */
export type Hmac = (key: string, text: string) => Uint8Array

const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' }
const prefix = 'jws-kubeconfig-'

/**
 * Signs the public kubeconfig in cluster-info with every signing bootstrap token, so that a client with a token can verify it.
 */
export function createBootstrapSignerController(hmac: Hmac): Operator {
  return defineOperator('bootstrap-signer-controller', operator => {
    operator
      .controller('bootstrap-signer')
      .for(ConfigMap, {
        predicates: [
          ({ object: { metadata } }) =>
            metadata.namespace === clusterInfo.namespace && metadata.name === clusterInfo.name,
        ],
      })
      .watches(Secret, () => [clusterInfo], { predicates: [mayBeToken] })
      .reconcile(context => reconcile(context, hmac))
  })
}

async function reconcile({ client, key, clock }: ReconcileContext, hmac: Hmac): Promise<ReconcileResult> {
  const info = await client.get(ConfigMap, key)
  const content = info?.data?.kubeconfig
  if (!info || content === undefined) return
  const now = clock.now()
  const tokens = (await listTokens(client)).filter(
    ({ maySign, expiresAt = Number.POSITIVE_INFINITY }) => maySign && expiresAt > now,
  )
  const others = Object.entries(info.data ?? {}).filter(([name]) => !name.startsWith(prefix))
  const signatures = tokens.map(({ id, secret }) => [prefix + id, sign(hmac, content, id, secret)])
  const data = Object.fromEntries([...others, ...signatures]) as Record<string, string>
  if (!deepEqual(data, info.data ?? {})) await client.update(ConfigMap, { ...info, data })
  const next = minOf(tokens.map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt))
  return Number.isFinite(next) ? requeueAfter(next - now) : undefined
}

/** A detached JSON Web Signature. */
function sign(hmac: Hmac, content: string, id: string, secret: string): string {
  const header = encodeBase64Url(encodeText(JSON.stringify({ alg: 'HS256', kid: id })))
  const payload = encodeBase64Url(encodeText(content))
  return `${header}..${encodeBase64Url(hmac(secret, `${header}.${payload}`))}`
}
