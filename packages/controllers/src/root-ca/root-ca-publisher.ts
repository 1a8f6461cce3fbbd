import { ConfigMap, Namespace } from '@coxswain/api/core/v1'
import { isAlreadyExists, isNotFound } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator } from '@coxswain/runtime'

const configMapName = 'kube-root-ca.crt'
const annotations = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
}

/** Publishes the certificate of the CA that clients in the cluster verify the API server with to every namespace. */
export function createRootCaPublisher(certificate: string): Operator {
  const data = { 'ca.crt': certificate }
  return defineOperator('root-ca-certificate-publisher-controller', operator => {
    operator
      .controller('root-ca-certificate-publisher')
      .for(Namespace)
      .watches(ConfigMap, ({ metadata }) =>
        metadata.name === configMapName ? [{ name: metadata.namespace! }] : [],
      )
      .reconcile(async ({ key, client }) => {
        const namespace = await client.get(Namespace, key)
        if (!namespace || namespace.metadata.deletionTimestamp) return
        const name = { namespace: key.name, name: configMapName }
        const found = await client.get(ConfigMap, name)
        try {
          if (!found) await client.create(ConfigMap, { metadata: { ...name, annotations }, data })
          else if (found.data?.['ca.crt'] !== certificate) await client.update(ConfigMap, { ...found, data })
        } catch (error) {
          if (!isAlreadyExists(error) && !isNotFound(error)) throw error
        }
      })
  })
}
