import { Secret } from '@coxswain/api/core/v1'
import type { DeepReadonly, ObjectKey } from '@coxswain/apimachinery/meta'
import { parseTime } from '@coxswain/apimachinery/time'
import { decodeBase64Text } from '@coxswain/kit'
import type { OperatorClient, Predicate } from '@coxswain/runtime'

export const tokenNamespace = 'kube-system'
const prefix = 'bootstrap-token-'

export interface BootstrapToken {
  readonly uid: string
  readonly id: string
  readonly secret: string
  readonly maySign: boolean
  /** In milliseconds; undefined if it never expires. An invalid expiration has passed. */
  readonly expiresAt: number | undefined
}

/** Secrets that may be bootstrap tokens, by name: their content is not watched. */
export const mayBeToken: Predicate<Secret> = ({ object }) =>
  object.metadata.namespace === tokenNamespace && object.metadata.name.startsWith(prefix)

/** Undefined if the secret does not exist or is not a bootstrap token. */
export async function readToken(client: OperatorClient, key: ObjectKey): Promise<BootstrapToken | undefined> {
  const secret = await client.get(Secret, key, { cached: false })
  return secret && tokenOf(secret)
}

export async function listTokens(client: OperatorClient): Promise<BootstrapToken[]> {
  const { items } = await client.list(Secret, { namespace: tokenNamespace, cached: false })
  return items.flatMap(secret => tokenOf(secret) ?? [])
}

function tokenOf({ metadata, type, data = {} }: DeepReadonly<Secret>): BootstrapToken | undefined {
  if (type !== 'bootstrap.kubernetes.io/token') return undefined
  const read = (name: string) => decodeBase64Text(data[name] ?? '') ?? ''
  const expiration = read('expiration')
  const id = read('token-id')
  const secret = read('token-secret')
  const isWhole = secret !== '' && metadata.name === prefix + id
  return {
    uid: metadata.uid,
    id,
    secret,
    maySign: isWhole && read('usage-bootstrap-signing') === 'true',
    expiresAt: expiration === '' ? undefined : momentOf(expiration),
  }
}

/** An invalid time has passed. */
function momentOf(time: string): number {
  try {
    return parseTime(time).milliseconds
  } catch {
    return 0
  }
}
