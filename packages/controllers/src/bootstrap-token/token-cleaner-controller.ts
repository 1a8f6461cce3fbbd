import { Secret } from '@coxswain/api/core/v1'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator, type ReconcileResult, requeueAfter } from '@coxswain/runtime'
import { mayBeToken, readToken } from './token-secret.ts'

/** Deletes bootstrap tokens that have expired. */
export function createTokenCleanerController(): Operator {
  return defineOperator('token-cleaner-controller', operator => {
    operator
      .controller('token-cleaner')
      .for(Secret, { predicates: [mayBeToken] })
      .reconcile(async ({ client, key, clock }): Promise<ReconcileResult> => {
        const token = await readToken(client, key)
        if (token?.expiresAt === undefined) return
        const left = token.expiresAt - clock.now()
        if (left > 0) return requeueAfter(left)
        try {
          await client.delete(Secret, key, { preconditions: { uid: token.uid } })
        } catch (error) {
          if (!isNotFound(error) && !isConflict(error)) throw error
        }
      })
  })
}
