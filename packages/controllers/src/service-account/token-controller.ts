import { Secret, ServiceAccount } from '@coxswain/api/core/v1'
import type { KindOf } from '@coxswain/apimachinery/kinds'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { encodeBase64Text } from '@coxswain/kit'
import { defineOperator, type Operator } from '@coxswain/runtime'

/** Options of {@link createTokenController}. */
export interface TokenControllerOptions {
  /** Signs the claims of a token that does not expire. */
  readonly sign: (claims: Readonly<Record<string, string>>) => string | Promise<string>
  /** PEM of the CA that signed the server's certificate. */
  readonly rootCa: string
}

const secretType = 'kubernetes.io/service-account-token'
const nameAnnotation = 'kubernetes.io/service-account.name'
const uidAnnotation = 'kubernetes.io/service-account.uid'
const claimPrefix = 'kubernetes.io/serviceaccount'

/**
 * Populates secrets of the type `kubernetes.io/service-account-token` with a token of the account that their annotation names,
 * and deletes them when the account is deleted or recreated.
 */
export function createTokenController({ sign, rootCa }: TokenControllerOptions): Operator {
  return defineOperator('serviceaccount-token-controller', operator => {
    operator
      .controller('serviceaccount-token')
      .for(Secret)
      .watches(ServiceAccount, ({ metadata }, lookup) =>
        lookup
          .list(Secret, { namespace: metadata.namespace! })
          .filter(secret => accountOf(secret) === metadata.name)
          .map(secret => ({ namespace: metadata.namespace!, name: secret.metadata.name })),
      )
      .reconcile(async ({ key, client }) => {
        const secret = await client.get(Secret, key)
        if (!secret || secret.metadata.deletionTimestamp || !isTokenSecret(secret)) return
        const name = accountOf(secret)
        if (name === '') return
        // An account that is missing in the cache only is no reason to delete a secret.
        const account = await client.direct.get(ServiceAccount, { namespace: key.namespace!, name })
        const { annotations = {}, uid } = secret.metadata
        const isOthers =
          account && (annotations[uidAnnotation] ?? account.metadata.uid) !== account.metadata.uid
        try {
          if (!account || isOthers) await client.delete(Secret, key, { preconditions: { uid } })
          else {
            const filled = await fill(secret, account, { sign, rootCa })
            if (filled) await client.update(Secret, filled)
          }
        } catch (error) {
          if (!isNotFound(error) && !isConflict(error)) throw error
        }
      })
  })
}

type TokenSecret = DeepReadonly<KindOf<typeof Secret>>

function isTokenSecret(secret: { readonly type?: string }): boolean {
  return secret.type === secretType
}

function accountOf({ metadata }: { readonly metadata: TokenSecret['metadata'] }): string {
  return metadata.annotations?.[nameAnnotation] ?? ''
}

/** Undefined if nothing is missing. */
async function fill(
  secret: TokenSecret,
  account: DeepReadonly<KindOf<typeof ServiceAccount>>,
  { sign, rootCa }: TokenControllerOptions,
): Promise<TokenSecret | undefined> {
  const { metadata, data = {} } = secret
  const namespace = metadata.namespace!
  const name = account.metadata.name
  const uid = account.metadata.uid
  const certificate = encodeBase64Text(rootCa)
  const isComplete =
    data['ca.crt'] === certificate &&
    data.namespace !== undefined &&
    data.token !== undefined &&
    metadata.annotations?.[uidAnnotation] === uid
  if (isComplete) return undefined
  const claims = {
    iss: 'kubernetes/serviceaccount',
    [`${claimPrefix}/namespace`]: namespace,
    [`${claimPrefix}/secret.name`]: metadata.name,
    [`${claimPrefix}/service-account.name`]: name,
    [`${claimPrefix}/service-account.uid`]: uid,
    sub: `system:serviceaccount:${namespace}:${name}`,
  }
  return {
    ...secret,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [uidAnnotation]: uid } },
    data: {
      ...data,
      'ca.crt': certificate,
      namespace: encodeBase64Text(namespace),
      token: data.token ?? encodeBase64Text(await sign(claims)),
    },
  }
}
