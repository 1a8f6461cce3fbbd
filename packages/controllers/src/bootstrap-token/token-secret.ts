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
  /** In milliseconds; undefined: never. What cannot be read ended long ago. */
  readonly expiresAt: number | undefined
}

/** Secrets that may be bootstrap tokens, by their names: what they hold is not watched. */
export const mayBeToken: Predicate<Secret> = ({ object }) =>
  object.metadata.namespace === tokenNamespace && object.metadata.name.startsWith(prefix)

/** Undefined when there is none, or it is no token. */
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

/** A time that cannot be read has passed. */
function momentOf(time: string): number {
  try {
    return parseTime(time).milliseconds
  } catch {
    return 0
  }
}
