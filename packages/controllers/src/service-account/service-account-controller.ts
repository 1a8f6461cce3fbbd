import { Namespace, ServiceAccount } from '@coxswain/api/core/v1'
import { isAlreadyExists, isNotFound } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator } from '@coxswain/runtime'

const accountName = 'default'

/** Creates the `default` service account in every namespace. */
export function createServiceAccountController(): Operator {
  return defineOperator('serviceaccount-controller', operator => {
    operator
      .controller('serviceaccount')
      .for(Namespace)
      .watches(ServiceAccount, ({ metadata }) =>
        metadata.name === accountName ? [{ name: metadata.namespace! }] : [],
      )
      .options({ concurrency: 5 })
      .reconcile(async ({ key, client }) => {
        const namespace = await client.get(Namespace, key)
        if (!namespace || namespace.metadata.deletionTimestamp) return
        const account = { namespace: key.name, name: accountName }
        if (await client.get(ServiceAccount, account)) return
        try {
          await client.create(ServiceAccount, { metadata: account })
        } catch (error) {
          if (!isAlreadyExists(error) && !isNotFound(error)) throw error
        }
      })
  })
}
